// Outbound calls (sdk:core/calls): promises by the numbers of their calls.
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "engine.h"

typedef struct {
  uint32_t number;
  JSValue resolve;
} Pending;

static Pending *pending;
static uint32_t count, capacity;

static JSClassID answer_class;

// An answer's headers are decoded when they are asked for.
static void finalize(JSRuntime *rt, JSValueConst value) { free(JS_GetOpaque(value, answer_class)); }

static JSClassDef answer_definition = {"Answer", .finalizer = finalize};

static JSValue get_headers(JSContext *ctx, JSValueConst this) {
  Pairs *headers = JS_GetOpaque2(ctx, this, answer_class);
  return headers ? new_pairs(ctx, *headers, new_copy) : JS_EXCEPTION;
}

static const JSCFunctionListEntry answer_properties[] = {JS_CGETSET_DEF("headers", get_headers, NULL)};

void add_answer_class(void) {
  JS_NewClassID(runtime, &answer_class);
  JS_NewClass(runtime, answer_class, &answer_definition);
  JSValue prototype = JS_NewObject(context);
  JS_SetPropertyFunctionList(context, prototype, answer_properties, LENGTH(answer_properties));
  JS_SetClassProto(context, answer_class, prototype);
}

static bool read_number(JSContext *ctx, JSValueConst call, JSAtom name, uint32_t *number) {
  JSValue value = JS_GetProperty(ctx, call, name);
  bool is_read = !JS_IsException(value) && JS_ToUint32(ctx, number, value) == 0;
  JS_FreeValue(ctx, value);
  return is_read;
}

static const char *read_text(JSContext *ctx, JSValueConst call, JSAtom name, size_t *length) {
  JSValue value = JS_GetProperty(ctx, call, name);
  const char *text = JS_IsException(value) ? NULL : JS_ToCStringLen(ctx, length, value);
  JS_FreeValue(ctx, value);
  return text;
}

uint32_t start_host_call(JSContext *ctx, JSValueConst call, Bodies bodies) {
  if (is_building) {
    JS_ThrowPlainError(ctx, "a call to the outside works in a handler, not at top level");
    return 0;
  }
  uint32_t number = 0, timeout, most;
  size_t method_length = 0, url_length = 0;
  ReadMark mark = read_mark();
  Bytes bytes = {0};
  Pairs pairs;
  const char *method = read_text(ctx, call, atom_method, &method_length);
  const char *url = method ? read_text(ctx, call, atom_url, &url_length) : NULL;
  JSValue headers = JS_GetProperty(ctx, call, atom_headers);
  JSValue body = JS_GetProperty(ctx, call, atom_body);
  if (url && !JS_IsException(headers) && !JS_IsException(body) && read_number(ctx, call, atom_timeoutMs, &timeout) &&
      read_number(ctx, call, atom_maxBytes, &most) && read_pairs(ctx, headers, &pairs) &&
      // Last, because nothing of the program's runs after it.
      (JS_IsUndefined(body) || bytes_of(ctx, body, &bytes))) {
    number = host_start((const uint8_t *)method, method_length, (const uint8_t *)url, url_length, pairs.at, pairs.length,
                        !JS_IsUndefined(body), bytes.at, bytes.length, timeout, most, bodies);
  }
  // The host has copied all of it.
  release_read(mark);
  JS_FreeValue(ctx, headers);
  JS_FreeValue(ctx, body);
  if (method) JS_FreeCString(ctx, method);
  if (url) JS_FreeCString(ctx, url);
  return number;
}

// startCall(call, started?): a promise of {status, headers, body} or {reason, detail}. `started` is called with the call's number.
static JSValue start_call(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t number = start_host_call(ctx, argv[0], WHOLE);
  if (!number) return JS_EXCEPTION;
  JSValue functions[2];
  JSValue promise = JS_NewPromiseCapability(ctx, functions);
  if (JS_IsException(promise)) return promise;
  JS_FreeValue(ctx, functions[1]);
  pending = grown(pending, count + 1, &capacity, sizeof *pending);
  pending[count++] = (Pending){number, functions[0]};
  if (argc > 1 && JS_IsFunction(ctx, argv[1])) {
    JSValue argument = JS_NewUint32(ctx, number);
    JSValue result = JS_Call(ctx, argv[1], JS_UNDEFINED, 1, (JSValueConst *)&argument);
    if (JS_IsException(result)) {
      JS_FreeValue(ctx, promise);
      return result;
    }
    JS_FreeValue(ctx, result);
  }
  return promise;
}

// Takes the resolving function of a call; undefined when the call is none.
static JSValue take_pending(uint32_t number) {
  for (uint32_t index = 0; index < count; index++) {
    if (pending[index].number != number) continue;
    JSValue resolve = pending[index].resolve;
    pending[index] = pending[--count];
    return resolve;
  }
  return JS_UNDEFINED;
}

void settle(JSContext *ctx, JSValue resolve, JSValue outcome) {
  JSValue result = JS_Call(ctx, resolve, JS_UNDEFINED, 1, (JSValueConst *)&outcome);
  if (JS_IsException(result)) print_exception("");
  JS_FreeValue(ctx, result);
  JS_FreeValue(ctx, outcome);
  JS_FreeValue(ctx, resolve);
}

JSValue new_failure(JSContext *ctx, uint8_t reason, Bytes detail) {
  JSValue failure = JS_NewObject(ctx);
  JS_DefinePropertyValue(ctx, failure, atom_reason, JS_NewInt32(ctx, reason), JS_PROP_C_W_E);
  JS_DefinePropertyValue(ctx, failure, atom_detail, new_text(ctx, detail), JS_PROP_C_W_E);
  return failure;
}

JSValue new_ended(JSContext *ctx) {
  static const char detail[] = "the host has ended the call";
  return new_failure(ctx, 5, (Bytes){(const uint8_t *)detail, sizeof detail - 1});
}

// cancelCall(number, outcome): ends a call, whose promise is resolved with this.
static JSValue cancel_call(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t number;
  if (JS_ToUint32(ctx, &number, argv[0])) return JS_EXCEPTION;
  JSValue resolve = take_pending(number);
  if (JS_IsUndefined(resolve)) return JS_UNDEFINED;
  host_cancel(number);
  settle(ctx, resolve, JS_DupValue(ctx, argv[1]));
  return JS_UNDEFINED;
}

const JSCFunctionListEntry call_functions[CALL_FUNCTIONS] = {
    JS_CFUNC_DEF("startCall", 1, start_call),
    JS_CFUNC_DEF("cancelCall", 2, cancel_call),
};

static JSValue new_answer(JSContext *ctx, const Outcome *outcome) {
  JSValue answer = JS_NewObjectClass(ctx, answer_class);
  if (JS_IsException(answer)) return answer;
  Pairs *headers = copy_pairs(outcome->response.headers);
  if (!headers) __builtin_trap();
  JS_SetOpaque(answer, headers);
  JS_DefinePropertyValue(ctx, answer, atom_status, JS_NewInt32(ctx, outcome->response.status), JS_PROP_C_W_E);
  JS_DefinePropertyValue(ctx, answer, atom_body, new_bytes(ctx, outcome->response.body), JS_PROP_C_W_E);
  return answer;
}

void settle_calls(void) {
  uint32_t taken = 0;
  for (;; taken++) {
    Mark mark = arguments_mark();
    Outcome outcome;
    host_take(&outcome);
    if (!outcome.is_some) break;
    JSValue value = outcome.is_failure ? new_failure(context, outcome.failure.reason, outcome.failure.detail)
                                       : new_answer(context, &outcome);
    arguments_forget(mark);
    JSValue resolve = take_pending(outcome.call);
    if (!JS_IsUndefined(resolve)) settle(context, resolve, value);
    else if (!settle_head(outcome.call, value, outcome.is_failure)) JS_FreeValue(context, value);
  }
  if (settle_streams() || taken) return;
  // The host has ended them, as it does with the request that they belong to.
  while (count) {
    uint32_t number = pending[0].number;
    settle(context, take_pending(number), new_ended(context));
  }
  end_streams();
}

bool has_calls(void) { return count != 0 || has_streams(); }

void cancel_calls(void) {
  cancel_streams();
  while (count) {
    host_cancel(pending[--count].number);
    JS_FreeValue(context, pending[count].resolve);
  }
}
