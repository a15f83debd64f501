/** The global `self`. */
import { defineGlobals } from "./interface.ts";

defineGlobals({ self: globalThis });
