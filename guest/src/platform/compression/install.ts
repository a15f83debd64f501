/** Defines the globals `CompressionStream` and `DecompressionStream`. */
import { installInterfaces } from "../install.ts";
import { CompressionStream, DecompressionStream } from "./classes.ts";

installInterfaces({ CompressionStream, DecompressionStream });
