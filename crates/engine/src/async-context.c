// The async context, which follows asynchronous calls (patches/30-async-context.patch). `AsyncLocalStorage` keeps its stores in it.
#include "async-context.h"

#include "engine.h"

// asyncContext(): the context of the running code; undefined at first.
static JSValue get_async_context(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_GetAsyncContext(ctx);
}

// setAsyncContext(context): replaces it until the current job ends.
static JSValue set_async_context(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, JS_DupValue(ctx, argv[0])));
  return JS_UNDEFINED;
}

JSValue call_within_async_context(JSContext *ctx, JSValueConst async_context, JSValueConst function, JSValueConst receiver, int argc,
                                  JSValueConst *argv) {
  JSValue previous = JS_SwapAsyncContext(ctx, JS_DupValue(ctx, async_context));
  JSValue result = JS_Call(ctx, function, receiver, argc, argv);
  JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, previous));
  return result;
}

void leave_async_context(JSContext *ctx) { JS_FreeValue(ctx, JS_SwapAsyncContext(ctx, JS_UNDEFINED)); }

const JSCFunctionListEntry async_context_functions[ASYNC_CONTEXT_FUNCTIONS] = {
    JS_CFUNC_DEF("asyncContext", 0, get_async_context),
    JS_CFUNC_DEF("setAsyncContext", 1, set_async_context),
};
