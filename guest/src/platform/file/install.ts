/** Defines the globals `Blob` and `File`. */
import { defineGlobals } from "../interface.ts";
import { Blob } from "./blob.ts";
import { File } from "./file.ts";

defineGlobals({ Blob, File });
