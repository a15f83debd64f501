// Native functions of `guest/src/platform/encoding` for encodings other than UTF-8.
#ifndef TENON_ENCODING_H
#define TENON_ENCODING_H

#include "quickjs.h"

enum { ENCODING_FUNCTIONS = 3 };
extern const JSCFunctionListEntry encoding_functions[ENCODING_FUNCTIONS];

// Makes the class of the handles. Returns -1 if there is no memory.
int encoding_initialize(JSContext *ctx);

#endif
