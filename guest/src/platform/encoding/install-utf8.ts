/** Defines the global `TextDecoder` for UTF-8 alone. */
import { installInterfaces } from "../interface.ts";
import { TextDecoder } from "./utf8.ts";

installInterfaces({ TextDecoder });
