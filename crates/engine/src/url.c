// URLs for `guest/src/platform/url`. A URL of the Rust library belongs to a handle, an object without properties.
#include "url.h"

#include "platform.h"

static JSClassID url_class;

static void finalize(JSRuntime *rt, JSValueConst handle) { tenon_url_free(JS_GetOpaque(handle, url_class)); }

static const JSClassDef definition = {.class_name = "URL handle", .finalizer = finalize};

int url_initialize(JSContext *ctx) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  JS_NewClassID(rt, &url_class);
  if (JS_NewClass(rt, url_class, &definition) < 0) return -1;
  JS_SetClassProto(ctx, url_class, JS_NULL);
  return 0;
}

// urlParse(input: string, base?: string): UrlHandle | undefined
static JSValue parse(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t length, base_length = 0;
  const char *input = JS_ToCStringLen(ctx, &length, argv[0]), *base = NULL;
  if (!input) return JS_EXCEPTION;
  bool against = !JS_IsUndefined(argv[1]);
  if (against) {
    base = JS_ToCStringLen(ctx, &base_length, argv[1]);
    if (!base) {
      JS_FreeCString(ctx, input);
      return JS_EXCEPTION;
    }
  }
  struct tenon_url *url = tenon_url_parse(input, length, base, base_length, against);
  JS_FreeCString(ctx, input);
  if (base) JS_FreeCString(ctx, base);
  if (!url) return JS_UNDEFINED;
  JSValue handle = JS_NewObjectClass(ctx, url_class);
  if (JS_IsException(handle))
    tenon_url_free(url);
  else
    JS_SetOpaque(handle, url);
  return handle;
}

// urlHref(handle) and its siblings: string
static JSValue part(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int which) {
  struct tenon_url *url = JS_GetOpaque2(ctx, argv[0], url_class);
  if (!url) return JS_EXCEPTION;
  struct tenon_text text = tenon_url_part(url, which);
  return JS_NewStringLen(ctx, text.start, text.length);
}

// urlSetHref(handle, value: string) and its siblings: boolean, whether the value was valid
static JSValue assign(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv, int which) {
  struct tenon_url *url = JS_GetOpaque2(ctx, argv[0], url_class);
  if (!url) return JS_EXCEPTION;
  size_t length;
  const char *value = JS_ToCStringLen(ctx, &length, argv[1]);
  if (!value) return JS_EXCEPTION;
  bool valid = tenon_url_assign(url, which, value, length);
  JS_FreeCString(ctx, value);
  return JS_NewBool(ctx, valid);
}

#define PART(name, which) JS_CFUNC_MAGIC_DEF("url" name, 1, part, which), JS_CFUNC_MAGIC_DEF("urlSet" name, 2, assign, which)

const JSCFunctionListEntry url_functions[URL_FUNCTIONS] = {
    JS_CFUNC_DEF("urlParse", 2, parse),
    PART("Href", TENON_URL_HREF),
    PART("Protocol", TENON_URL_PROTOCOL),
    PART("Username", TENON_URL_USERNAME),
    PART("Password", TENON_URL_PASSWORD),
    PART("Host", TENON_URL_HOST),
    PART("Hostname", TENON_URL_HOSTNAME),
    PART("Port", TENON_URL_PORT),
    PART("Pathname", TENON_URL_PATHNAME),
    PART("Search", TENON_URL_SEARCH),
    PART("Hash", TENON_URL_HASH),
};
