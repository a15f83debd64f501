/** `MessageEvent` (HTML Standard, section 9.1), which the engine lacks. */
class MessageEvent extends Event {
  readonly data: unknown;
  readonly origin: string;
  readonly lastEventId: string;
  readonly source: unknown;
  readonly ports: readonly unknown[];

  constructor(
    type: string,
    init: Partial<Omit<MessageEvent, keyof Event>> & NonNullable<ConstructorParameters<typeof Event>[1]> = {},
  ) {
    super(type, init);
    this.data = init.data === undefined ? null : init.data;
    this.origin = String(init.origin ?? "");
    this.lastEventId = String(init.lastEventId ?? "");
    this.source = init.source ?? null;
    this.ports = Object.freeze([...(init.ports ?? [])]);
  }
}

Object.defineProperty(globalThis, "MessageEvent", { value: MessageEvent, configurable: true, writable: true });
