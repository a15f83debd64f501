// Texts and bytes between the two memories: linear memory and JavaScript values.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

JSValue new_text(JSContext *ctx, Bytes text) { return JS_NewStringLen(ctx, (const char *)text.at, text.length); }

static void *free_or_resize(JSRuntime *rt, void *opaque, void *address, size_t size) {
  if (size) return realloc(address, size);
  free(address);
  return NULL;
}

JSValue new_copy(JSContext *ctx, Bytes bytes) { return JS_NewUint8ArrayCopy(ctx, bytes.at, bytes.length); }

JSValue new_bytes(JSContext *ctx, Bytes bytes) {
  if (!arguments_take_over(bytes.at)) return new_copy(ctx, bytes);
  return JS_NewUint8Array(ctx, (uint8_t *)bytes.at, bytes.length, free_or_resize, NULL, false);
}

bool bytes_of(JSContext *ctx, JSValueConst value, Bytes *bytes) {
  size_t length;
  uint8_t *at = JS_GetUint8Array(ctx, &length, value);
  if (!at && JS_HasException(ctx)) return false;
  *bytes = (Bytes){at, length};
  return true;
}
