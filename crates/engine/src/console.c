// A `console` that prints texts. A bundle that names `console` gets formatted values from guest/src/platform/console, which prints by it.
#include "console.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"

// Appends a value as text and one more character. Returns false after an exception.
static bool append(JSContext *ctx, JSValueConst value, char separator, char **line, size_t *length) {
  size_t size;
  const char *text = JS_IsSymbol(value) ? "Symbol()" : JS_ToCStringLen(ctx, &size, value);
  if (!text) return false;
  if (JS_IsSymbol(value)) size = strlen(text);
  char *longer = js_realloc(ctx, *line, *length + size + 1);
  if (longer) {
    memcpy(longer + *length, text, size);
    longer[*length + size] = separator;
    *line = longer;
    *length += size + 1;
  }
  if (!JS_IsSymbol(value)) JS_FreeCString(ctx, text);
  return longer != NULL;
}

// One line with all values, which the log gets at once.
static JSValue print_values(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv, int output) {
  char *line = NULL;
  size_t length = 0;
  for (int index = 0; index < argc; index++) {
    if (append(ctx, argv[index], index + 1 < argc ? ' ' : '\n', &line, &length)) continue;
    js_free(ctx, line);
    return JS_EXCEPTION;
  }
  print(output, argc ? line : "\n", argc ? length : 1);
  js_free(ctx, line);
  return JS_UNDEFINED;
}

static const JSCFunctionListEntry methods[] = {
    JS_CFUNC_MAGIC_DEF("log", 0, print_values, OUT),   JS_CFUNC_MAGIC_DEF("info", 0, print_values, OUT),
    JS_CFUNC_MAGIC_DEF("debug", 0, print_values, OUT), JS_CFUNC_MAGIC_DEF("warn", 0, print_values, ERR),
    JS_CFUNC_MAGIC_DEF("error", 0, print_values, ERR), JS_PROP_STRING_DEF("[Symbol.toStringTag]", "console", JS_PROP_CONFIGURABLE),
};

void add_console(JSContext *ctx, JSValueConst global) {
  // Console standard, section 1: its prototype is an object without members.
  JSValue prototype = JS_NewObject(ctx), console = JS_NewObjectProto(ctx, prototype);
  JS_FreeValue(ctx, prototype);
  JS_SetPropertyFunctionList(ctx, console, methods, LENGTH(methods));
  for (size_t index = 0; index < LENGTH(methods) - 1; index++) {
    JSAtom name = JS_NewAtom(ctx, methods[index].name);
    JSValue method = JS_GetProperty(ctx, console, name);
    JS_DefinePropertyValue(ctx, console, name, method, JS_PROP_C_W_E);
    JS_FreeAtom(ctx, name);
  }
  JS_DefinePropertyValueStr(ctx, global, "console", console, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
}

// printUncaught(value): what a listener or a microtask has thrown, with its stack.
static JSValue print_uncaught(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  print_thrown("Uncaught ", JS_DupValue(ctx, argv[0]));
  return JS_UNDEFINED;
}

const JSCFunctionListEntry console_functions[CONSOLE_FUNCTIONS] = {JS_CFUNC_DEF("printUncaught", 1, print_uncaught)};
