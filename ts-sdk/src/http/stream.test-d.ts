import type { expectTypeOf as expectTypeOfValue } from "vitest";
import {
  field,
  get,
  octetStream,
  ok,
  type Piece,
  put,
  type ReadableBody,
  type Response,
  respond,
  routes,
  type ServerSentEvent,
  type SseInit,
  type StreamInit,
  type StreamSource,
  sse,
  stream,
  Type,
} from "../index.ts";

declare const expectTypeOf: typeof expectTypeOfValue;
declare const readable: ReadableStream<Uint8Array>;

async function* pieces() {
  yield "text";
  yield new Uint8Array();
}
async function* events() {
  yield { event: "tick", data: { n: 1 }, id: "1", retry: 10 };
  yield { data: "text", id: 2 };
}
async function* numbers() {
  yield 1;
}

expectTypeOf(stream(pieces)).toEqualTypeOf<Response<200, StreamSource<Piece>>>();
expectTypeOf(stream(pieces(), { status: 206 })).toEqualTypeOf<Response<206, StreamSource<Piece>>>();
expectTypeOf(stream(readable).status).toEqualTypeOf<200>();
expectTypeOf(sse(events)).toEqualTypeOf<Response<200, StreamSource<ServerSentEvent>>>();
expectTypeOf(respond(200, { body: readable }).status).toEqualTypeOf<200>();
expectTypeOf(readable).toExtend<ReadableBody>();
expectTypeOf<StreamInit<206>["status"]>().toEqualTypeOf<206>();
expectTypeOf<SseInit>().toHaveProperty("headers");

// @ts-expect-error a piece is a text or bytes
stream(numbers);
// @ts-expect-error an event has data
sse(async function* () {
  yield { event: "tick" };
});
// @ts-expect-error the status of an event stream is 200
sse(events, { status: 201 });
// @ts-expect-error the helper takes a generator function, not a text
stream("text");

routes({
  pieces: get("/pieces", () => stream(pieces)),
  part: get("/part", { status: 206 }, () => stream(pieces, { status: 206 })),
  events: get("/events", (_, req) => sse(events, { headers: { "x-last": req.headers.get("last-event-id") ?? "" } })),
  // @ts-expect-error a status that the route does not declare
  wrongStatus: get("/wrong-status", () => stream(pieces, { status: 206 })),
  // @ts-expect-error a declared JSON body is not streamed
  declared: get("/declared", { response: Type("T", { a: field.u32() }) }, () => stream(pieces)),
});

put("/files", { body: octetStream({ max: 1e9, types: ["image/*"] }) }, async ({ body }) => {
  for await (const piece of body) expectTypeOf(piece).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
  return ok({});
});
// @ts-expect-error types are a list
octetStream({ types: "image/*" });
