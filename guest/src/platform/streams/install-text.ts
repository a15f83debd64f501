/** Defines the globals `TextDecoderStream` and `TextEncoderStream`. */
import { installInterfaces } from "../interface.ts";
import { TextDecoderStream, TextEncoderStream } from "./text-streams.ts";

installInterfaces({ TextDecoderStream, TextEncoderStream });
