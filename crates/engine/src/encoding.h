// Native functions of `guest/src/platform/encoding` for encodings other than UTF-8.
#ifndef TENON_ENCODING_H
#define TENON_ENCODING_H

#include "quickjs.h"

extern const JSCFunctionListEntry encoding_functions[];
extern const int encoding_function_count;

// Makes the class of the handles. Returns -1 if there is no memory.
int encoding_initialize(JSContext *ctx);

#endif
