export { default } from "./app.mjs";
