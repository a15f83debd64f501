// Lists of pairs: headers, which are [name, Uint8Array] in JavaScript, and variables.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

JSValue new_pairs(JSContext *ctx, Pairs pairs, JSValue (*new_value)(JSContext *, Bytes)) {
  JSValue list = JS_NewArray(ctx);
  for (uint32_t index = 0; index < pairs.length; index++) {
    Pair *from = &pairs.at[index];
    JSValue pair = JS_NewArray(ctx);
    JS_DefinePropertyValueUint32(ctx, pair, 0, new_text(ctx, from->name), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, pair, 1, new_value(ctx, from->value), JS_PROP_C_W_E);
    JS_DefinePropertyValueUint32(ctx, list, index, pair, JS_PROP_C_W_E);
  }
  return list;
}

Pairs *copy_pairs(Pairs pairs) {
  size_t size = sizeof(Pairs) + pairs.length * sizeof(Pair);
  for (uint32_t index = 0; index < pairs.length; index++) size += pairs.at[index].name.length + pairs.at[index].value.length;
  Pairs *copy = malloc(size);
  if (!copy) return NULL;
  *copy = (Pairs){(Pair *)(copy + 1), pairs.length};
  uint8_t *next = (uint8_t *)(copy->at + pairs.length);
  for (uint32_t index = 0; index < pairs.length; index++) {
    Bytes parts[] = {pairs.at[index].name, pairs.at[index].value};
    for (int part = 0; part < 2; part++) {
      memcpy(next, parts[part].at, parts[part].length);
      parts[part].at = next;
      next += parts[part].length;
    }
    copy->at[index] = (Pair){parts[0], parts[1]};
  }
  return copy;
}

// Lists that nobody can change are the same each time, and are read once.
enum { KNOWN = 32 };
static struct {
  JSValue list;
  Pairs *pairs;
} known[KNOWN];
static uint32_t known_count;

// Texts and values to which the pairs of a response, or of a call, point. Values are copied, because reading the next one may run code that resizes an
// array.
static const char **texts;
static uint32_t text_count, text_capacity;
static void **values;
static uint32_t value_count, value_capacity;
static Pair *read;
static uint32_t read_count, read_capacity;

static void keep_text(const char *text) {
  texts = grown(texts, text_count + 1, &text_capacity, sizeof *texts);
  texts[text_count++] = text;
}

static void keep_value(Bytes *value) {
  void *copy = malloc(value->length ? value->length : 1);
  if (!copy) __builtin_trap();
  memcpy(copy, value->at, value->length);
  value->at = copy;
  values = grown(values, value_count + 1, &value_capacity, sizeof *values);
  values[value_count++] = copy;
}

ReadMark read_mark(void) { return (ReadMark){text_count, value_count, read_count}; }

void release_read(ReadMark mark) {
  while (text_count > mark.texts) JS_FreeCString(context, texts[--text_count]);
  while (value_count > mark.values) free(values[--value_count]);
  read_count = mark.pairs;
}

static bool read_name(JSContext *ctx, JSValueConst from, Bytes *name) {
  JSValue value = JS_GetPropertyUint32(ctx, from, 0);
  size_t length;
  const char *text = JS_IsException(value) ? NULL : JS_ToCStringLen(ctx, &length, value);
  JS_FreeValue(ctx, value);
  if (!text) return false;
  keep_text(text);
  *name = (Bytes){(const uint8_t *)text, length};
  return true;
}

static bool read_value(JSContext *ctx, JSValueConst from, Bytes *bytes) {
  JSValue value = JS_GetPropertyUint32(ctx, from, 1);
  bool is_read = !JS_IsException(value) && bytes_of(ctx, value, bytes);
  if (is_read) keep_value(bytes);
  JS_FreeValue(ctx, value);
  return is_read;
}

static bool read_pair(JSContext *ctx, JSValueConst list, uint32_t index, Pair *pair) {
  JSValue from = JS_GetPropertyUint32(ctx, list, index);
  bool is_read = !JS_IsException(from) && read_name(ctx, from, &pair->name) && read_value(ctx, from, &pair->value);
  JS_FreeValue(ctx, from);
  return is_read;
}

// Returns whether nobody can change the items of a list.
static bool is_frozen(JSContext *ctx, JSValueConst list, uint32_t length) {
  if (JS_IsProxy(list) || JS_IsExtensible(ctx, list) != 0) return false;
  for (uint32_t index = 0; index < length; index++) {
    JSPropertyDescriptor item;
    JSAtom name = JS_NewAtomUInt32(ctx, index);
    int found = JS_GetOwnProperty(ctx, &item, list, name);
    JS_FreeAtom(ctx, name);
    if (found != 1) return false;
    JS_FreeValue(ctx, item.value);
    JS_FreeValue(ctx, item.getter);
    JS_FreeValue(ctx, item.setter);
    if (item.flags & (JS_PROP_WRITABLE | JS_PROP_GETSET)) return false;
  }
  return true;
}

bool read_pairs(JSContext *ctx, JSValueConst list, Pairs *pairs) {
  void *object = JS_IsObject(list) ? JS_VALUE_GET_PTR(list) : NULL;
  for (uint32_t index = 0; index < known_count; index++) {
    if (JS_VALUE_GET_PTR(known[index].list) != object) continue;
    *pairs = *known[index].pairs;
    return true;
  }
  int64_t length;
  if (JS_GetLength(ctx, list, &length)) return false;
  if (length < 0 || length > UINT16_MAX) {
    JS_ThrowRangeError(ctx, "a message has at most %d headers", UINT16_MAX);
    return false;
  }
  uint32_t start = read_count;
  read = grown(read, start + length, &read_capacity, sizeof *read);
  // Reading may run code that starts a call, whose headers are read into the same array: it may move.
  read_count += length;
  for (uint32_t index = 0; index < length; index++) {
    Pair pair;
    if (!read_pair(ctx, list, index, &pair)) return false;
    read[start + index] = pair;
  }
  *pairs = (Pairs){read + start, length};
  if (object && known_count < KNOWN && is_frozen(ctx, list, length)) {
    Pairs *copy = copy_pairs(*pairs);
    if (!copy) return true;
    known[known_count].list = JS_DupValue(ctx, list);
    known[known_count++].pairs = copy;
  }
  return true;
}
