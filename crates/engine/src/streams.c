// sdk:core/streams: bodies piece by piece.
#include "streams.h"
#include "handler.h"

// The functions of the bundle; undefined when it has none. The first column is the name in C, the second in JavaScript.
#define EACH_FUNCTION(X)                                                                                                      \
  X(takes_bodies, "takesBodies") X(begin, "begin") X(piece, "piece") X(end, "end") X(broken, "broken") X(next, "next")        \
  X(cancel, "cancel")
#define X(name, text) static JSValue name = JS_UNDEFINED;
EACH_FUNCTION(X)
#undef X

void find_streams(JSValueConst exports) {
  JSValue interface = JS_GetPropertyStr(context, exports, "streams");
  if (JS_IsObject(interface)) {
#define X(name, text) name = JS_GetPropertyStr(context, interface, text);
    EACH_FUNCTION(X)
#undef X
  }
  JS_FreeValue(context, interface);
}

#define EXPORT(name) __attribute__((export_name("sdk:core/streams@0.1.0#" name)))

// Returns whether the handler takes bodies of requests piece by piece.
EXPORT("takes-bodies") uint32_t streams_takes_bodies(void) {
  if (JS_IsUndefined(takes_bodies)) return false;
  begin_call(true);
  bool is_stuck;
  JSValue result = call_out(takes_bodies, JS_UNDEFINED, &is_stuck);
  bool takes = JS_IsBool(result) && JS_ToBool(context, result);
  JS_FreeValue(context, result);
  end_call();
  return takes;
}

EXPORT("begin") Response *
streams_begin(const uint8_t *method, uint32_t method_length, const uint8_t *path, uint32_t path_length, Pair *headers,
              uint32_t header_count) {
  begin_call(true);
  return answer(begin, new_request(context, (Bytes){method, method_length}, (Bytes){path, path_length},
                                   read_wish_for_places((Pairs){headers, header_count}), false, (Bytes){0}));
}

EXPORT("piece") Response *streams_piece(uint32_t has_bytes, const uint8_t *at, uint32_t length) {
  begin_call(false);
  return answer(piece, has_bytes ? new_bytes(context, (Bytes){at, length}) : JS_UNDEFINED);
}

EXPORT("end") Response *streams_end(void) {
  begin_call(false);
  return answer(end, JS_UNDEFINED);
}

EXPORT("broken") Response *streams_broken(void) {
  begin_call(false);
  return answer(broken, JS_UNDEFINED);
}

EXPORT("next") Response *streams_next(void) {
  begin_call(false);
  return answer(next, JS_UNDEFINED);
}

// Ends a streamed response. A handler that does not clean up is not called again.
EXPORT("cancel") void streams_cancel(void) {
  begin_call(false);
  bool is_stuck;
  JSValue result = call_out(cancel, JS_UNDEFINED, &is_stuck);
  if (JS_IsException(result)) __builtin_trap();
  JS_FreeValue(context, result);
  end_call();
}
