/** Defines the globals of the Streams Standard. */
import { defineGlobals } from "../interface.ts";
import * as classes from "./classes.ts";

defineGlobals({ ...classes });
