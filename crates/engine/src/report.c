// Output for the author of a handler, and rejections that nothing handles.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void print(uint32_t output, const char *text, size_t length) { host_write(output, (const uint8_t *)text, length); }

void print_text(uint32_t output, const char *text) { print(output, text, strlen(text)); }

static void print_value(JSValueConst value) {
  size_t length;
  const char *text = JS_ToCStringLen(context, &length, value);
  if (!text) {
    JS_FreeValue(context, JS_GetException(context));
    print_text(ERR, "a value that cannot be converted to text");
    return;
  }
  print(ERR, text, length);
  JS_FreeCString(context, text);
}

static void print_stack(JSValueConst thrown) {
  if (!JS_IsObject(thrown)) return;
  JSValue stack = JS_GetProperty(context, thrown, atom_stack);
  if (JS_IsException(stack)) JS_FreeValue(context, JS_GetException(context));
  if (JS_IsString(stack)) print_value(stack);
  JS_FreeValue(context, stack);
}

void print_thrown(const char *prefix, JSValue thrown) {
  print_text(ERR, prefix);
  print_value(thrown);
  print_text(ERR, "\n");
  print_stack(thrown);
  JS_FreeValue(context, thrown);
}

void print_exception(const char *prefix) { print_thrown(prefix, JS_GetException(context)); }

typedef struct {
  JSValue promise;
  JSValue reason;
} Rejection;

static Rejection *rejections;
static uint32_t count, capacity;

static void track(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
  if (!is_handled) {
    rejections = grown(rejections, count + 1, &capacity, sizeof *rejections);
    rejections[count++] = (Rejection){JS_DupValue(ctx, promise), JS_DupValue(ctx, reason)};
    return;
  }
  for (uint32_t index = count; index-- > 0;) {
    if (JS_VALUE_GET_PTR(rejections[index].promise) != JS_VALUE_GET_PTR(promise)) continue;
    JS_FreeValue(ctx, rejections[index].promise);
    JS_FreeValue(ctx, rejections[index].reason);
    memmove(rejections + index, rejections + index + 1, (--count - index) * sizeof *rejections);
    return;
  }
}

void add_rejection_tracker(void) { JS_SetHostPromiseRejectionTracker(runtime, track, NULL); }

bool print_rejections(bool is_building) {
  bool found = count != 0;
  // Printing may run code of the user's, which may reject more.
  for (uint32_t index = 0; index < count; index++) {
    Rejection rejection = rejections[index];
    print_text(ERR, is_building ? "Promise rejected but never handled: " : "Unhandled promise rejection: ");
    print_value(rejection.reason);
    print_text(ERR, is_building ? "\nStack:\n" : "\n");
    print_stack(rejection.reason);
    JS_FreeValue(context, rejection.promise);
    JS_FreeValue(context, rejection.reason);
  }
  count = 0;
  return found;
}
