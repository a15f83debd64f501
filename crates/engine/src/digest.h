#ifndef TENON_DIGEST_H
#define TENON_DIGEST_H

#include "quickjs.h"

enum { DIGEST_FUNCTIONS = 7 };
extern const JSCFunctionListEntry digest_functions[DIGEST_FUNCTIONS];

#endif
