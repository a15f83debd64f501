// Native functions of `guest/src/platform/compression`.
#ifndef TENON_COMPRESS_H
#define TENON_COMPRESS_H

#include "quickjs.h"

enum { COMPRESS_FUNCTIONS = 4 };
extern const JSCFunctionListEntry compress_functions[COMPRESS_FUNCTIONS];

// Makes the class of the handles. Returns -1 if there is no memory.
int compress_initialize(JSContext *ctx);

#endif
