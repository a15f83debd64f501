/** Reports exceptions that no code catches (HTML Standard, section 8.1.4.3): those of listeners and of `reportError`. */
import { printUncaught } from "tenon:engine";

/** Returns true when a listener has handled the exception. */
type Listener = (exception: unknown) => boolean;

let listener: Listener | undefined;

/** Has a global that is an `EventTarget` see exceptions first. */
export function listenForExceptions(first: Listener): void {
  listener = first;
}

/** Fires `error` at the global when it is an `EventTarget`, and otherwise prints the exception. */
export function reportException(exception: unknown): void {
  if (listener?.(exception) !== true) printUncaught(exception);
}
