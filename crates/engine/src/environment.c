// Variables of the environment. The host is asked once a request: the values follow from it.
#include <string.h>

#include "engine.h"
#include "environment.h"

static Pairs variables;
static bool is_known;

// The variables are arguments of the current call: the block has them until `forget_environment`.
static void ask(void) {
  if (is_known) return;
  host_environment(&variables);
  is_known = true;
}

void forget_environment(void) { is_known = false; }

static JSValue value_of(JSContext *ctx, Bytes name) {
  for (uint32_t index = 0; index < variables.length; index++) {
    Pair *variable = &variables.at[index];
    if (variable->name.length == name.length && memcmp(variable->name.at, name.at, name.length) == 0)
      return new_text(ctx, variable->value);
  }
  return JS_UNDEFINED;
}

// getEnvironment(): pairs of texts.
static JSValue get_environment(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  ask();
  return new_pairs(ctx, variables, new_text);
}

// variables(names): their values, or undefined, in the order of the names.
static JSValue get_variables(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  ask();
  int64_t length;
  if (JS_GetLength(ctx, argv[0], &length)) return JS_EXCEPTION;
  JSValue values = JS_NewArray(ctx);
  for (uint32_t index = 0; index < length; index++) {
    JSValue name = JS_GetPropertyUint32(ctx, argv[0], index);
    size_t size;
    const char *text = JS_ToCStringLen(ctx, &size, name);
    JS_FreeValue(ctx, name);
    if (!text) {
      JS_FreeValue(ctx, values);
      return JS_EXCEPTION;
    }
    JS_DefinePropertyValueUint32(ctx, values, index, value_of(ctx, (Bytes){(const uint8_t *)text, size}), JS_PROP_C_W_E);
    JS_FreeCString(ctx, text);
  }
  return values;
}

// origin(): the scheme and the host of the request where the host says so, each or undefined.
static JSValue get_origin(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  static const char scheme[] = "TENON_REQUEST_SCHEME", host[] = "TENON_REQUEST_HOST";
  ask();
  JSValue pair = JS_NewArray(ctx);
  JSValue values[] = {value_of(ctx, (Bytes){(const uint8_t *)scheme, sizeof scheme - 1}),
                      value_of(ctx, (Bytes){(const uint8_t *)host, sizeof host - 1})};
  for (int index = 0; index < 2; index++) JS_DefinePropertyValueUint32(ctx, pair, index, values[index], JS_PROP_C_W_E);
  return pair;
}

const JSCFunctionListEntry environment_functions[ENVIRONMENT_FUNCTIONS] = {
    JS_CFUNC_DEF("getEnvironment", 0, get_environment),
    JS_CFUNC_DEF("variables", 1, get_variables),
    JS_CFUNC_DEF("origin", 0, get_origin),
};
