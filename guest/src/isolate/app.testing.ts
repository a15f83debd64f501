/** The app whose tools are some of its routes. */
import { makeApp } from "./make-app.testing.ts";

export default makeApp(["notes.list", "notes.find", "notes.add", "notes.remove", "tree", "echo", "forbidden"]);
