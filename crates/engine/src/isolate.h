// A second runtime in the instance: see isolate.c.
#ifndef TENON_ISOLATE_H
#define TENON_ISOLATE_H

#include "quickjs.h"

#define ISOLATE_FUNCTIONS 4
extern const JSCFunctionListEntry isolate_functions[ISOLATE_FUNCTIONS];

#endif
