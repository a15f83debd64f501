// The object of a request. Its headers stay in the arguments and are decoded when they are asked for. An object that outlives its
// call, as in a streamed response, gets a copy of them.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine.h"

static JSClassID request_class;
// The request of the call that runs, while its object exists.
static JSValue current = JS_UNDEFINED;
static Pairs arguments;

static void finalize(JSRuntime *rt, JSValueConst value) {
  Pairs *headers = JS_GetOpaque(value, request_class);
  if (headers == &arguments) current = JS_UNDEFINED;
  else free(headers);
}

static JSClassDef request_definition = {"Request", .finalizer = finalize};

static JSValue get_headers(JSContext *ctx, JSValueConst this) {
  Pairs *headers = JS_GetOpaque2(ctx, this, request_class);
  return headers ? new_pairs(ctx, *headers, new_copy) : JS_EXCEPTION;
}

// The value of a header; of several with this name, all.
static JSValue get_header(JSContext *ctx, JSValueConst this, int index) {
  static const char *const names[] = {"content-type", "host"};
  Pairs *headers = JS_GetOpaque2(ctx, this, request_class);
  if (!headers) return JS_EXCEPTION;
  const char *wanted = names[index];
  size_t length = strlen(wanted);
  JSValue found = JS_UNDEFINED;
  for (uint32_t at = 0; at < headers->length; at++) {
    Pair *pair = &headers->at[at];
    if (pair->name.length != length || strncasecmp((const char *)pair->name.at, wanted, length) != 0) continue;
    if (JS_IsUndefined(found)) {
      found = new_text(ctx, pair->value);
      continue;
    }
    size_t before;
    const char *text = JS_ToCStringLen(ctx, &before, found);
    if (!text) return JS_EXCEPTION;
    size_t size = before + 2 + pair->value.length;
    char *joined = malloc(size);
    if (!joined) __builtin_trap();
    memcpy(joined, text, before);
    memcpy(joined + before, ", ", 2);
    memcpy(joined + before + 2, pair->value.at, pair->value.length);
    JS_FreeCString(ctx, text);
    JS_FreeValue(ctx, found);
    found = JS_NewStringLen(ctx, joined, size);
    free(joined);
  }
  return found;
}

static const JSCFunctionListEntry properties[] = {
    JS_CGETSET_DEF("headers", get_headers, NULL),
    JS_CGETSET_MAGIC_DEF("contentType", get_header, NULL, 0),
    JS_CGETSET_MAGIC_DEF("host", get_header, NULL, 1),
};

void add_request_class(void) {
  JS_NewClassID(runtime, &request_class);
  JS_NewClass(runtime, request_class, &request_definition);
  JSValue prototype = JS_NewObject(context);
  JS_SetPropertyFunctionList(context, prototype, properties, LENGTH(properties));
  JS_SetClassProto(context, request_class, prototype);
}

// Nearly all requests have one of these.
static JSValue method_text(JSContext *ctx, Bytes method) {
  static JSValue get = JS_UNDEFINED, post = JS_UNDEFINED;
  if (JS_IsUndefined(get)) {
    get = JS_NewString(ctx, "GET");
    post = JS_NewString(ctx, "POST");
  }
  if (method.length == 3 && memcmp(method.at, "GET", 3) == 0) return JS_DupValue(ctx, get);
  if (method.length == 4 && memcmp(method.at, "POST", 4) == 0) return JS_DupValue(ctx, post);
  return new_text(ctx, method);
}

JSValue new_request(JSContext *ctx, Bytes method, Bytes path, Pairs headers, bool has_body, Bytes body) {
  JSValue request = JS_NewObjectClass(ctx, request_class);
  if (JS_IsException(request)) return request;
  arguments = headers;
  JS_SetOpaque(request, &arguments);
  current = request;
  JS_DefinePropertyValue(ctx, request, atom_method, method_text(ctx, method), JS_PROP_C_W_E);
  JS_DefinePropertyValue(ctx, request, atom_pathWithQuery, new_text(ctx, path), JS_PROP_C_W_E);
  JS_DefinePropertyValue(ctx, request, atom_body, has_body ? new_bytes(ctx, body) : JS_UNDEFINED, JS_PROP_C_W_E);
  return request;
}

void end_request(void) {
  if (JS_IsUndefined(current)) return;
  Pairs *headers = copy_pairs(arguments);
  if (!headers) __builtin_trap();
  JS_SetOpaque(current, headers);
  current = JS_UNDEFINED;
}
