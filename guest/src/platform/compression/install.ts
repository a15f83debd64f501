/** Defines the globals `CompressionStream` and `DecompressionStream`. */
import { defineGlobals } from "../interface.ts";
import { CompressionStream, DecompressionStream } from "./classes.ts";

defineGlobals({ CompressionStream, DecompressionStream });
