// Captures and restores the async context around calls from C.
#pragma once
#include "quickjs.h"

extern const JSCFunctionListEntry async_context_functions[];
extern const int async_context_function_count;

// Calls a function within the context that `JS_GetAsyncContext` returned at its registration. A timer keeps that value beside its
// callback, and frees it with the callback.
JSValue call_within_async_context(JSContext *ctx, JSValueConst context, JSValueConst function, JSValueConst this_val, int argc,
                                  JSValueConst *argv);

// Makes no context current. Each entry from the host begins with it, because a store that `enterWith` set in one request must not
// reach the next one.
void leave_async_context(JSContext *ctx);
