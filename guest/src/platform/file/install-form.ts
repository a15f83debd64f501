/** Defines the global `FormData`. */
import { defineGlobals } from "../install.ts";
import { FormData } from "./form-data.ts";

defineGlobals({ FormData });
