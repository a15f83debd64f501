// A second runtime in the instance, for a program that must reach nothing of the first one. The two share no object: they exchange texts.
//
// There is one isolate at a time. Its program has a limit of memory and of processor time; either ends the program, which cannot catch it.
#include "isolate.h"

#include <stdlib.h>

#include "engine.h"
#include "evaluate.h"

enum {
  // Nanoseconds in a microsecond.
  NS = 1000,
  BYTES_BETWEEN_COLLECTIONS = 1 << 20,
  // Steps of the program between two looks at the clock.
  STEPS = 500,
  // An allocation of so many bytes takes its time, so the clock is looked at, too.
  LARGE = 1 << 14,
};

// The reasons for which `exchangeIsolate` returns a number in place of a text.
enum { OUT_OF_TIME = 1, OUT_OF_MEMORY, FAILED };

bool is_opening_isolate;

static JSRuntime *inner;
static JSContext *inner_context;
// The function of the program's first text, which takes and returns texts.
static JSValue exchange;

static struct {
  size_t used;
  size_t most;
  bool is_exceeded;
} memory;

static struct {
  uint64_t used_ns;
  uint64_t budget_ns;
  // When the present exchange began.
  uint64_t started_ns;
  bool is_exceeded;
  // The build has no clock, and evaluates texts of ours only.
  bool is_limited;
} time;

// Allocators that count bytes.

static int is_over(JSRuntime *rt, void *opaque);

static bool has_room(size_t more) {
  if (more >= LARGE && is_over(NULL, NULL)) return false;
  if (more <= memory.most && memory.used <= memory.most - more) return true;
  memory.is_exceeded = true;
  return false;
}

static void *counted(void *block) {
  if (block) memory.used += allocator.js_malloc_usable_size(block);
  else memory.is_exceeded = true;
  return block;
}

static void *allocate(void *opaque, size_t size) { return has_room(size) ? counted(allocator.js_malloc(NULL, size)) : NULL; }

static void *allocate_zeroed(void *opaque, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes) || !has_room(bytes)) return NULL;
  return counted(allocator.js_calloc(NULL, count, size));
}

static void release(void *opaque, void *block) {
  if (!block) return;
  memory.used -= allocator.js_malloc_usable_size(block);
  allocator.js_free(NULL, block);
}

static void *resize(void *opaque, void *block, size_t size) {
  if (!block) return allocate(NULL, size);
  size_t was = allocator.js_malloc_usable_size(block);
  if (size > was && !has_room(size - was)) return NULL;
  void *resized = allocator.js_realloc(NULL, block, size);
  if (!resized) {
    memory.is_exceeded = true;
    return NULL;
  }
  memory.used += allocator.js_malloc_usable_size(resized) - was;
  return resized;
}

static size_t usable(const void *block) { return allocator.js_malloc_usable_size(block); }

static const JSMallocFunctions counting_allocator = {allocate_zeroed, allocate, release, resize, usable};

// Tells the engine to end the program.
static int is_over(JSRuntime *rt, void *opaque) {
  if (memory.is_exceeded || time.is_exceeded) return true;
  if (!time.is_limited) return false;
  time.is_exceeded = time.used_ns + (host_monotonic() - time.started_ns) > time.budget_ns;
  return time.is_exceeded;
}

static char *refuse_import(JSContext *ctx, const char *base, const char *name, void *opaque) {
  JS_ThrowSyntaxError(ctx, "\"%s\" cannot be imported: a program imports nothing", name);
  return NULL;
}

// evaluate(source, name), inside: as `evaluate_module`.
static JSValue evaluate(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) { return evaluate_module(ctx, argv[0], argv[1]); }

static void forget_exception(void) { JS_FreeValue(inner_context, JS_GetException(inner_context)); }

static void close_isolate(void) {
  if (!inner) return;
  if (inner_context) {
    JS_FreeValue(inner_context, exchange);
    JS_FreeContext(inner_context);
  }
  JS_FreeRuntime(inner);
  inner = NULL;
  inner_context = NULL;
  exchange = JS_UNDEFINED;
}

// Evaluates the first text, and keeps the function that it makes. Returns false after a failure.
static bool start(const char *source, size_t length) {
  exchange = JS_UNDEFINED;
  inner = JS_NewRuntime2(&counting_allocator, NULL);
  if (!inner) return false;
  JS_ShareStack(inner, runtime);
  JS_SetGCThreshold(inner, BYTES_BETWEEN_COLLECTIONS);
  JS_SetModuleLoaderFunc(inner, refuse_import, NULL, NULL);
  JS_SetInterruptHandler(inner, is_over, NULL);
  JS_SetInterruptInterval(inner, STEPS);
  is_opening_isolate = true;
  inner_context = JS_NewContext(inner);
  is_opening_isolate = false;
  if (!inner_context) return false;
  JSValue make = JS_Eval(inner_context, source, length, "isolate.js", JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_STRICT);
  JSValue own = JS_NewCFunction(inner_context, evaluate, "evaluate", 2);
  if (!JS_IsException(make)) exchange = JS_Call(inner_context, make, JS_UNDEFINED, 1, (JSValueConst *)&own);
  JS_FreeValue(inner_context, own);
  JS_FreeValue(inner_context, make);
  return JS_IsFunction(inner_context, exchange);
}

// openIsolate(source): begins anew. `source` is an expression, in whose place `(evaluate) => (text?) => text` is called:
// with a text the function takes it; without one it returns what the program says.
static JSValue open_isolate(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  const char *source = JS_ToCStringLen(ctx, &length, argv[0]);
  if (!source) return JS_EXCEPTION;
  close_isolate();
  memory.used = 0;
  memory.most = SIZE_MAX;
  memory.is_exceeded = time.is_exceeded = time.is_limited = false;
  time.used_ns = 0;
  bool is_started = start(source, length);
  JS_FreeCString(ctx, source);
  if (is_started) return JS_UNDEFINED;
  JSValue thrown = JS_UNDEFINED;
  const char *reason = NULL;
  if (inner_context && JS_HasException(inner_context)) {
    thrown = JS_GetException(inner_context);
    reason = JS_ToCString(inner_context, thrown);
  }
  const char *other = memory.is_exceeded ? "out of memory" : "its text makes no function";
  JS_ThrowPlainError(ctx, "the isolate cannot be opened: %s", reason ? reason : other);
  if (reason) JS_FreeCString(inner_context, reason);
  if (inner_context) JS_FreeValue(inner_context, thrown);
  close_isolate();
  return JS_EXCEPTION;
}

// Hands a text to the program, and runs it until nothing is left to do.
static void run(JSContext *ctx, const char *text, size_t length) {
  JSValue given = JS_NewStringLen(inner_context, text, length);
  JSValue result = JS_IsException(given) ? given : JS_Call(inner_context, exchange, JS_UNDEFINED, 1, (JSValueConst *)&given);
  if (JS_IsException(result)) forget_exception();
  JS_FreeValue(inner_context, result);
  JS_FreeValue(inner_context, given);
  JSContext *ran;
  // An exception of a job is that of a promise nobody waits for. The limits end a job, but not those after it.
  for (int state; !is_over(inner, NULL) && (state = JS_ExecutePendingJob(inner, &ran)) != 0;) {
    if (state < 0) forget_exception();
  }
}

// Asks the program what it says, and copies it. NULL after a failure.
static JSValue said(JSContext *ctx) {
  JSValue result = JS_Call(inner_context, exchange, JS_UNDEFINED, 0, NULL);
  size_t length;
  const char *text = JS_IsString(result) ? JS_ToCStringLen(inner_context, &length, result) : NULL;
  if (!text) forget_exception();
  JSValue copy = text ? JS_NewStringLen(ctx, text, length) : JS_NewInt32(ctx, FAILED);
  if (text) JS_FreeCString(inner_context, text);
  JS_FreeValue(inner_context, result);
  return copy;
}

// exchangeIsolate(text, cpuUs, memoryBytes): what the program says afterwards, or the number of the reason why it is over. Both limits are
// for everything since the isolate was opened.
static JSValue exchange_isolate(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  double budget;
  uint32_t most;
  if (JS_ToFloat64(ctx, &budget, argv[1]) || JS_ToUint32(ctx, &most, argv[2])) return JS_EXCEPTION;
  size_t length;
  const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
  if (!text) return JS_EXCEPTION;
  // After the conversions, which may run code that closes it.
  if (!inner) {
    JS_FreeCString(ctx, text);
    return JS_ThrowPlainError(ctx, "no isolate is open");
  }
  memory.most = most;
  time.is_limited = true;
  time.budget_ns = budget > 0 && budget < 1e12 ? (uint64_t)budget * NS : 0;
  time.started_ns = host_monotonic();
  run(ctx, text, length);
  JS_FreeCString(ctx, text);
  JSValue result = is_over(inner, NULL) ? JS_UNDEFINED : said(ctx);
  time.used_ns += host_monotonic() - time.started_ns;
  time.started_ns = host_monotonic();
  if (!memory.is_exceeded && !time.is_exceeded) return result;
  JS_FreeValue(ctx, result);
  return JS_NewInt32(ctx, time.is_exceeded ? OUT_OF_TIME : OUT_OF_MEMORY);
}

// isolateUsage(): [microseconds, bytes].
static JSValue isolate_usage(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JSValue pair[2] = {JS_NewFloat64(ctx, (double)(time.used_ns / NS)), JS_NewFloat64(ctx, (double)memory.used)};
  return JS_NewArrayFrom(ctx, 2, pair);
}

// closeIsolate(): frees all of it.
static JSValue close(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  close_isolate();
  return JS_UNDEFINED;
}

const JSCFunctionListEntry isolate_functions[ISOLATE_FUNCTIONS] = {
    JS_CFUNC_DEF("openIsolate", 1, open_isolate),
    JS_CFUNC_DEF("exchangeIsolate", 3, exchange_isolate),
    JS_CFUNC_DEF("isolateUsage", 0, isolate_usage),
    JS_CFUNC_DEF("closeIsolate", 0, close),
};
