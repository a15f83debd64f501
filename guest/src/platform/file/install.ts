/** Defines the globals `Blob` and `File`. */
import { installInterfaces } from "../install.ts";
import { Blob } from "./blob.ts";
import { File } from "./file.ts";

installInterfaces({ Blob, File });
