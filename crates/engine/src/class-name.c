// The class of an object by its internal slots, which no program can forge, and the state of a promise. `structuredClone` and `console`
// need them.
#include "class-name.h"

#include "engine.h"

// className(value): "Object", "Map", "Uint8Array" and so on; "" for a primitive value. A proxy is "Proxy", whatever its target is.
static JSValue class_name(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JSClassID class = JS_GetClassID(argv[0]);
  if (class == JS_INVALID_CLASS_ID) return JS_NewStringLen(ctx, "", 0);
  if (JS_IsProxy(argv[0])) return JS_NewString(ctx, "Proxy");
  JSAtom atom = JS_GetClassName(JS_GetRuntime(ctx), class);
  JSValue name = JS_AtomToString(ctx, atom);
  JS_FreeAtom(ctx, atom);
  return name;
}

// promiseOutcome(promise): undefined while it is pending, and then [isRejected, value].
static JSValue promise_outcome(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JSPromiseStateEnum state = JS_PromiseState(ctx, argv[0]);
  if (state != JS_PROMISE_FULFILLED && state != JS_PROMISE_REJECTED) return JS_UNDEFINED;
  JSValue outcome = JS_NewArray(ctx);
  JS_DefinePropertyValueUint32(ctx, outcome, 0, JS_NewBool(ctx, state == JS_PROMISE_REJECTED), JS_PROP_C_W_E);
  JS_DefinePropertyValueUint32(ctx, outcome, 1, JS_PromiseResult(ctx, argv[0]), JS_PROP_C_W_E);
  return outcome;
}

const JSCFunctionListEntry class_name_functions[CLASS_NAME_FUNCTIONS] = {
    JS_CFUNC_DEF("className", 1, class_name),
    JS_CFUNC_DEF("promiseOutcome", 1, promise_outcome),
};
