/** The global `CustomEvent`. */
import { defineGlobals } from "../../interface.ts";
import { CustomEvent } from "../custom-event.ts";

defineGlobals({ CustomEvent });
