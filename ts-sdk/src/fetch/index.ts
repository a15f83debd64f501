export { rehearse } from "../rehearse.ts";
export { fetchHandler } from "./fetch-handler.ts";
