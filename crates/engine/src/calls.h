#ifndef TENON_CALLS_H
#define TENON_CALLS_H

#include "quickjs.h"

enum { CALL_FUNCTIONS = 2 };
extern const JSCFunctionListEntry call_functions[CALL_FUNCTIONS];

#endif
