#pragma once
#include "quickjs.h"

extern const JSCFunctionListEntry class_name_functions[];
extern const int class_name_function_count;
