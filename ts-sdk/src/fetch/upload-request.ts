import type { Upload } from "../http/upload.ts";
import { platform } from "../platform.ts";
import { READERS } from "./complete.ts";

/**
 * Makes the request whose body arrives while the app runs. Its `body` reads piece by piece. Methods that read the body as a whole,
 * such as `json()`, have the host collect it, so that the host's limit of whole bodies holds for them.
 */
export function uploadRequest(url: string, init: { method: string; headers: object }, upload: Upload): object {
  const stream = new platform.ReadableStream(
    {
      async pull(controller) {
        const piece = await upload.next();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
      cancel() {},
    },
    { highWaterMark: 0 },
  );
  const request = new platform.Request(url, { ...init, body: stream, duplex: "half" });
  let isRead = false;
  const isUsed = Reflect.getOwnPropertyDescriptor(platform.Request.prototype, "bodyUsed")?.get ?? (() => false);
  Object.defineProperty(request, "bodyUsed", { get: () => isRead || isUsed.call(request), configurable: true });
  for (const name of READERS) {
    const read = (request as Record<string, unknown>)[name];
    if (typeof read !== "function") continue;
    const value = async () => {
      if (stream.locked || (request as { bodyUsed: boolean }).bodyUsed) {
        throw new TypeError(`Request.${name}: the body is used already`);
      }
      isRead = true;
      // Nobody else reads it from now on.
      stream.getReader();
      const body = await upload.rest();
      const whole = new platform.Request(url, { ...init, ...(body.length === 0 ? {} : { body }) });
      return (whole as Record<string, () => unknown>)[name]?.();
    };
    Object.defineProperty(request, name, { value, writable: true, configurable: true });
  }
  return request;
}
