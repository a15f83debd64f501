// sdk:core/handler: answers whole requests.
#include "handler.h"
#include "async-context.h"
#include "environment.h"

// The function of the bundle that answers requests.
static JSValue handle_function = JS_UNDEFINED;
// Bytes that the last response refers to.
static JSValue body = JS_UNDEFINED;

bool find_handler(JSValueConst exports) {
  JSValue interface = JS_GetPropertyStr(context, exports, "handler");
  if (JS_IsObject(interface)) handle_function = JS_GetPropertyStr(context, interface, "handle");
  JS_FreeValue(context, interface);
  if (JS_IsFunction(context, handle_function)) return true;
  print_text(ERR, "The bundle does not export handler.handle\n");
  return false;
}

#define PROBLEM(status, title) "{\"type\":\"about:blank\",\"title\":\"" title "\",\"status\":" #status "}"
#define BYTES(text) {(const uint8_t *)text, sizeof text - 1}

// The answer with problem details (RFC 9457) to a request whose handler gives none.
static Response problem(bool is_stuck) {
  static Pair type = {BYTES("content-type"), BYTES("application/problem+json")};
  static const Bytes failed = BYTES(PROBLEM(500, "Internal Server Error")), stuck = BYTES(PROBLEM(504, "Gateway Timeout"));
  return (Response){is_stuck ? 504 : 500, {&type, 1}, true, is_stuck ? stuck : failed};
}

// The answer when the program has reached a limit of the engine. The instance answers nothing else from then on.
static Response over(void) { return (Response){508, {NULL, 0}, false, {NULL, 0}}; }

static bool read_response(JSContext *ctx, JSValueConst from, Response *response) {
  int32_t status;
  JSValue value = JS_GetProperty(ctx, from, atom_status);
  bool is_read = !JS_IsException(value) && JS_ToInt32(ctx, &status, value) == 0;
  JS_FreeValue(ctx, value);
  if (!is_read) return false;
  response->status = status;
  body = JS_GetProperty(ctx, from, atom_body);
  if (JS_IsException(body)) return false;
  value = JS_GetProperty(ctx, from, atom_headers);
  is_read = !JS_IsException(value) && read_pairs(ctx, value, &response->headers);
  JS_FreeValue(ctx, value);
  if (!is_read) return false;
  response->has_body = !JS_IsUndefined(body);
  // Last, because nothing of the program's runs after it.
  return !response->has_body || bytes_of(ctx, body, &response->body);
}

void begin_call(bool is_request) {
  leave_async_context(context);
  release_read((ReadMark){0});
  JS_FreeValue(context, body);
  body = JS_UNDEFINED;
  forget_environment();
  if (is_request) {
    clear_timers();
    cancel_calls();
  }
  is_broken = false;
}

JSValue call_out(JSValueConst function, JSValue argument, bool *is_stuck) {
  JSValue result = JS_IsException(argument) ? JS_EXCEPTION : JS_Call(context, function, JS_UNDEFINED, 1, (JSValueConst *)&argument);
  *is_stuck = false;
  bool is_settled = true;
  if (JS_IsPromise(result)) {
    JSValue promise = result;
    is_settled = wait_for(promise);
    result = is_settled ? JS_PromiseResult(context, promise) : JS_EXCEPTION;
    if (!is_settled && !is_broken) {
      print_text(ERR, "The handler waits for something that never comes\n");
      *is_stuck = true;
    } else if (is_settled && JS_PromiseState(context, promise) == JS_PROMISE_REJECTED) {
      JS_PromiseMarkAsHandled(context, promise);
      result = JS_Throw(context, result);
    }
    JS_FreeValue(context, promise);
  }
  if (is_settled && JS_IsException(result) && !was_interrupted()) print_exception("Uncaught ");
  // A handler that returns no promise may leave jobs. A later request must not run them, and their rejections are this one's.
  if (!is_broken) run_jobs();
  // Printing runs code of the program's, which could resize what a response points to.
  if (!was_interrupted()) print_rejections(false);
  JS_FreeValue(context, argument);
  return result;
}

void end_call(void) {
  end_request();
  forget_environment();
  arguments_forget((Mark){0});
}

Response *answer(JSValueConst function, JSValue argument) {
  static Response response;
  bool is_stuck;
  JSValue result = call_out(function, argument, &is_stuck);
  response = problem(is_stuck);
  if (JS_IsObject(result) && !read_response(context, result, &response)) {
    if (!was_interrupted()) print_exception("The handler's response cannot be read: ");
    response = problem(false);
  }
  if (was_interrupted()) response = over();
  JS_FreeValue(context, result);
  end_call();
  return &response;
}

// Answers a request.
__attribute__((export_name("sdk:core/handler@0.1.0#handle"))) Response *
handle(const uint8_t *method, uint32_t method_length, const uint8_t *path, uint32_t path_length, Pair *headers, uint32_t header_count,
       uint32_t has_body, const uint8_t *body_at, uint32_t body_length) {
  begin_call(true);
  return answer(handle_function, new_request(context, (Bytes){method, method_length}, (Bytes){path, path_length},
                                             read_wish_for_places((Pairs){headers, header_count}), has_body, (Bytes){body_at, body_length}));
}
