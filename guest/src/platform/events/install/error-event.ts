/** The global `ErrorEvent`. */
import { defineGlobals } from "../../interface.ts";
import { ErrorEvent } from "../error-event.ts";

defineGlobals({ ErrorEvent });
