/** The client of the sidecar `queue`. */
import { checkNumbers } from "./finite.ts";
import { askSidecar } from "./sidecar.ts";

/** Options of a message's delivery. */
export interface QueueSendOptions {
  /** Seconds before the message is delivered. */
  readonly delay?: number;
  /** Messages with the same key are delivered one after the other, in the order of sending. */
  readonly key?: string;
}

/** A message of several that are sent together. */
export interface QueueMessage extends QueueSendOptions {
  /** A value that JSON can hold. */
  readonly body: unknown;
}

/** A client that {@link queue} returns. */
export interface QueueClient {
  /**
   * Sends a value that JSON can hold, and returns the message's id.
   *
   * @throws SidecarError; TypeError when `delay` is not finite
   */
  send(value: unknown, options?: QueueSendOptions): Promise<string>;
  /** Sends up to 100 messages, all or none, and returns their ids. @throws as `send` does */
  sendMany(messages: readonly QueueMessage[]): Promise<string[]>;
}

/**
 * A queue of the sidecar `queue`: `await queue("mail").send({ to: "ann@example.com" }, { delay: 60 })`. Each message is
 * delivered at least once to the route that `[queues.mail]` names in `tenon.toml`.
 *
 * @throws TypeError when the name is invalid
 */
export function queue(name: string): QueueClient {
  if (typeof name !== "string" || !/^[\w-]{1,64}(?:\.dead)?$/.test(name)) {
    throw new TypeError("queue: expects the name of a queue: 1 to 64 letters, digits, _ and -");
  }
  const sendMany = async (messages: readonly QueueMessage[]) => {
    const response = await askSidecar("queue", {
      method: "POST",
      path: `/queue/${name}`,
      json: { messages: messages.map(wire) },
    });
    return (response.json() as { ids: string[] }).ids;
  };
  return Object.freeze({
    send: async (body: unknown, options: QueueSendOptions = {}) => {
      const [id] = await sendMany([{ ...options, body }]);
      return id as string;
    },
    sendMany,
  });
}

function wire(message: QueueMessage): QueueMessage {
  checkNumbers("queue", { delay: message.delay });
  // JSON omits `undefined`, and a message needs a body.
  return { ...message, body: message.body ?? null };
}
