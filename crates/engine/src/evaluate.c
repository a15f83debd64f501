// Modules whose text a program has, such as the scripts of `runtime.sandbox`. From the first one on, nothing can be imported but the
// modules that the program gives: neither "tenon:engine" nor the bundle itself.
#include "evaluate.h"

#include <string.h>

#include "engine.h"

// Before the names of given modules, so that none is that of a loaded module.
#define PREFIX "given:"

// An object of modules, each an object of exports; undefined until the first evaluation.
static JSValue given = JS_UNDEFINED;

bool is_given_module(const char *name) { return strncmp(name, PREFIX, sizeof PREFIX - 1) == 0; }

char *normalize_module(JSContext *ctx, const char *base, const char *name, void *opaque) {
  if (JS_IsUndefined(given)) return js_strdup(ctx, name);
  JSAtom atom = JS_NewAtom(ctx, name);
  int is_given = JS_GetOwnProperty(ctx, NULL, given, atom);
  JS_FreeAtom(ctx, atom);
  if (is_given < 0) return NULL;
  if (!is_given) {
    JS_ThrowSyntaxError(ctx, "\"%s\" cannot be imported: a script imports its tools only", name);
    return NULL;
  }
  size_t length = strlen(name);
  char *prefixed = js_malloc(ctx, sizeof PREFIX + length);
  if (!prefixed) return NULL;
  memcpy(prefixed, PREFIX, sizeof PREFIX - 1);
  memcpy(prefixed + sizeof PREFIX - 1, name, length + 1);
  return prefixed;
}

// Calls a function with each own property of an object.
static int each_export(JSContext *ctx, JSValueConst exports, JSModuleDef *module, int (*then)(JSContext *, JSModuleDef *, const char *, JSValue)) {
  JSPropertyEnum *names;
  uint32_t count;
  if (JS_GetOwnPropertyNames(ctx, &names, &count, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) return -1;
  int result = 0;
  for (uint32_t index = 0; index < count && result == 0; index++) {
    const char *name = JS_AtomToCString(ctx, names[index].atom);
    JSValue value = name ? JS_GetProperty(ctx, exports, names[index].atom) : JS_EXCEPTION;
    result = JS_IsException(value) ? -1 : then(ctx, module, name, value);
    if (name) JS_FreeCString(ctx, name);
  }
  JS_FreePropertyEnum(ctx, names, count);
  return result;
}

static int declare(JSContext *ctx, JSModuleDef *module, const char *name, JSValue value) {
  JS_FreeValue(ctx, value);
  return JS_AddModuleExport(ctx, module, name);
}

static int define(JSContext *ctx, JSModuleDef *module) {
  JSValue exports = JS_GetModulePrivateValue(ctx, module);
  int result = each_export(ctx, exports, module, JS_SetModuleExport);
  JS_FreeValue(ctx, exports);
  return result;
}

JSModuleDef *load_given_module(JSContext *ctx, const char *name) {
  JSValue exports = JS_GetPropertyStr(ctx, given, name + sizeof PREFIX - 1);
  if (JS_IsException(exports)) return NULL;
  JSModuleDef *module = JS_NewCModule(ctx, name, define);
  if (!module) JS_FreeValue(ctx, exports);
  if (!module || each_export(ctx, exports, module, declare) || JS_SetModulePrivateValue(ctx, module, exports)) return NULL;
  return module;
}

JSValue evaluate_module(JSContext *ctx, JSValueConst text, JSValueConst named) {
  size_t length;
  const char *source = JS_ToCStringLen(ctx, &length, text);
  const char *name = source ? JS_ToCString(ctx, named) : NULL;
  JSValue compiled = JS_EXCEPTION;
  if (name) {
    compiled = JS_Eval(ctx, source, length, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY | JS_EVAL_FLAG_COMPLETION);
    JS_FreeCString(ctx, name);
  }
  if (source) JS_FreeCString(ctx, source);
  if (JS_IsException(compiled)) return compiled;
  JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
  JSValue pair[2] = {JS_EvalFunction(ctx, compiled), JS_UNDEFINED};
  if (JS_IsException(pair[0])) return JS_EXCEPTION;
  pair[1] = JS_GetModuleNamespace(ctx, module);
  if (!JS_IsException(pair[1])) return JS_NewArrayFrom(ctx, 2, pair);
  JS_FreeValue(ctx, pair[0]);
  return JS_EXCEPTION;
}

// evaluate(source, name, modules, regexSteps): as `evaluate_module`, with modules that it may import. The limit of steps, if there is one, is for
// each run of a regular expression from now on.
static JSValue evaluate(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  int64_t steps = INT64_MAX;
  if (!JS_IsUndefined(argv[3]) && JS_ToInt64(ctx, &steps, argv[3])) return JS_EXCEPTION;
  JS_SetRegExpSteps(runtime, steps);
  JS_FreeValue(ctx, given);
  given = JS_DupValue(ctx, argv[2]);
  return evaluate_module(ctx, argv[0], argv[1]);
}

const JSCFunctionListEntry evaluate_functions[EVALUATE_FUNCTIONS] = {JS_CFUNC_DEF("evaluate", 4, evaluate)};
