// UTF-8 (Encoding standard, section 8), and output.
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "text.h"

// utf8Encode(text): a Uint8Array. A lone surrogate becomes U+FFFD.
static JSValue encode(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
  if (!text) return JS_EXCEPTION;
  JSValue bytes = JS_NewUint8ArrayCopy(ctx, (const uint8_t *)text, length);
  JS_FreeCString(ctx, text);
  // JS_ToCStringLen writes a lone surrogate in three bytes, ED A0..BF 80..BF; the replacement character has three, too.
  size_t size;
  uint8_t *at = JS_GetUint8Array(ctx, &size, bytes);
  for (uint8_t *next = at; next && size >= 3 && (next = memchr(next, 0xed, at + size - 2 - next)); next++) {
    if (next[1] >= 0xa0) memcpy(next, "\xef\xbf\xbd", 3);
    if (next + 1 >= at + size - 2) break;
  }
  return bytes;
}

// How many bytes of the sequence at an address are right; `needed` gets its length. 0 when no sequence begins so.
static int sequence(const uint8_t *at, const uint8_t *end, int *needed) {
  uint8_t first = *at, low = 0x80, high = 0xbf;
  if (first < 0xc2 || first > 0xf4) return 0;
  *needed = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  int found = 1;
  for (; found < *needed && at + found < end; found++) {
    uint8_t next = at[found];
    if (next < low || next > high) break;
    low = 0x80, high = 0xbf;
  }
  return found;
}

// Decodes with replacement characters; returns the length. `out` has three bytes for each of `in`.
static size_t repair(const uint8_t *in, const uint8_t *end, uint8_t *out) {
  uint8_t *next = out;
  while (in < end) {
    if (*in < 0x80) {
      *next++ = *in++;
      continue;
    }
    int needed = 0, found = sequence(in, end, &needed);
    if (found != 0 && found == needed) {
      memcpy(next, in, found);
      next += found, in += found;
      continue;
    }
    memcpy(next, "\xef\xbf\xbd", 3);
    next += 3, in += found ? found : 1;
  }
  return next - out;
}

// Returns whether the bytes are UTF-8.
static bool is_valid(const uint8_t *at, const uint8_t *end) {
  while (at < end) {
    if (end - at >= 8) {
      uint64_t word;
      memcpy(&word, at, 8);
      if ((word & 0x8080808080808080) == 0) {
        at += 8;
        continue;
      }
    }
    if (*at < 0x80) {
      at++;
      continue;
    }
    int needed = 0, found = sequence(at, end, &needed);
    if (found == 0 || found != needed) return false;
    at += found;
  }
  return true;
}

// utf8Decode(bytes, isFatal, keepsBom): text. Throws a TypeError for a fault when `isFatal`.
static JSValue decode(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Bytes bytes;
  if (!bytes_of(ctx, argv[0], &bytes)) return JS_EXCEPTION;
  bool is_fatal = argc > 1 && JS_ToBool(ctx, argv[1]) == 1, keeps_bom = argc > 2 && JS_ToBool(ctx, argv[2]) == 1;
  if (!keeps_bom && bytes.length >= 3 && memcmp(bytes.at, "\xef\xbb\xbf", 3) == 0) bytes.at += 3, bytes.length -= 3;
  const uint8_t *end = bytes.at + bytes.length;
  if (is_valid(bytes.at, end)) return new_text(ctx, bytes);
  if (is_fatal) return JS_ThrowTypeError(ctx, "the bytes are not UTF-8");
  uint8_t *repaired = js_malloc(ctx, 3 * (size_t)bytes.length);
  if (!repaired) return JS_EXCEPTION;
  JSValue text = JS_NewStringLen(ctx, (const char *)repaired, repair(bytes.at, end, repaired));
  js_free(ctx, repaired);
  return text;
}

// print(text, isError): a line of the log.
static JSValue print_line(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  size_t length;
  const char *text = JS_ToCStringLen(ctx, &length, argv[0]);
  if (!text) return JS_EXCEPTION;
  uint32_t output = argc > 1 && JS_ToBool(ctx, argv[1]) == 1 ? ERR : OUT;
  char *line = js_malloc(ctx, length + 1);
  if (line) {
    memcpy(line, text, length);
    line[length] = '\n';
    print(output, line, length + 1);
    js_free(ctx, line);
  }
  JS_FreeCString(ctx, text);
  return line ? JS_UNDEFINED : JS_EXCEPTION;
}

// now(): milliseconds of the monotonic clock.
static JSValue now(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  return JS_NewFloat64(ctx, (double)host_monotonic() / 1e6);
}

const JSCFunctionListEntry text_functions[TEXT_FUNCTIONS] = {
    JS_CFUNC_DEF("utf8Encode", 1, encode),
    JS_CFUNC_DEF("utf8Decode", 3, decode),
    JS_CFUNC_DEF("print", 2, print_line),
    JS_CFUNC_DEF("now", 0, now),
};
