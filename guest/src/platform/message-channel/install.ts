/** The globals `MessageChannel` and `MessagePort`. */
import { defineGlobals } from "../interface.ts";
import { MessageChannel, MessagePort } from "./message-channel.ts";

defineGlobals({ MessageChannel, MessagePort });
