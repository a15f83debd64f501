// The exports: the build calls `initialize` and `collect`, the host calls `handle`.
#include <stdlib.h>
#include <string.h>

#include "async-context.h"
#include "console.h"
#include "engine.h"
#include "environment.h"
#include "evaluate.h"
#include "url.h"
#ifdef TENON_FULL
#include "compress.h"
#include "encoding.h"
#endif
#include "performance.h"

JSRuntime *runtime;
JSContext *context;
bool is_building = true;

#define X(name) JSAtom atom_##name;
EACH_ATOM(X)
#undef X

// The function of the bundle that answers requests.
static JSValue handler = JS_UNDEFINED;

enum {
  // The collector looks for cycles each time that this much more was allocated. Nearly everything is freed by its count.
  BYTES_BETWEEN_COLLECTIONS = 4 << 20,
};

// Allocators of the runtime.

static void *allocate(void *opaque, size_t size) {
  return malloc(size);
}

static void *allocate_zeroed(void *opaque, size_t count, size_t size) {
  return calloc(count, size);
}

static size_t usable(const void *address);

static void release(void *opaque, void *address) {
  if (is_building && address) memset(address, 0, usable(address));
  free(address);
}

static void *resize(void *opaque, void *address, size_t size) {
  if (!is_building || !address) return realloc(address, size);
  void *moved = malloc(size);
  if (!moved) return NULL;
  size_t was = usable(address);
  memcpy(moved, address, was < size ? was : size);
  release(NULL, address);
  return moved;
}

size_t malloc_usable_size(void *);
static size_t usable(const void *address) { return malloc_usable_size((void *)address); }

const JSMallocFunctions allocator = {allocate_zeroed, allocate, release, resize, usable};

extern void __wasm_call_ctors(void);

static bool add_everything(void) {
  runtime = JS_NewRuntime2(&allocator, NULL);
  if (!runtime) return false;
  JS_SetGCThreshold(runtime, BYTES_BETWEEN_COLLECTIONS);
  JS_SetModuleLoaderFunc(runtime, normalize_module, load_module, NULL);
  add_rejection_tracker();
  context = JS_NewContext(runtime);
  if (!context) return false;
#define X(name) atom_##name = JS_NewAtom(context, #name);
  EACH_ATOM(X)
#undef X
  add_request_class();
  add_answer_class();
  if (url_initialize(context)) return false;
#ifdef TENON_FULL
  if (compress_initialize(context) || encoding_initialize(context)) return false;
#endif
  JSValue global = JS_GetGlobalObject(context);
  add_timers(context, global);
  add_console(context, global);
  add_performance(context, global);
  JS_FreeValue(context, global);
  return true;
}

// Runs a module and returns whether it ended well.
static bool run(JSValue compiled) {
  JSValue promise = JS_EvalFunction(context, compiled);
  if (JS_IsException(promise)) {
    print_exception("Exception while evaluating top-level script\n");
    return false;
  }
  run_jobs();
  JSPromiseStateEnum state = JS_PromiseState(context, promise);
  if (state == JS_PROMISE_REJECTED) {
    JS_PromiseMarkAsHandled(context, promise);
    print_thrown("Exception while evaluating top-level script\n", JS_PromiseResult(context, promise));
  }
  if (state == JS_PROMISE_PENDING) print_text(ERR, "The top level waits for something that never comes\n");
  JS_FreeValue(context, promise);
  return state == JS_PROMISE_FULFILLED;
}

// Finds the export `handler.handle`.
static bool find_handler(JSModuleDef *module) {
  JSValue exports = JS_GetModuleNamespace(context, module);
  JSValue interface = JS_GetPropertyStr(context, exports, "handler");
  if (JS_IsObject(interface)) handler = JS_GetPropertyStr(context, interface, "handle");
  JS_FreeValue(context, interface);
  JS_FreeValue(context, exports);
  if (JS_IsFunction(context, handler)) return true;
  print_text(ERR, "The bundle does not export handler.handle\n");
  return false;
}

// Evaluates a bundle, one ES module. Returns 0, or 1 after a failure that it has printed.
__attribute__((export_name("initialize"))) uint32_t initialize(const uint8_t *name, uint32_t name_length, const uint8_t *source,
                                                               uint32_t source_length) {
  __wasm_call_ctors();
  if (!add_everything()) return 1;
  char *file = malloc(name_length + 1), *text = malloc(source_length + 1);
  if (!file || !text) return 1;
  memcpy(file, name, name_length);
  memcpy(text, source, source_length);
  file[name_length] = text[source_length] = 0;
  arguments_forget((Mark){0});
  JS_KeepSource(runtime, text, source_length);
  JSValue compiled =
      JS_Eval(context, text, source_length, file, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  free(file);
  if (JS_IsException(compiled)) {
    print_exception("Exception while evaluating top-level script\n");
    return 1;
  }
  JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
  bool is_done = run(compiled) && find_handler(module);
  print_rejections(true);
  return !is_done;
}

// Frees what the handler has left, before the snapshot.
__attribute__((export_name("collect"))) void collect(void) {
  release_read((ReadMark){0});
  forget_environment();
  cancel_calls();
  clear_timers();
  leave_async_context(context);
  JS_RunGC(runtime);
  JS_ClearFreeBlocks(runtime);
  is_building = false;
}

static JSValue body = JS_UNDEFINED;

#define PROBLEM(status, title) "{\"type\":\"about:blank\",\"title\":\"" title "\",\"status\":" #status "}"
#define BYTES(text) {(const uint8_t *)text, sizeof text - 1}

// The answer with problem details (RFC 9457) to a request whose handler gives none.
static Response problem(bool is_stuck) {
  static Pair type = {BYTES("content-type"), BYTES("application/problem+json")};
  static const Bytes failed = BYTES(PROBLEM(500, "Internal Server Error")), stuck = BYTES(PROBLEM(504, "Gateway Timeout"));
  return (Response){is_stuck ? 504 : 500, {&type, 1}, true, is_stuck ? stuck : failed};
}

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

// Answers a request, or continues one. The response stays until the next call.
__attribute__((export_name("sdk:core/handler@0.1.0#handle"))) Response *
handle(const uint8_t *method, uint32_t method_length, const uint8_t *path, uint32_t path_length, Pair *headers, uint32_t header_count,
       uint32_t has_body, const uint8_t *body_at, uint32_t body_length) {
  static Response response;
  leave_async_context(context);
  release_read((ReadMark){0});
  JS_FreeValue(context, body);
  body = JS_UNDEFINED;
  forget_environment();
  // Others continue the request before (wit/handler.wit).
  if (method_length == 0 || method[0] != ':' || (method_length > 6 && memcmp(method, ":begin", 6) == 0)) {
    clear_timers();
    cancel_calls();
  }
  response = problem(false);
  is_broken = false;
  JSValue request = new_request(context, (Bytes){method, method_length}, (Bytes){path, path_length}, (Pairs){headers, header_count},
                                has_body, (Bytes){body_at, body_length});
  JSValue answer = JS_IsException(request) ? request : JS_Call(context, handler, JS_UNDEFINED, 1, (JSValueConst *)&request);
  if (JS_IsPromise(answer)) {
    bool is_settled = wait_for(answer);
    JSValue result = is_settled ? JS_PromiseResult(context, answer) : JS_UNDEFINED;
    if (!is_settled && !is_broken) {
      print_text(ERR, "The handler waits for something that never comes\n");
      response = problem(true);
    } else if (is_settled && JS_PromiseState(context, answer) == JS_PROMISE_REJECTED) {
      JS_PromiseMarkAsHandled(context, answer);
      result = JS_Throw(context, result);
    }
    JS_FreeValue(context, answer);
    answer = result;
  }
  if (JS_IsException(answer)) print_exception("Uncaught ");
  // Printing runs code of the program's, which could resize what the response points to.
  print_rejections(false);
  if (JS_IsObject(answer) && !read_response(context, answer, &response)) {
    print_exception("The handler's response cannot be read: ");
    response = problem(false);
  }
  JS_FreeValue(context, answer);
  JS_FreeValue(context, request);
  end_request();
  forget_environment();
  arguments_forget((Mark){0});
  return &response;
}
