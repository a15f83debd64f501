// The event loop of one call.
#include "engine.h"

bool is_broken;

void print_uncaught_exception(void) {
  print_exception("Uncaught ");
  is_broken = true;
}

bool was_interrupted(void) {
  if (!JS_IsOver(runtime)) return false;
  JS_FreeValue(context, JS_GetException(context));
  is_broken = true;
  return true;
}

void run_jobs(void) {
  JSContext *ctx;
  while (!was_interrupted()) {
    int ran = JS_ExecutePendingJob(runtime, &ctx);
    if (ran == 0) return;
    if (ran < 0 && !was_interrupted()) print_uncaught_exception();
  }
}

bool wait_for(JSValueConst promise) {
  for (;;) {
    run_jobs();
    if (JS_PromiseState(context, promise) != JS_PROMISE_PENDING) return true;
    if (is_broken) return false;
    uint32_t timeout = run_timers();
    run_jobs();
    if (JS_PromiseState(context, promise) != JS_PROMISE_PENDING) return true;
    if (is_broken) return false;
    bool has_timers = timeout != UINT32_MAX;
    if (!has_timers && !has_calls()) return false;
    // It returns at once when no call runs and there is no timer.
    bool has_ended = host_wait(timeout);
    if (has_calls() && (has_ended || !has_timers)) settle_calls();
  }
}
