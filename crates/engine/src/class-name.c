// The class of an object by its internal slots, which no program can forge. `structuredClone` tells the serializable types apart by it.
#include "class-name.h"

// Returns "Object", "Map", "Uint8Array" and so on; an empty string for a primitive value. Functions, generators and others that the
// engine keeps have names of their own, and a proxy is "Proxy" however its target is called.
static JSValue class_name(JSContext *ctx, JSValueConst this_val, int argc, JSValueConst *argv) {
  JSClassID id = JS_GetClassID(argv[0]);
  if (id == JS_INVALID_CLASS_ID) return JS_NewStringLen(ctx, "", 0);
  if (JS_IsProxy(argv[0])) return JS_NewString(ctx, "Proxy");
  JSAtom atom = JS_GetClassName(JS_GetRuntime(ctx), id);
  JSValue name = JS_AtomToString(ctx, atom);
  JS_FreeAtom(ctx, atom);
  return name;
}

const JSCFunctionListEntry class_name_functions[] = {JS_CFUNC_DEF("className", 1, class_name)};
const int class_name_function_count = sizeof class_name_functions / sizeof *class_name_functions;
