#ifndef TENON_STREAMS_H
#define TENON_STREAMS_H

#include "engine.h"

// Finds the functions for streams, if the bundle has them.
void find_streams(JSValueConst exports);

#endif
