/** Attributes such as `onabort`, whose function is a listener (HTML Standard, section 8.1.8.1). */

import type { Event } from "./event.ts";
import { append, type EventTarget } from "./event-target.ts";

type Handler = (this: unknown, event: Event) => unknown;
interface Slot {
  handler: Handler | object | null;
}

/**
 * Defines an attribute. Its listener takes the place in the order in which a handler was set first.
 *
 * @param check throws a TypeError for a receiver of another class
 */
export function defineEventHandler(
  prototype: object,
  type: string,
  check: (receiver: unknown) => void,
  onSet?: (target: EventTarget) => void,
): void {
  const slots = new WeakMap<object, Slot>();
  const name = `on${type}`;
  const accessors = {
    get [name](): Handler | object | null {
      check(this);
      return slots.get(this)?.handler ?? null;
    },
    set [name](given: unknown) {
      check(this);
      const handler = typeof given === "object" || typeof given === "function" ? (given as Handler | null) : null;
      const slot = slots.get(this);
      if (slot !== undefined) slot.handler = handler;
      else if (handler !== null) {
        const added: Slot = { handler };
        slots.set(this, added);
        append(this as unknown as EventTarget, type, function (this: unknown, event: Event) {
          if (typeof added.handler !== "function") return;
          if (Reflect.apply(added.handler, this, [event]) === false) event.preventDefault();
        });
      }
      onSet?.(this as unknown as EventTarget);
    },
  };
  const found = Object.getOwnPropertyDescriptor(accessors, name) as PropertyDescriptor;
  Object.defineProperty(prototype, name, { ...found, enumerable: true, configurable: true });
}
