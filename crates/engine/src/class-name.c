// The class of an object by its internal slots, which no program can forge. `structuredClone` and `console` distinguish types by it.
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

const JSCFunctionListEntry class_name_functions[CLASS_NAME_FUNCTIONS] = {JS_CFUNC_DEF("className", 1, class_name)};
