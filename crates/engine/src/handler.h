#ifndef TENON_HANDLER_H
#define TENON_HANDLER_H

#include "engine.h"

// Finds the function that answers requests. Prints why when there is none.
bool find_handler(JSValueConst exports);

// Begins a call of the host. One that begins a request ends what the request before has left.
void begin_call(bool is_request);
// Calls a function of the bundle, and waits for its result. Returns an exception after a failure that it has printed; `is_stuck` says
// whether nothing could settle the result. Takes the argument.
JSValue call_out(JSValueConst function, JSValue argument, bool *is_stuck);
void end_call(void);
// Calls a function of the bundle, ends the call, and returns the response, which stays until the next call. Takes the argument.
Response *answer(JSValueConst function, JSValue argument);

#endif
