/** Defines the global `FormData`. */
import { installInterfaces } from "../install.ts";
import { FormData } from "./form-data.ts";

installInterfaces({ FormData });
