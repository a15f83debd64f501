// Native functions of `guest/src/platform/compression`.
#ifndef TENON_COMPRESS_H
#define TENON_COMPRESS_H

#include "quickjs.h"

extern const JSCFunctionListEntry compress_functions[];
extern const int compress_function_count;

// Makes the class of the handles. Returns -1 if there is no memory.
int compress_initialize(JSContext *ctx);

#endif
