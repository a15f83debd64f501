// The async context, which follows asynchronous calls (patches/30-async-context.patch). `AsyncLocalStorage` keeps its stores in it.
#include "async-context.h"

// Returns the context of the running code.
static JSValue async_context(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv) {
  return JS_GetAsyncContext(ctx);
}

// Replaces the context until the current job ends.
static JSValue set_async_context(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv) {
  JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, JS_DupValue(ctx, argv[0])));
  return JS_UNDEFINED;
}

const JSCFunctionListEntry async_context_functions[] = {
    JS_CFUNC_DEF("asyncContext", 0, async_context),
    JS_CFUNC_DEF("setAsyncContext", 1, set_async_context),
};
const int async_context_function_count = sizeof async_context_functions / sizeof *async_context_functions;

JSValue call_within_async_context(JSContext *ctx, JSValueConst context, JSValueConst function, JSValueConst this_val, int argc,
                                  JSValueConst *argv) {
  JSValue previous = JS_SwapAsyncContext(ctx, JS_DupValue(ctx, context));
  JSValue result = JS_Call(ctx, function, this_val, argc, argv);
  JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, previous));
  return result;
}

void leave_async_context(JSContext *ctx) { JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, JS_UNDEFINED)); }
