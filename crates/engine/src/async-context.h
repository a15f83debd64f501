#ifndef TENON_ASYNC_CONTEXT_H
#define TENON_ASYNC_CONTEXT_H

#include "quickjs.h"

enum { ASYNC_CONTEXT_FUNCTIONS = 2 };
extern const JSCFunctionListEntry async_context_functions[ASYNC_CONTEXT_FUNCTIONS];

// Calls a function within the context that `JS_GetAsyncContext` returned at its registration. A timer keeps that value beside its
// callback, and frees it with the callback.
JSValue call_within_async_context(JSContext *ctx, JSValueConst async_context, JSValueConst function, JSValueConst receiver, int argc,
                                  JSValueConst *argv);

// Makes no context current. Each entry from the host begins with it, because a store that `enterWith` set in one request must not
// reach the next one.
void leave_async_context(JSContext *ctx);

#endif
