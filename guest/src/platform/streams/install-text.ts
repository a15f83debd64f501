/** Defines the globals `TextDecoderStream` and `TextEncoderStream`. */
// A decoder may be asked for any encoding.
import "../encoding/install-all.ts";
import "../encoding/install-encoder.ts";
import { defineGlobals } from "../interface.ts";
import { TextDecoderStream, TextEncoderStream } from "./text-streams.ts";

defineGlobals({ TextDecoderStream, TextEncoderStream });
