// Streamed calls (sdk:core/calls): JavaScript has handles, which are never used again, because the host's numbers begin anew with each
// request.
#include "calls.h"

typedef struct {
  uint32_t handle;
  uint32_t number;
  // Resolving functions of promises that JavaScript waits for; undefined otherwise.
  JSValue head;
  JSValue piece;
  JSValue room;
  // The head, when nothing waited for it as it came; undefined otherwise.
  JSValue outcome;
  bool has_failed;
} Stream;

static Stream *streams;
static uint32_t count, capacity, last_handle;

static Stream *find(JSContext *ctx, JSValueConst handle) {
  uint32_t given;
  if (JS_ToUint32(ctx, &given, handle)) {
    JS_FreeValue(ctx, JS_GetException(ctx));
    return NULL;
  }
  for (uint32_t index = count; index-- > 0;) {
    if (streams[index].handle == given) return &streams[index];
  }
  return NULL;
}

static Stream *find_number(uint32_t number) {
  for (uint32_t index = 0; index < count; index++) {
    if (streams[index].number == number) return &streams[index];
  }
  return NULL;
}

static JSValue take(JSValue *resolve) {
  JSValue taken = *resolve;
  *resolve = JS_UNDEFINED;
  return taken;
}

// Forgets a stream. Returns it; its resolving functions are the caller's.
static Stream forget(Stream *stream) {
  Stream forgotten = *stream;
  *stream = streams[--count];
  return forgotten;
}

// A promise whose resolving function is kept in `*resolve`.
static JSValue new_wait(JSContext *ctx, JSValue *resolve) {
  JSValue functions[2];
  JSValue promise = JS_NewPromiseCapability(ctx, functions);
  if (JS_IsException(promise)) return promise;
  JS_FreeValue(ctx, functions[1]);
  *resolve = functions[0];
  return promise;
}

// startStream(call, hasMore): a handle.
static JSValue start_stream(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t number = start_host_call(ctx, argv[0], JS_ToBool(ctx, argv[1]) ? STREAMED_WITH_MORE : STREAMED);
  if (!number) return JS_EXCEPTION;
  streams = grown(streams, count + 1, &capacity, sizeof *streams);
  streams[count++] = (Stream){++last_handle, number, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED, false};
  return JS_NewUint32(ctx, last_handle);
}

// Settles everything that waits for a stream that has ended.
static void settle_ended(JSContext *ctx, Stream ended) {
  if (!JS_IsUndefined(ended.head)) settle(ctx, ended.head, new_ended(ctx));
  if (!JS_IsUndefined(ended.piece)) settle(ctx, ended.piece, new_ended(ctx));
  if (!JS_IsUndefined(ended.room)) settle(ctx, ended.room, JS_UNDEFINED);
  JS_FreeValue(ctx, ended.outcome);
}

// streamHead(handle): {status, headers, body} or {reason, detail}, or a promise of it; a failure when there is no such stream.
static JSValue stream_head(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Stream *stream = find(ctx, argv[0]);
  if (!stream || !JS_IsUndefined(stream->head)) return new_ended(ctx);
  if (!JS_IsUndefined(stream->outcome)) {
    JSValue outcome = take(&stream->outcome);
    if (stream->has_failed) settle_ended(ctx, forget(stream));
    return outcome;
  }
  JSValue resolve;
  JSValue promise = new_wait(ctx, &resolve);
  if (!JS_IsException(promise)) stream->head = resolve;
  return promise;
}

// Reads a piece: bytes, undefined at the end, or a failure. Returns its kind.
static uint8_t read_piece(JSContext *ctx, uint32_t number, JSValue *value) {
  Mark mark = arguments_mark();
  Piece piece;
  host_read(number, &piece);
  if (piece.kind == PIECE_LATER) return PIECE_LATER;
  *value = piece.kind == PIECE_BYTES    ? new_bytes(ctx, piece.bytes)
           : piece.kind == PIECE_FAILED ? new_failure(ctx, piece.failure.reason, piece.failure.detail)
                                        : JS_UNDEFINED;
  arguments_forget(mark);
  return piece.kind;
}

// readStream(handle): the next piece, or a promise of it. A piece is bytes, undefined at the end, or a failure. It is
// a failure when there is no such stream, because its body may not have been complete.
static JSValue read_stream(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Stream *stream = find(ctx, argv[0]);
  if (!stream) return new_ended(ctx);
  if (!JS_IsUndefined(stream->piece)) return JS_ThrowTypeError(ctx, "the stream is being read already");
  JSValue piece;
  uint8_t kind = read_piece(ctx, stream->number, &piece);
  if (kind == PIECE_LATER) {
    JSValue resolve;
    JSValue promise = new_wait(ctx, &resolve);
    if (!JS_IsException(promise)) stream->piece = resolve;
    return promise;
  }
  if (kind != PIECE_BYTES) settle_ended(ctx, forget(stream));
  return piece;
}

// writeStream(handle, piece): the number of bytes that the host has accepted; undefined when no more are wanted. Without a piece it is the
// end.
static JSValue write_stream(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Bytes bytes = {0};
  bool has_piece = !JS_IsUndefined(argv[1]);
  Stream *stream = find(ctx, argv[0]);
  if (!stream) return JS_UNDEFINED;
  uint32_t stream_number = stream->number;
  if (has_piece && !bytes_of(ctx, argv[1], &bytes)) return JS_EXCEPTION;
  Number accepted;
  host_write_piece(stream_number, has_piece, bytes.at, bytes.length, &accepted);
  return accepted.is_some ? JS_NewUint32(ctx, accepted.value) : JS_UNDEFINED;
}

// streamRoom(handle): a promise of nothing, which is resolved when a write may be accepted; undefined when the stream has ended.
static JSValue stream_room(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Stream *stream = find(ctx, argv[0]);
  if (!stream) return JS_UNDEFINED;
  if (!JS_IsUndefined(stream->room)) return JS_ThrowTypeError(ctx, "the stream is being written already");
  JSValue resolve;
  JSValue promise = new_wait(ctx, &resolve);
  if (!JS_IsException(promise)) stream->room = resolve;
  return promise;
}

// cancelStream(handle): ends a call wherever it is.
static JSValue cancel_stream(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Stream *stream = find(ctx, argv[0]);
  if (!stream) return JS_UNDEFINED;
  Stream ended = forget(stream);
  host_cancel(ended.number);
  settle_ended(ctx, ended);
  return JS_UNDEFINED;
}

const JSCFunctionListEntry call_stream_functions[CALL_STREAM_FUNCTIONS] = {
    JS_CFUNC_DEF("startStream", 2, start_stream), JS_CFUNC_DEF("streamHead", 1, stream_head),
    JS_CFUNC_DEF("readStream", 1, read_stream),   JS_CFUNC_DEF("writeStream", 2, write_stream),
    JS_CFUNC_DEF("streamRoom", 1, stream_room),   JS_CFUNC_DEF("cancelStream", 1, cancel_stream),
};

bool settle_head(uint32_t number, JSValue outcome, bool is_failure) {
  Stream *stream = find_number(number);
  if (!stream) return false;
  JSValue resolve = take(&stream->head);
  if (JS_IsUndefined(resolve)) {
    stream->outcome = outcome;
    stream->has_failed = is_failure;
    return true;
  }
  if (is_failure) settle_ended(context, forget(stream));
  settle(context, resolve, outcome);
  return true;
}

bool settle_streams(void) {
  bool was_any = false;
  for (;;) {
    if (!count) return was_any;
    Number ready;
    host_ready(&ready);
    if (!ready.is_some) return was_any;
    was_any = true;
    Stream *stream = find_number(ready.value);
    if (!stream) continue;
    // Settling may run code of the program's, which may start and end streams.
    JSValue room = take(&stream->room), piece;
    uint8_t kind = JS_IsUndefined(stream->piece) ? PIECE_LATER : read_piece(context, stream->number, &piece);
    if (kind != PIECE_LATER) {
      JSValue resolve = take(&stream->piece);
      if (kind != PIECE_BYTES) settle_ended(context, forget(stream));
      if (JS_IsException(piece)) {
        JS_FreeValue(context, JS_GetException(context));
        piece = new_ended(context);
      }
      settle(context, resolve, piece);
    }
    if (!JS_IsUndefined(room)) settle(context, room, JS_UNDEFINED);
  }
}

void end_streams(void) {
  while (count) {
    Stream ended = forget(&streams[0]);
    host_cancel(ended.number);
    settle_ended(context, ended);
  }
}

void cancel_streams(void) {
  while (count) {
    Stream *stream = &streams[--count];
    host_cancel(stream->number);
    JS_FreeValue(context, stream->head);
    JS_FreeValue(context, stream->piece);
    JS_FreeValue(context, stream->room);
    JS_FreeValue(context, stream->outcome);
  }
}

bool has_streams(void) {
  for (uint32_t index = 0; index < count; index++) {
    Stream *stream = &streams[index];
    if (!JS_IsUndefined(stream->head) || !JS_IsUndefined(stream->piece) || !JS_IsUndefined(stream->room)) return true;
  }
  return false;
}
