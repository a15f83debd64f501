/** `@tenon/sdk/fetch`: connects an app that speaks `fetch` with the component's exports. */

export { rehearse } from "../rehearse.ts";
export { fetchHandler } from "./fetch-handler.ts";
export { appOf } from "./listeners.ts";
