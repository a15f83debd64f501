/** Defines the globals of the Streams Standard. */
// `WritableStreamDefaultController.signal` is one of its.
import "../events/install/abort-controller.ts";
import { defineGlobals } from "../interface.ts";
import * as classes from "./classes.ts";

for (const [name, of] of Object.entries(classes)) {
  // A bundler may have changed the name.
  Object.defineProperty(of, "name", { value: name, configurable: true });
}
defineGlobals({ ...classes });
