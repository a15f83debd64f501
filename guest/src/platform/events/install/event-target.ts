/** The global `EventTarget`. */
import { defineGlobals } from "../../interface.ts";
import { EventTarget } from "../event-target.ts";

defineGlobals({ EventTarget });
