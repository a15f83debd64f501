export { rehearse } from "../rehearse.ts";
export { fetchHandler } from "./fetch-handler.ts";
export { appOf } from "./listeners.ts";
