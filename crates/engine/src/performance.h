#ifndef TENON_PERFORMANCE_H
#define TENON_PERFORMANCE_H

#include "quickjs.h"

enum { PERFORMANCE_FUNCTIONS = 2 };
extern const JSCFunctionListEntry performance_functions[PERFORMANCE_FUNCTIONS];
void add_performance(JSContext *ctx, JSValueConst global);

#endif
