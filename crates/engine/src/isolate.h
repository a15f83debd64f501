// A second runtime in the instance: see isolate.c.
#ifndef TENON_ISOLATE_H
#define TENON_ISOLATE_H

#include <stdbool.h>

#include "quickjs.h"

#define ISOLATE_FUNCTIONS 4
extern const JSCFunctionListEntry isolate_functions[ISOLATE_FUNCTIONS];

// True while the context of an isolate is made.
extern bool is_opening_isolate;

#endif
