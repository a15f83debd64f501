export { fetchHandler } from "./fetch-handler.ts";
