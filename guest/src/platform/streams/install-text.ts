/** Defines the globals `TextDecoderStream` and `TextEncoderStream`. */
import { installInterfaces } from "../install.ts";
import { TextDecoderStream, TextEncoderStream } from "./text-streams.ts";

installInterfaces({ TextDecoderStream, TextEncoderStream });
