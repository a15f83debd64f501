/** Streams of any size: down, up, back again, and one that its client leaves. */
import { field, get, octetStream, ok, post, Query, routes, stream } from "@tenon/sdk";

const Size = Query("Size", { mib: field.u32({ default: 1 }) });
const PIECE = new Uint8Array(64 * 1024).fill(46);
const Octets = octetStream();

export default routes({
  down: get("/down", { query: Size }, ({ query }) =>
    stream(async function* () {
      for (let piece = 0; piece < query.mib * 16; piece++) yield PIECE;
    }),
  ),
  up: post("/up", { body: Octets }, async ({ body }) => {
    let bytes = 0;
    for await (const piece of body) bytes += piece.length;
    return ok({ bytes });
  }),
  back: post("/back", { body: Octets }, ({ body }) => stream(body)),
  left: get("/left", () =>
    stream(async function* () {
      try {
        for (;;) yield PIECE;
      } finally {
        console.error("finally");
      }
    }),
  ),
});
