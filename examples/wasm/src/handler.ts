import { ensure, field, guard, post, Query, respond, routes } from "@tenon/sdk";
import { memory, resize } from "./image.wasm";

const Size = Query("Size", { width: field.u32({ min: 1, max: 1_000, default: 64 }) });

/** The largest image, in pixels: it and the thumbnail fit into the memory of the module. */
const MAX_PIXELS = 10_000_000;

const type = "image/x-portable-pixmap";

export default routes({
  /** Make a thumbnail of an image in the format PPM (P6, 8 bits). */
  thumbnail: post("/thumbnail", { query: Size }, ({ query }, req) => {
    const image = ensure(pixmap(req.body ?? new Uint8Array(0)), 400, "the body is not a PPM image of 8 bits");
    const { width, height, pixels } = image;
    guard(width * height <= MAX_PIXELS, 413, `an image has at most ${MAX_PIXELS} pixels`);
    const newWidth = Math.min(query.width, width);
    const newHeight = Math.max(1, Math.round((height * newWidth) / width));
    const size = 3 * newWidth * newHeight;
    // A request finds the memory small.
    const lacking = pixels.length + size - memory.size;
    if (lacking > 0) memory.grow(Math.ceil(lacking / 65_536));
    memory.write(0, pixels);
    resize(0, width, height, pixels.length, newWidth, newHeight);
    const head = new TextEncoder().encode(`P6\n${newWidth} ${newHeight}\n255\n`);
    const body = new Uint8Array(head.length + size);
    body.set(head);
    body.set(memory.read(pixels.length, size), head.length);
    return respond(200, { headers: { "content-type": type }, body });
  }),
});

interface Pixmap {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Parses a PPM image: a head of text, then three bytes for each pixel. */
function pixmap(bytes: Uint8Array): Pixmap | undefined {
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, 64));
  const head = /^P6\s+(\d{1,8})\s+(\d{1,8})\s+255\s/.exec(text);
  if (head === null) return undefined;
  const [width, height] = [Number(head[1]), Number(head[2])];
  const pixels = bytes.subarray(head[0].length);
  return width > 0 && pixels.length > 0 && pixels.length === 3 * width * height ? { width, height, pixels } : undefined;
}
