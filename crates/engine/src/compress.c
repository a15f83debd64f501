// Compression and decompression in pieces. A codec of the Rust library belongs to a handle, an object without properties.
#include "compress.h"

#include "engine.h"
#include "platform.h"

// The most bytes that one call of `codecPull` returns.
#define PIECE 65536

static JSClassID codec_class;

static void finalize(JSRuntime *rt, JSValueConst handle) { tenon_codec_free(JS_GetOpaque(handle, codec_class)); }

static const JSClassDef definition = {.class_name = "Codec handle", .finalizer = finalize};

int compress_initialize(JSContext *ctx) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  JS_NewClassID(rt, &codec_class);
  if (JS_NewClass(rt, codec_class, &definition) < 0) return -1;
  JS_SetClassProto(ctx, codec_class, JS_NULL);
  return 0;
}

// codecNew(format: 0 for "deflate", 1 for "deflate-raw", 2 for "gzip"; decompress: boolean): CodecHandle
static JSValue new(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  uint32_t format;
  if (JS_ToUint32(ctx, &format, argv[0])) return JS_EXCEPTION;
  if (format >= TENON_FORMATS) return JS_ThrowRangeError(ctx, "codecNew: the format must be 0, 1 or 2");
  JSValue handle = JS_NewObjectClass(ctx, codec_class);
  if (!JS_IsException(handle)) JS_SetOpaque(handle, tenon_codec_new(format, JS_ToBool(ctx, argv[1])));
  return handle;
}

// codecPush(handle, bytes: Uint8Array): undefined; the bytes are copied
static JSValue push(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  struct tenon_codec *codec = JS_GetOpaque2(ctx, argv[0], codec_class);
  if (!codec) return JS_EXCEPTION;
  Bytes input;
  if (!bytes_of(ctx, argv[1], &input)) return JS_EXCEPTION;
  if (!tenon_codec_push(codec, input.at, input.length)) return JS_ThrowOutOfMemory(ctx);
  return JS_UNDEFINED;
}

// codecFinish(handle): undefined; no bytes follow
static JSValue finish(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  struct tenon_codec *codec = JS_GetOpaque2(ctx, argv[0], codec_class);
  if (!codec) return JS_EXCEPTION;
  tenon_codec_finish(codec);
  return JS_UNDEFINED;
}

// codecPull(handle): Uint8Array | undefined, when bytes are needed and at the end; throws if the bytes are not valid
static JSValue pull(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  struct tenon_codec *codec = JS_GetOpaque2(ctx, argv[0], codec_class);
  if (!codec) return JS_EXCEPTION;
  uint8_t *piece = js_malloc(ctx, PIECE);
  if (!piece) return JS_EXCEPTION;
  ptrdiff_t length = tenon_codec_pull(codec, piece, PIECE);
  JSValue bytes = length < 0    ? JS_ThrowTypeError(ctx, "the compressed data are not valid")
                  : length == 0 ? JS_UNDEFINED
                                : JS_NewUint8ArrayCopy(ctx, piece, length);
  js_free(ctx, piece);
  return bytes;
}

const JSCFunctionListEntry compress_functions[COMPRESS_FUNCTIONS] = {
    JS_CFUNC_DEF("codecNew", 2, new),
    JS_CFUNC_DEF("codecPush", 2, push),
    JS_CFUNC_DEF("codecFinish", 1, finish),
    JS_CFUNC_DEF("codecPull", 1, pull),
};
