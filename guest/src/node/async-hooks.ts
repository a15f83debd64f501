/** `node:async_hooks` inside a component. */
import { bound, type Call, enter, stores, within } from "./async-context.ts";

/** A store that follows asynchronous calls. */
export class AsyncLocalStorage<Store> {
  readonly name: string;
  readonly #defaultValue: Store | undefined;

  constructor(options?: { name?: string; defaultValue?: Store }) {
    this.name = options?.name ?? "";
    this.#defaultValue = options?.defaultValue;
  }

  static bind<Bound>(callback: Bound): Bound {
    return bound(callback);
  }

  static snapshot(): (call: Call, ...args: unknown[]) => unknown {
    return bound((call: Call, ...args: unknown[]) => call(...(args as never[])));
  }

  getStore(): Store | undefined {
    return stores().has(this) ? (stores().get(this) as Store) : this.#defaultValue;
  }

  run<Result>(store: Store, call: Call<Result>, ...args: unknown[]): Result {
    return within(new Map(stores()).set(this, store), call, undefined, args);
  }

  exit<Result>(call: Call<Result>, ...args: unknown[]): Result {
    const others = new Map(stores());
    others.delete(this);
    return within(others, call, undefined, args);
  }

  enterWith(store: Store): void {
    enter(new Map(stores()).set(this, store));
  }

  disable(): void {
    const others = new Map(stores());
    others.delete(this);
    enter(others);
  }
}

/** A context of asynchronous calls to which callbacks can be bound. */
export class AsyncResource {
  readonly type: string;
  readonly #enter = AsyncLocalStorage.snapshot();

  constructor(type: string) {
    this.type = type;
  }

  static bind<Bound>(callback: Bound): Bound {
    return bound(callback);
  }

  bind(callback: Call): Call {
    return this.runInAsyncScope.bind(this, callback, undefined) as Call;
  }

  runInAsyncScope(call: Call, self?: unknown, ...args: unknown[]): unknown {
    return this.#enter(() => call.apply(self, args as never[]));
  }

  emitDestroy(): this {
    return this;
  }
}

export default { AsyncLocalStorage, AsyncResource };
