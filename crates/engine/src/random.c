// Random numbers of the host.
#include "engine.h"

uint64_t engine_random(void);

uint64_t engine_random(void) { return host_random(); }
