import { platform } from "../platform.ts";

/** The part of a body that is copied (Fetch, section 5.3). */
interface EngineBody {
  readonly body: { tee(): [object, object] } | null;
  readonly bodyUsed: boolean;
  arrayBuffer(): Promise<ArrayBuffer>;
}

interface EngineResponse extends EngineBody {
  readonly status: number;
  readonly statusText: string;
  readonly headers: object;
}

/** The methods that read a body. */
export const READERS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/** Adds the methods of the Fetch standard that the engine lacks and that frameworks call. */
export function completeFetch(): void {
  define(platform.Response.prototype, "clone", clone);
  for (const { prototype } of [platform.Request, platform.Response]) define(prototype, "bytes", bytes);
}

function define(prototype: object, name: string, value: (this: never) => unknown): void {
  if (!(name in prototype)) Object.defineProperty(prototype, name, { value, writable: true, configurable: true });
}

async function bytes(this: EngineBody): Promise<Uint8Array> {
  return new Uint8Array(await this.arrayBuffer());
}

/** `Response.clone` (Fetch, section 5.5). The response reads one branch of its body from then on, and its copy the other. */
function clone(this: EngineResponse): object {
  if (this.bodyUsed) throw new TypeError("Response.clone: the body is used already");
  const { status, statusText, headers, body } = this;
  const make = (branch: object | null) => new platform.Response(branch, { status, statusText, headers });
  if (body === null) return make(null);
  const [own, other] = body.tee();
  const kept = make(own) as unknown as Record<string, unknown>;
  for (const name of READERS) {
    const read = kept[name];
    if (typeof read === "function") Object.defineProperty(this, name, { value: read.bind(kept), configurable: true });
  }
  for (const name of ["body", "bodyUsed"]) {
    Object.defineProperty(this, name, { get: () => kept[name], configurable: true });
  }
  return make(other);
}
