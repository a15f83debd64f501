#ifndef TENON_LINKED_H
#define TENON_LINKED_H

#include "quickjs.h"

enum { LINKED_FUNCTIONS = 9 };
extern const JSCFunctionListEntry linked_functions[LINKED_FUNCTIONS];

#endif
