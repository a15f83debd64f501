#ifndef TENON_RANDOM_H
#define TENON_RANDOM_H

#include "quickjs.h"

enum { RANDOM_FUNCTIONS = 2 };
extern const JSCFunctionListEntry random_functions[RANDOM_FUNCTIONS];

#endif
