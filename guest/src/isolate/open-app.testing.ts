/** The same app without the fence `include`. */
import { makeApp } from "./make-app.testing.ts";

export default makeApp(undefined);
