// Output for the author of a handler, and rejections that nothing handles.
#include <stdlib.h>
#include <string.h>

#include "engine.h"

void print(uint32_t output, const char *text, size_t length) { host_write(output, (const uint8_t *)text, length); }

void print_text(uint32_t output, const char *text) { print(output, text, strlen(text)); }

// The text of a value, which JS_FreeCString frees; NULL when it has none.
static const char *text_of(JSValueConst value, size_t *length) {
  const char *text = JS_ToCStringLen(context, length, value);
  if (!text) JS_FreeValue(context, JS_GetException(context));
  return text;
}

// The stack of a thrown value, as `text_of` returns it; NULL without one.
static const char *stack_of(JSValueConst thrown, size_t *length) {
  if (!JS_IsObject(thrown)) return NULL;
  JSValue stack = JS_GetProperty(context, thrown, atom_stack);
  if (JS_IsException(stack)) JS_FreeValue(context, JS_GetException(context));
  const char *text = JS_IsString(stack) ? text_of(stack, length) : NULL;
  JS_FreeValue(context, stack);
  return text;
}

static char *append(char *to, const char *text, size_t length) {
  memcpy(to, text, length);
  return to + length;
}

// Prints a value that was thrown, with its stack. At once, because the host logs a text and its stack as one record.
static void print_report(const char *prefix, JSValueConst thrown, const char *separator) {
  // Both may run code of the user's, which may print.
  size_t length, stack_length = 0;
  const char *text = text_of(thrown, &length), *stack = stack_of(thrown, &stack_length);
  const char *shown = text ? text : "a value that cannot be converted to text";
  if (!text) length = strlen(shown);
  size_t prefix_length = strlen(prefix), separator_length = strlen(separator);
  char *report = malloc(prefix_length + length + separator_length + stack_length), *end = report;
  if (report) {
    end = append(end, prefix, prefix_length);
    end = append(end, shown, length);
    end = append(end, separator, separator_length);
    if (stack) end = append(end, stack, stack_length);
    print(ERR, report, end - report);
    free(report);
  }
  JS_FreeCString(context, text);
  JS_FreeCString(context, stack);
}

void print_thrown(const char *prefix, JSValue thrown) {
  print_report(prefix, thrown, "\n");
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
    if (is_building) print_report("Promise rejected but never handled: ", rejection.reason, "\nStack:\n");
    else print_report("Unhandled promise rejection: ", rejection.reason, "\n");
    JS_FreeValue(context, rejection.promise);
    JS_FreeValue(context, rejection.reason);
  }
  count = 0;
  return found;
}
