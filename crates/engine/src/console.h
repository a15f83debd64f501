#ifndef TENON_CONSOLE_H
#define TENON_CONSOLE_H

#include "quickjs.h"

enum { CONSOLE_FUNCTIONS = 1 };
extern const JSCFunctionListEntry console_functions[CONSOLE_FUNCTIONS];
void add_console(JSContext *ctx, JSValueConst global);

#endif
