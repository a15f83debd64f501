// setTimeout, setInterval and their ends (HTML, section 8.6). A heap orders the timers by their time, and by their number among
// equal times.
#include <stdlib.h>

#include "async-context.h"
#include "engine.h"

typedef struct {
  // Nanoseconds of the monotonic clock.
  uint64_t due;
  uint64_t interval;
  uint32_t number;
  bool repeats;
  JSValue callback;
  // The async context that set it.
  JSValue async_context;
  int argument_count;
  JSValue *arguments;
} Timer;

static Timer **heap;
static uint32_t count, capacity, last_number;
// The timer whose callback runs, which may clear itself.
static Timer *running;

static bool is_before(const Timer *one, const Timer *other) {
  return one->due != other->due ? one->due < other->due : one->number < other->number;
}

static void put(uint32_t at, Timer *timer) {
  for (; at > 0; at = (at - 1) / 2) {
    Timer *parent = heap[(at - 1) / 2];
    if (!is_before(timer, parent)) break;
    heap[at] = parent;
  }
  heap[at] = timer;
}

static void sink(uint32_t at, Timer *timer) {
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && is_before(heap[child + 1], heap[child])) child++;
    if (!is_before(heap[child], timer)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = timer;
}

static void insert(Timer *timer) {
  heap = grown(heap, count + 1, &capacity, sizeof *heap);
  put(count++, timer);
}

static Timer *remove_at(uint32_t at) {
  Timer *removed = heap[at], *last = heap[--count];
  if (at == count) return removed;
  if (at > 0 && is_before(last, heap[(at - 1) / 2])) put(at, last);
  else sink(at, last);
  return removed;
}

static void release(Timer *timer) {
  JS_FreeValue(context, timer->callback);
  JS_FreeValue(context, timer->async_context);
  for (int index = 0; index < timer->argument_count; index++) JS_FreeValue(context, timer->arguments[index]);
  free(timer->arguments);
  free(timer);
}

static JSValue set(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv, int repeats) {
  // It would need the clock, which only requests have.
  if (is_building)
    return JS_ThrowPlainError(ctx, "%s() works in a handler, not at top level", repeats ? "setInterval" : "setTimeout");
  JSValue callback;
  if (JS_IsFunction(ctx, argv[0])) {
    callback = JS_DupValue(ctx, argv[0]);
  } else {
    // Texts are compiled in other hosts; here they have no use, and would hide a mistake.
    return JS_ThrowTypeError(ctx, "the callback of a timer must be a function");
  }
  int32_t delay = 0;
  if (argc > 1 && JS_ToInt32(ctx, &delay, argv[1])) {
    JS_FreeValue(ctx, callback);
    return JS_EXCEPTION;
  }
  Timer *timer = malloc(sizeof *timer);
  if (!timer) __builtin_trap();
  uint64_t interval = (delay > 0 ? (uint64_t)delay : 0) * 1000000;
  *timer = (Timer){host_monotonic() + interval, interval, ++last_number, repeats, callback, JS_GetAsyncContext(ctx),
                   argc > 2 ? argc - 2 : 0, NULL};
  if (timer->argument_count) {
    timer->arguments = malloc(timer->argument_count * sizeof(JSValue));
    if (!timer->arguments) __builtin_trap();
    for (int index = 0; index < timer->argument_count; index++) timer->arguments[index] = JS_DupValue(ctx, argv[index + 2]);
  }
  insert(timer);
  return JS_NewUint32(ctx, timer->number);
}

static JSValue clear(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  int32_t number;
  if (JS_ToInt32(ctx, &number, argv[0])) return JS_EXCEPTION;
  if (running && running->number == (uint32_t)number) running->repeats = false;
  for (uint32_t at = 0; at < count; at++) {
    if (heap[at]->number != (uint32_t)number) continue;
    release(remove_at(at));
    break;
  }
  return JS_UNDEFINED;
}

static const JSCFunctionListEntry functions[] = {
    JS_CFUNC_MAGIC_DEF("setTimeout", 1, set, false),
    JS_CFUNC_MAGIC_DEF("setInterval", 1, set, true),
    JS_CFUNC_DEF("clearTimeout", 0, clear),
    JS_CFUNC_DEF("clearInterval", 0, clear),
};

void add_timers(JSContext *ctx, JSValueConst global) { JS_SetPropertyFunctionList(ctx, global, functions, LENGTH(functions)); }

uint32_t run_timers(void) {
  if (count == 0) return UINT32_MAX;
  uint64_t now = host_monotonic();
  // Those that are set meanwhile wait for the next turn.
  uint32_t newest = last_number;
  while (count && heap[0]->due <= now && heap[0]->number <= newest) {
    Timer *timer = remove_at(0);
    running = timer;
    JSValue result = call_within_async_context(context, timer->async_context, timer->callback, JS_UNDEFINED, timer->argument_count,
                                               (JSValueConst *)timer->arguments);
    running = NULL;
    if (JS_IsException(result) && !was_interrupted()) print_uncaught_exception();
    JS_FreeValue(context, result);
    if (timer->repeats) {
      timer->due = now + (timer->interval ? timer->interval : 1);
      insert(timer);
    } else {
      release(timer);
    }
    run_jobs();
  }
  if (count == 0) return UINT32_MAX;
  now = host_monotonic();
  if (heap[0]->due <= now) return 0;
  uint64_t left = (heap[0]->due - now + 999) / 1000;
  return left < UINT32_MAX ? left : UINT32_MAX - 1;
}

void clear_timers(void) {
  while (count) release(heap[--count]);
}
