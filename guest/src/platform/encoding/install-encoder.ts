/** Defines the global `TextEncoder`. */
import { installInterfaces } from "../interface.ts";
import { TextEncoder } from "./encoder.ts";

installInterfaces({ TextEncoder });
