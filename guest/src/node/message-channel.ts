/** `MessageChannel`, which the engine lacks: two ports in one instance. Messages arrive in a later turn. */

class MessagePort extends EventTarget {
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  other: MessagePort | undefined;

  postMessage(message: unknown): void {
    const { other } = this;
    if (other === undefined) return;
    const data = structuredClone(message);
    setTimeout(() => {
      if (this.other === undefined) return;
      const event = Object.defineProperty(new Event("message"), "data", { value: data });
      other.dispatchEvent(event);
      other.onmessage?.(event as unknown as { data: unknown });
    }, 0);
  }

  /** Does nothing, because messages are delivered from the beginning. */
  start(): void {}

  close(): void {
    if (this.other !== undefined) this.other.other = undefined;
    this.other = undefined;
  }

  ref(): void {}
  unref(): void {}
}

/** Two ports that receive each other's messages. */
export class MessageChannel {
  readonly port1 = new MessagePort();
  readonly port2 = new MessagePort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}
