/** Defines the global `FormData`. */
import { installInterfaces } from "../interface.ts";
import { FormData } from "./form-data.ts";

installInterfaces({ FormData });
