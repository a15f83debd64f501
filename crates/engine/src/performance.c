// `performance` (High Resolution Time). QuickJS's own has the time at which its context was made, which is that of the build.
#include "performance.h"

#include "engine.h"

// Milliseconds at which the monotonic clock was 0; 0 before anyone asks. A restored instance asks again.
static double time_origin;

static double monotonic_ms(void) { return host_monotonic() / 1e6; }

static double origin_ms(void) {
  if (is_building || time_origin != 0) return time_origin;
  Moment moment;
  host_wall(&moment);
  return time_origin = moment.seconds * 1e3 + moment.nanoseconds / 1e6 - monotonic_ms();
}

static JSValue now(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  // The snapshot would keep a time of the build, and differences to it mean nothing.
  if (is_building) return JS_ThrowPlainError(ctx, "performance.now() works in a handler, not at top level");
  return JS_NewFloat64(ctx, monotonic_ms());
}

static JSValue get_time_origin(JSContext *ctx, JSValueConst this) {
  return JS_NewFloat64(ctx, origin_ms());
}

static JSValue to_json(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JSValue json = JS_NewObject(ctx);
  JS_DefinePropertyValueStr(ctx, json, "timeOrigin", JS_NewFloat64(ctx, origin_ms()), JS_PROP_C_W_E);
  return json;
}

static const JSCFunctionListEntry members[] = {
    JS_CFUNC_DEF2("now", 0, now, JS_PROP_C_W_E),
    JS_CGETSET_DEF2("timeOrigin", get_time_origin, NULL, JS_PROP_CONFIGURABLE | JS_PROP_ENUMERABLE),
    JS_CFUNC_DEF2("toJSON", 0, to_json, JS_PROP_C_W_E),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "Performance", JS_PROP_CONFIGURABLE),
};

static JSValue refuse(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_ThrowTypeError(ctx, "Illegal constructor");
}

void add_performance(JSContext *ctx, JSValueConst global) {
  JSValue prototype = JS_NewObject(ctx), class = JS_NewCFunction2(ctx, refuse, "Performance", 0, JS_CFUNC_constructor_or_func, 0);
  JS_SetPropertyFunctionList(ctx, prototype, members, LENGTH(members));
  JS_SetConstructor(ctx, class, prototype);
  JS_DefinePropertyValueStr(ctx, global, "performance", JS_NewObjectProto(ctx, prototype), JS_PROP_C_W_E);
  JS_DefinePropertyValueStr(ctx, global, "Performance", class, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
  JS_FreeValue(ctx, prototype);
}

// monotonicNow(): what `performance.now()` returns in a handler, and 0 at top level.
static JSValue monotonic_now(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewFloat64(ctx, is_building ? 0 : monotonic_ms());
}

// timeOrigin(): what `performance.timeOrigin` returns.
static JSValue get_origin(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewFloat64(ctx, origin_ms());
}

const JSCFunctionListEntry performance_functions[PERFORMANCE_FUNCTIONS] = {
    JS_CFUNC_DEF("monotonicNow", 0, monotonic_now),
    JS_CFUNC_DEF("timeOrigin", 0, get_origin),
};
