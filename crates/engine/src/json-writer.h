#ifndef TENON_JSON_WRITER_H
#define TENON_JSON_WRITER_H

#include "quickjs.h"

enum { JSON_WRITER_FUNCTIONS = 1 };
extern const JSCFunctionListEntry json_writer_functions[JSON_WRITER_FUNCTIONS];

#endif
