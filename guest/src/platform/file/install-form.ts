/** Defines the global `FormData`. */
// Its files.
import "./install.ts";
import { defineGlobals } from "../interface.ts";
import { FormData } from "./form-data.ts";

defineGlobals({ FormData });
