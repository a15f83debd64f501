// Native functions of `guest/src/platform/url`.
#ifndef TENON_URL_H
#define TENON_URL_H

#include "quickjs.h"

extern const JSCFunctionListEntry url_functions[];
extern const int url_function_count;

// Makes the class of the handles. Returns -1 if there is no memory.
int url_initialize(JSContext *ctx);

#endif
