/** The global `Event`. */
import { defineGlobals } from "../../interface.ts";
import { Event } from "../event.ts";

defineGlobals({ Event });
