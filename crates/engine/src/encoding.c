// Decoders of all encodings for `guest/src/platform/encoding`. Those that only decode UTF-8 do without them.
#include "encoding.h"

#include "engine.h"
#include "platform.h"

static JSClassID decoder_class;

static void finalize(JSRuntime *rt, JSValueConst handle) { tenon_decoder_free(JS_GetOpaque(handle, decoder_class)); }

static const JSClassDef definition = {.class_name = "Decoder handle", .finalizer = finalize};

int encoding_initialize(JSContext *ctx) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  JS_NewClassID(rt, &decoder_class);
  if (JS_NewClass(rt, decoder_class, &definition) < 0) return -1;
  JS_SetClassProto(ctx, decoder_class, JS_NULL);
  return 0;
}

// decoderNew(label: string, fatal: boolean, ignoreBOM: boolean): DecoderHandle | undefined, if the label is none
static JSValue new(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  size_t length;
  const char *label = JS_ToCStringLen(ctx, &length, argv[0]);
  if (!label) return JS_EXCEPTION;
  struct tenon_decoder *decoder = tenon_decoder_new(label, length, JS_ToBool(ctx, argv[1]), JS_ToBool(ctx, argv[2]));
  JS_FreeCString(ctx, label);
  if (!decoder) return JS_UNDEFINED;
  JSValue handle = JS_NewObjectClass(ctx, decoder_class);
  if (JS_IsException(handle))
    tenon_decoder_free(decoder);
  else
    JS_SetOpaque(handle, decoder);
  return handle;
}

// decoderEncoding(handle): string, the encoding's name in the standard's spelling
static JSValue name(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  struct tenon_decoder *decoder = JS_GetOpaque2(ctx, argv[0], decoder_class);
  if (!decoder) return JS_EXCEPTION;
  struct tenon_text text = tenon_decoder_encoding(decoder);
  return JS_NewStringLen(ctx, text.start, text.length);
}

// decoderDecode(handle, bytes: Uint8Array, stream: boolean): string; throws if the decoder is fatal and the bytes are not valid
static JSValue decode(JSContext *ctx, JSValueConst self, int argc, JSValueConst *argv) {
  struct tenon_decoder *decoder = JS_GetOpaque2(ctx, argv[0], decoder_class);
  if (!decoder) return JS_EXCEPTION;
  bool stream = JS_ToBool(ctx, argv[2]);
  Bytes input;
  if (!bytes_of(ctx, argv[1], &input)) return JS_EXCEPTION;
  size_t space = tenon_decoder_space(decoder, input.length);
  if (space >= PTRDIFF_MAX) return JS_ThrowOutOfMemory(ctx);
  uint8_t *output = js_malloc(ctx, space + 1);
  if (!output) return JS_EXCEPTION;
  ptrdiff_t written = tenon_decoder_decode(decoder, input.at, input.length, output, space, stream);
  JSValue text = written < 0 ? JS_ThrowTypeError(ctx, "the bytes are not valid in this encoding")
                             : JS_NewStringLen(ctx, (const char *)output, written);
  js_free(ctx, output);
  return text;
}

const JSCFunctionListEntry encoding_functions[ENCODING_FUNCTIONS] = {
    JS_CFUNC_DEF("decoderNew", 3, new),
    JS_CFUNC_DEF("decoderEncoding", 1, name),
    JS_CFUNC_DEF("decoderDecode", 3, decode),
};
