/** `node:events` inside a component. */
import EventEmitter from "events/events.js";

type Emitter = { listeners(name: unknown): unknown[]; setMaxListeners(count: number): void };

export const { once, defaultMaxListeners } = EventEmitter;

/** Returns the listeners of an emitter for one event. */
export const getEventListeners = (emitter: Emitter, name: unknown): unknown[] => emitter.listeners(name);

/** Returns the number of listeners of an emitter for one event. */
export const listenerCount = (emitter: Emitter, name: unknown): number => emitter.listeners(name).length;

/** Sets the maximum number of listeners, for emitters or as the default. An `EventTarget` has no such number. */
export function setMaxListeners(count: number, ...emitters: readonly Partial<Emitter>[]): void {
  if (emitters.length === 0) EventEmitter.defaultMaxListeners = count;
  for (const each of emitters) each.setMaxListeners?.(count);
}

/** Calls a listener when a signal is aborted, at once if it already is. Returns an object that removes the listener. */
export function addAbortListener(signal: AbortSignal, listener: (event?: Event) => void): object {
  if (signal.aborted) queueMicrotask(listener);
  else signal.addEventListener("abort", listener, { once: true });
  const remove = () => signal.removeEventListener("abort", listener);
  const { dispose = Symbol.for("nodejs.dispose") } = Symbol as { readonly dispose?: symbol };
  return { [dispose]: remove };
}

// As in Node, the class is the module.
Object.assign(EventEmitter, { getEventListeners, setMaxListeners, addAbortListener });

export { EventEmitter };
export default EventEmitter;
