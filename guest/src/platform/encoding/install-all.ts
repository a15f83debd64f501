/** Defines the global `TextDecoder` for all encodings. */
import { installInterfaces } from "../interface.ts";
import { TextDecoder } from "./all.ts";

installInterfaces({ TextDecoder });
