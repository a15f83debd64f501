// Native functions of `guest/src/platform/url`.
#ifndef TENON_URL_H
#define TENON_URL_H

#include "quickjs.h"

enum { URL_FUNCTIONS = 21 };
extern const JSCFunctionListEntry url_functions[URL_FUNCTIONS];

// Makes the class of the handles. Returns -1 if there is no memory.
int url_initialize(JSContext *ctx);

#endif
