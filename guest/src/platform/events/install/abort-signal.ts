/** The global `AbortSignal`. */
import { defineGlobals } from "../../interface.ts";
import { AbortSignal } from "../abort-signal.ts";

defineGlobals({ AbortSignal });
