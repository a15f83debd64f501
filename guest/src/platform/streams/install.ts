/** Defines the globals of the Streams Standard. */
import { defineGlobals } from "../install.ts";
import * as classes from "./classes.ts";

defineGlobals({ ...classes });
