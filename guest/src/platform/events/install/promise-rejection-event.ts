/** The global `PromiseRejectionEvent`. */
import { defineGlobals } from "../../interface.ts";
import { PromiseRejectionEvent } from "../promise-rejection-event.ts";

defineGlobals({ PromiseRejectionEvent });
