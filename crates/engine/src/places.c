// Places in the program from which it calls the host. Only a replay asks for them (wit/handler.wit).
#include <stdlib.h>
#include <string.h>

#include "engine.h"

bool wants_places;

// The request's last header by which a host asks.
static const char HEADER[] = ":places";
// The beginning of a text that is a place, and no log line.
static const char MARK[] = "\0place\n";

Pairs read_wish_for_places(Pairs headers) {
  const Bytes *last = headers.length ? &headers.at[headers.length - 1].name : NULL;
  wants_places = last && last->length == sizeof HEADER - 1 && memcmp(last->at, HEADER, sizeof HEADER - 1) == 0;
  if (wants_places) headers.length--;
  return headers;
}

void note_place(void) {
  // A program's own Error.prepareStackTrace may call the host.
  static bool is_noting;
  if (is_noting) return;
  is_noting = true;
  JSValue error = JS_NewError(context);
  JSValue stack = JS_IsObject(error) ? JS_GetProperty(context, error, atom_stack) : JS_UNDEFINED;
  size_t length;
  const char *text = JS_IsString(stack) ? JS_ToCStringLen(context, &length, stack) : NULL;
  char *noted = text && length ? malloc(sizeof MARK - 1 + length) : NULL;
  if (noted) {
    memcpy(noted, MARK, sizeof MARK - 1);
    memcpy(noted + sizeof MARK - 1, text, length);
    // In parentheses, because the macro of this name would note the place of this.
    (host_write)(ERR, (const uint8_t *)noted, sizeof MARK - 1 + length);
    free(noted);
  }
  JS_FreeCString(context, text);
  JS_FreeValue(context, stack);
  JS_FreeValue(context, error);
  is_noting = false;
}
