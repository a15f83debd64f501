#ifndef TENON_ENVIRONMENT_H
#define TENON_ENVIRONMENT_H

#include "quickjs.h"

enum { ENVIRONMENT_FUNCTIONS = 3 };
extern const JSCFunctionListEntry environment_functions[ENVIRONMENT_FUNCTIONS];
void forget_environment(void);

#endif
