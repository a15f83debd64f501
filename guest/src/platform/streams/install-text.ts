/** Defines the globals `TextDecoderStream` and `TextEncoderStream`. */
import { defineGlobals } from "../interface.ts";
import { TextDecoderStream, TextEncoderStream } from "./text-streams.ts";

defineGlobals({ TextDecoderStream, TextEncoderStream });
