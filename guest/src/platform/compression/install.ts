/** Defines the globals `CompressionStream` and `DecompressionStream`. */
import { installInterfaces } from "../interface.ts";
import { CompressionStream, DecompressionStream } from "./classes.ts";

installInterfaces({ CompressionStream, DecompressionStream });
