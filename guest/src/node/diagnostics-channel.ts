/** `node:diagnostics_channel` inside a component. */
type Subscriber = (message: unknown, name: string | symbol) => void;

/** A named channel of messages. */
export class Channel {
  readonly name: string | symbol;
  readonly #subscribers = new Set<Subscriber>();

  constructor(name: string | symbol) {
    this.name = name;
  }

  get hasSubscribers(): boolean {
    return this.#subscribers.size > 0;
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
  }

  unsubscribe(subscriber: Subscriber): boolean {
    return this.#subscribers.delete(subscriber);
  }

  publish(message: unknown): void {
    for (const each of [...this.#subscribers]) each(message, this.name);
  }

  /** Calls a function. Stores that follow asynchronous calls cannot be bound to a channel here. */
  runStores(message: unknown, call: (...args: unknown[]) => unknown, self?: unknown, ...args: unknown[]): unknown {
    this.publish(message);
    return call.apply(self, args);
  }
}

const channels = new Map<string | symbol, Channel>();

/** Returns the channel with a name. */
export function channel(name: string | symbol): Channel {
  const found = channels.get(name) ?? new Channel(name);
  channels.set(name, found);
  return found;
}

export const hasSubscribers = (name: string | symbol): boolean => channels.get(name)?.hasSubscribers === true;
export const subscribe = (name: string | symbol, subscriber: Subscriber): void => channel(name).subscribe(subscriber);
export const unsubscribe = (name: string | symbol, subscriber: Subscriber): boolean =>
  channel(name).unsubscribe(subscriber);

type Context = Record<string, unknown>;
const phases = ["start", "end", "asyncStart", "asyncEnd", "error"] as const;
type Phase = (typeof phases)[number];

/** Channels for the start, end and error of one kind of call. */
export class TracingChannel {
  declare readonly start: Channel;
  declare readonly end: Channel;
  declare readonly asyncStart: Channel;
  declare readonly asyncEnd: Channel;
  declare readonly error: Channel;

  constructor(names: string | Record<Phase, Channel>) {
    for (const phase of phases)
      Object.defineProperty(this, phase, {
        value: typeof names === "string" ? channel(`tracing:${names}:${phase}`) : names[phase],
        enumerable: true,
      });
  }

  get hasSubscribers(): boolean {
    return phases.some((phase) => this[phase].hasSubscribers);
  }

  subscribe(subscribers: Partial<Record<Phase, Subscriber>>): void {
    for (const phase of phases) if (subscribers[phase]) this[phase].subscribe(subscribers[phase]);
  }

  unsubscribe(subscribers: Partial<Record<Phase, Subscriber>>): boolean {
    const removed = phases.map((phase) => !subscribers[phase] || this[phase].unsubscribe(subscribers[phase]));
    return removed.every((each) => each);
  }

  traceSync(call: (...args: unknown[]) => unknown, context: Context = {}, self?: unknown, ...args: unknown[]): unknown {
    return this.#trace(context, () => {
      context["result"] = call.apply(self, args);
      return context["result"];
    });
  }

  tracePromise(
    call: (...args: unknown[]) => unknown,
    context: Context = {},
    self?: unknown,
    ...args: unknown[]
  ): unknown {
    const ended = (name: "result" | "error", value: unknown) => {
      context[name] = value;
      if (name === "error") this.error.publish(context);
      this.asyncStart.publish(context);
      this.asyncEnd.publish(context);
    };
    return this.#trace(context, () =>
      Promise.resolve(call.apply(self, args)).then(
        (result) => {
          ended("result", result);
          return result;
        },
        (error) => {
          ended("error", error);
          throw error;
        },
      ),
    );
  }

  /** Publishes the start and the end of a call, and an error between them. */
  #trace(context: Context, call: () => unknown): unknown {
    this.start.publish(context);
    try {
      return call();
    } catch (error) {
      context["error"] = error;
      this.error.publish(context);
      throw error;
    } finally {
      this.end.publish(context);
    }
  }
}

export const tracingChannel = (names: string | Record<Phase, Channel>): TracingChannel => new TracingChannel(names);

export default { Channel, TracingChannel, channel, hasSubscribers, subscribe, tracingChannel, unsubscribe };
