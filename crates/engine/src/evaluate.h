// Modules whose text a program has: see evaluate.c.
#ifndef TENON_EVALUATE_H
#define TENON_EVALUATE_H

#include <stdbool.h>

#include "quickjs.h"

#define EVALUATE_FUNCTIONS 1
extern const JSCFunctionListEntry evaluate_functions[EVALUATE_FUNCTIONS];

// Returns [promise, namespace] of a module; throws when it cannot be parsed, or imports what it must not. It has a default export in any
// case: without one of its own, the value of its last expression.
JSValue evaluate_module(JSContext *ctx, JSValueConst text, JSValueConst named);
// Resolves an import to the name of a module; throws for one that evaluated code must not import.
char *normalize_module(JSContext *ctx, const char *base, const char *name, void *opaque);
// Returns whether a name is that of a module that `evaluate` was given.
bool is_given_module(const char *name);
// Makes such a module.
JSModuleDef *load_given_module(JSContext *ctx, const char *name);

#endif
