/** `MessageChannel` and `MessagePort` (HTML Standard, section 9.4): two ports in one instance. Each message arrives in a task of its own. */
import { Event } from "../events/event.ts";
import { defineEventHandler } from "../events/event-handlers.ts";
import { EventTarget, fire } from "../events/event-target.ts";
import { MessageEvent } from "../events/message-event.ts";
import { defineInterface } from "../interface.ts";
import { type Cloned, cloneWithTransfer } from "../structured-clone/structured-clone.ts";
import { transferList } from "../structured-clone/transfer-list.ts";
import { addTransferable } from "../transfer.ts";
import { dictionary, required } from "../web-idl.ts";

const { DOMException, setTimeout: startTimer } = globalThis;

/** An end of a channel, which a transferred port hands to the next one. */
interface End {
  port: MessagePort;
  other: End | undefined;
  readonly messages: Cloned[];
  isStarted: boolean;
}

/** Lets the class be constructed, which scripts cannot. */
const key = {};
let endOf: (port: MessagePort) => End | undefined;
let attach: (port: MessagePort, end: End | undefined) => void;
let isPort: (value: unknown) => value is MessagePort;

export class MessagePort extends EventTarget {
  #end: End | undefined;

  static {
    endOf = (port) => port.#end;
    attach = (port, end) => {
      port.#end = end;
    };
    isPort = (value): value is MessagePort => typeof value === "object" && value !== null && #end in value;
  }

  constructor(given: unknown = undefined) {
    if (given !== key) throw new TypeError("Illegal constructor");
    super();
  }

  postMessage(message: unknown, options: unknown = null): void {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("postMessage", arguments as unknown as unknown[], 1);
    const end = this.#end;
    const list = transferOf(options);
    if (list.includes(this)) throw new DOMException("A port cannot be transferred by itself", "DataCloneError");
    // A port that is sent to its own other end is lost with the message.
    const isDoomed = end?.other !== undefined && list.includes(end.other.port);
    const cloned = cloneWithTransfer(message, list);
    if (end?.other === undefined || isDoomed) return;
    end.other.messages.push(cloned);
    if (end.other.isStarted) deliverLater(end.other);
  }

  start(): void {
    const end = this.#end;
    if (end === undefined || end.isStarted) return;
    end.isStarted = true;
    for (const _ of end.messages) deliverLater(end);
  }

  close(): void {
    const end = this.#end;
    this.#end = undefined;
    if (end?.other === undefined) return;
    const { other } = end;
    end.other = undefined;
    other.other = undefined;
    startTimer(() => fire(other.port, new Event("close")), 0);
  }

  /** Does nothing: nothing here keeps an instance alive. Programs for Node call it. */
  ref(): void {}

  /** Does nothing, as `ref`. */
  unref(): void {}
}

function transferOf(options: unknown): object[] {
  const isList = typeof options === "object" && options !== null && Symbol.iterator in options;
  const { transfer } = isList ? { transfer: options } : dictionary("postMessage: the second argument", options);
  return transferList("postMessage: transfer", transfer);
}

/** Delivers one message in a task. It may have gone with a transferred end by then. */
function deliverLater(end: End): void {
  startTimer(() => {
    if (!end.isStarted || endOf(end.port) !== end) return;
    const message = end.messages.shift();
    if (message === undefined) return;
    const ports = message.transferred.filter(isPort);
    fire(end.port, new MessageEvent("message", { data: message.value, ports }));
  }, 0);
}

function newPort(end: End | undefined): MessagePort {
  const port = new MessagePort(key);
  attach(port, end);
  if (end !== undefined) end.port = port;
  return port;
}

function newEnd(): End {
  const end: End = { port: undefined as never, other: undefined, messages: [], isStarted: false };
  newPort(end);
  return end;
}

export class MessageChannel {
  readonly #port1: MessagePort;
  readonly #port2: MessagePort;

  constructor() {
    const [one, two] = [newEnd(), newEnd()];
    one.other = two;
    two.other = one;
    this.#port1 = one.port;
    this.#port2 = two.port;
  }

  get port1(): MessagePort {
    return this.#port1;
  }

  get port2(): MessagePort {
    return this.#port2;
  }
}

const transferredPorts = new WeakSet<object>();

addTransferable(MessagePort.prototype, {
  isDetached: (port) => transferredPorts.has(port),
  transfer: (port) => {
    const end = endOf(port as MessagePort);
    transferredPorts.add(port);
    attach(port as MessagePort, undefined);
    if (end !== undefined) end.isStarted = false;
    return newPort(end);
  },
});
defineInterface("MessagePort", MessagePort);
defineInterface("MessageChannel", MessageChannel);
for (const type of ["message", "messageerror", "close"]) {
  const start = type === "message" ? (port: EventTarget) => (port as MessagePort).start() : undefined;
  defineEventHandler(MessagePort.prototype, type, (receiver) => void endOf(receiver as MessagePort), start);
}
