#ifndef TENON_CLASS_NAME_H
#define TENON_CLASS_NAME_H

#include "quickjs.h"

enum { CLASS_NAME_FUNCTIONS = 2 };
extern const JSCFunctionListEntry class_name_functions[CLASS_NAME_FUNCTIONS];

#endif
