/** Defines the global `FormData`. */
import { defineGlobals } from "../interface.ts";
import { FormData } from "./form-data.ts";

defineGlobals({ FormData });
