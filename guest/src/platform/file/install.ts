/** Defines the globals `Blob` and `File`. */
// `Blob.stream`. The SDK has the encodings in every bundle.
import "../streams/install.ts";
import { defineGlobals } from "../interface.ts";
import { Blob } from "./blob.ts";
import { File } from "./file.ts";

defineGlobals({ Blob, File });
