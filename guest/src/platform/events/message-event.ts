/** `MessageEvent` (HTML Standard, section 9.1). */
import { defineInterface } from "../interface.ts";
import { type Dictionary, required, sequence } from "../web-idl.ts";
import { Event, initialize, stateOf } from "./event.ts";

interface Message {
  readonly data: unknown;
  readonly lastEventId: string;
  readonly origin: string;
  readonly ports: readonly unknown[];
  readonly source: unknown;
}

function messageOf(init: Dictionary): Message {
  const { data = null, lastEventId = "", origin = "", ports = [], source = null } = init;
  return {
    data,
    lastEventId: `${lastEventId}`,
    origin: `${origin}`,
    ports: Object.freeze(sequence("MessageEvent: ports", ports, (port) => port)),
    source: sourceOf(source),
  };
}

/** Refuses primitive values; which objects are sources depends on what there is. */
function sourceOf(source: unknown): object | null {
  if (source === null || typeof source === "object") return source;
  throw new TypeError("MessageEvent: source must be a MessagePort");
}

export class MessageEvent extends Event {
  #message: Message;

  constructor(type: string, init: object | null = null) {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("MessageEvent", arguments as unknown as unknown[], 1);
    super(type, init);
    this.#message = messageOf((init ?? {}) as Dictionary);
  }

  get data(): unknown {
    return this.#message.data;
  }

  get origin(): string {
    return this.#message.origin;
  }

  get lastEventId(): string {
    return this.#message.lastEventId;
  }

  get source(): unknown {
    return this.#message.source;
  }

  get ports(): readonly unknown[] {
    return this.#message.ports;
  }

  initMessageEvent(
    type: string,
    bubbles = false,
    cancelable = false,
    data: unknown = null,
    origin = "",
    lastEventId = "",
    source: unknown = null,
    ports: unknown = [],
  ): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("initMessageEvent", arguments as unknown as unknown[], 1);
    const message = messageOf({ data, origin, lastEventId, source, ports });
    if (initialize(stateOf(this), `${type}`, Boolean(bubbles), Boolean(cancelable))) this.#message = message;
  }
}

defineInterface("MessageEvent", MessageEvent);
