#ifndef TENON_TEXT_H
#define TENON_TEXT_H

#include "quickjs.h"

enum { TEXT_FUNCTIONS = 4 };
extern const JSCFunctionListEntry text_functions[TEXT_FUNCTIONS];

#endif
