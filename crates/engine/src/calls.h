#ifndef TENON_CALLS_H
#define TENON_CALLS_H

#include "engine.h"

enum { CALL_FUNCTIONS = 2, CALL_STREAM_FUNCTIONS = 6 };
extern const JSCFunctionListEntry call_functions[CALL_FUNCTIONS];
extern const JSCFunctionListEntry call_stream_functions[CALL_STREAM_FUNCTIONS];

// Starts the call {method, url, headers, body, timeoutMs, maxBytes} with parts that were checked; returns its number, or 0 after an
// exception.
uint32_t start_host_call(JSContext *ctx, JSValueConst call, Bodies bodies);
// Calls a resolving function. Takes both values.
void settle(JSContext *ctx, JSValue resolve, JSValue outcome);
// {reason, detail}
JSValue new_failure(JSContext *ctx, uint8_t reason, Bytes detail);
// The failure of a call that the host has ended with its request.
JSValue new_ended(JSContext *ctx);

// call-streams.c
// Settles the head of a streamed call. Returns false when the number is of none; takes the outcome otherwise.
bool settle_head(uint32_t number, JSValue outcome, bool is_failure);
// Settles the reads and writes that can go on. Returns whether there were any.
bool settle_streams(void);
// Settles all that still waits, because the host has ended it.
void end_streams(void);
void cancel_streams(void);
// Returns whether something waits for a streamed call.
bool has_streams(void);

#endif
