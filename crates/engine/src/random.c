// Random numbers of the host.
#include <string.h>

#include "engine.h"
#include "isolate.h"
#include "random.h"

uint64_t engine_random(void);

// The seed that the host gave to the first context.
static uint64_t seed;

// The build has one seed, which the first context gets. That of an isolate which is opened then follows from it.
uint64_t engine_random(void) {
  if (!context) return seed = host_random();
  return is_building && is_opening_isolate ? seed * 0x9e3779b97f4a7c15 + 1 : host_random();
}

enum {
  // Up to so many bytes, words are drawn. A list of the host is faster beyond, although it is copied.
  BYTES_AS_WORDS = 64,
};

static void fill(uint8_t *at, size_t length) {
  if (length > BYTES_AS_WORDS) {
    Mark mark = arguments_mark();
    Bytes drawn;
    host_random_bytes(length, &drawn);
    memcpy(at, drawn.at, length);
    arguments_forget(mark);
    return;
  }
  while (length > 0) {
    uint64_t word = host_random();
    size_t used = length < sizeof word ? length : sizeof word;
    memcpy(at, &word, used);
    at += used;
    length -= used;
  }
}

// fillRandom(bytes: Uint8Array)
static JSValue fill_random(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  uint8_t *at = JS_GetUint8Array(ctx, &length, argv[0]);
  if (!at && JS_HasException(ctx)) return JS_EXCEPTION;
  fill(at, length);
  return JS_UNDEFINED;
}

// randomUuid(): a text of version 4 (RFC 9562).
static JSValue random_uuid(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  static const char digits[] = "0123456789abcdef";
  uint8_t bytes[16];
  char text[36], *at = text;
  fill(bytes, sizeof bytes);
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  for (int index = 0; index < 16; index++) {
    if (index == 4 || index == 6 || index == 8 || index == 10) *at++ = '-';
    *at++ = digits[bytes[index] >> 4];
    *at++ = digits[bytes[index] & 15];
  }
  return JS_NewStringLen(ctx, text, sizeof text);
}

const JSCFunctionListEntry random_functions[RANDOM_FUNCTIONS] = {
    JS_CFUNC_DEF("fillRandom", 1, fill_random),
    JS_CFUNC_DEF("randomUuid", 0, random_uuid),
};
