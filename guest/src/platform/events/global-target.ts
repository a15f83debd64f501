/**
 * Makes the global an `EventTarget`: `addEventListener` and its like. It sees the exceptions that nothing catches as events `error`
 * (HTML Standard, section 8.1.4.3).
 */
import { defineMethods } from "../interface.ts";
import { listenForExceptions } from "../report-error/report.ts";
import { ErrorEvent } from "./error-event.ts";
import type { Event } from "./event.ts";
import { type EventCallback, EventTarget, fire, hasListener, standForGlobal } from "./event-target.ts";

/** The target that holds the listeners of the global. */
export const globalTarget = new EventTarget();
standForGlobal(globalTarget);

defineMethods(globalThis, {
  addEventListener(type: string, callback: EventCallback | null, options: unknown = null): void {
    globalTarget.addEventListener(type, callback, options);
  },
  dispatchEvent(event: Event): boolean {
    return globalTarget.dispatchEvent(event);
  },
  removeEventListener(type: string, callback: EventCallback | null, options: unknown = null): void {
    globalTarget.removeEventListener(type, callback, options);
  },
});

let isReporting = false;

listenForExceptions((exception) => {
  // An exception of a listener of `error` is printed only.
  if (isReporting || !hasListener(globalTarget, "error")) return false;
  isReporting = true;
  try {
    const message = exception instanceof Error ? `Uncaught ${exception}` : "Uncaught exception";
    return !fire(globalTarget, new ErrorEvent("error", { cancelable: true, error: exception, message }));
  } finally {
    isReporting = false;
  }
});
