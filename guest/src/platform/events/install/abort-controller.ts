/** The global `AbortController`. */
import { defineGlobals } from "../../interface.ts";
import { AbortController } from "../abort-controller.ts";

defineGlobals({ AbortController });
