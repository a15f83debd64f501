/** The global `MessageEvent`. */
import { defineGlobals } from "../../interface.ts";
import { MessageEvent } from "../message-event.ts";

defineGlobals({ MessageEvent });
