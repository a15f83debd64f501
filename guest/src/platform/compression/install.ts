/** Defines the globals `CompressionStream` and `DecompressionStream`. */
import { defineGlobals } from "../install.ts";
import { CompressionStream, DecompressionStream } from "./classes.ts";

defineGlobals({ CompressionStream, DecompressionStream });
