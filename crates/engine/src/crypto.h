#ifndef TENON_CRYPTO_H
#define TENON_CRYPTO_H

#include "quickjs.h"

enum { CRYPTO_FUNCTIONS = 33 };
extern const JSCFunctionListEntry crypto_functions[CRYPTO_FUNCTIONS];

#endif
