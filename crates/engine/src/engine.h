// Declarations that the files of the engine share. There is one runtime and one context, which the snapshot contains.
#ifndef TENON_ENGINE_H
#define TENON_ENGINE_H

#include "abi.h"
#include "quickjs.h"

extern JSRuntime *runtime;
extern JSContext *context;
// The functions that the runtime allocates memory with.
extern const JSMallocFunctions allocator;

// Atoms that every request needs, made once. The second column is their text.
#define EACH_ATOM(X)                                                                                                          \
  X(status) X(headers) X(body) X(method) X(url) X(pathWithQuery) X(timeoutMs) X(maxBytes) X(reason) X(detail) X(stack) X(then)
#define X(name) extern JSAtom atom_##name;
EACH_ATOM(X)
#undef X

// arguments.c: the memory that the host writes to.
//
// Everything that a call brings stands in one block, so that few pages are written. What does not fit is allocated.
typedef struct {
  uint32_t used;
  uint32_t allocated;
} Mark;
// Frees what the host has written since the mark.
Mark arguments_mark(void);
void arguments_forget(Mark mark);
// Takes an allocated argument over: the caller frees it. Returns false for one in the block.
bool arguments_take_over(const void *argument);

// Returns the array with room for so many items; `capacity` is the room that it has.
void *grown(void *array, uint32_t needed, uint32_t *capacity, size_t each);

// bytes.c
JSValue new_text(JSContext *ctx, Bytes text);
// A new Uint8Array with a copy.
JSValue new_copy(JSContext *ctx, Bytes bytes);
// The same, but a large argument is taken over.
JSValue new_bytes(JSContext *ctx, Bytes bytes);
// The content of a Uint8Array; throws a TypeError and returns false for anything else. It is valid while the array is, and is not resized.
bool bytes_of(JSContext *ctx, JSValueConst value, Bytes *bytes);

// pairs.c: lists of headers and variables.
// A new list of [name, value], whose values `new_value` makes.
JSValue new_pairs(JSContext *ctx, Pairs pairs, JSValue (*new_value)(JSContext *, Bytes));
// One block of memory with the pairs and their texts, which `free` frees; NULL if there is no memory.
Pairs *copy_pairs(Pairs pairs);
// Reads a JavaScript list of pairs. They stay until `release_read`, and until another list is read. Returns false after an exception.
bool read_pairs(JSContext *ctx, JSValueConst list, Pairs *pairs);
typedef struct {
  uint32_t texts;
  uint32_t values;
  uint32_t pairs;
} ReadMark;
ReadMark read_mark(void);
// Frees what was read since the mark.
void release_read(ReadMark mark);

// request.c
// The object of a request. It reads its headers from the arguments, until `end_request`.
JSValue new_request(JSContext *ctx, Bytes method, Bytes path, Pairs headers, bool has_body, Bytes body);
void end_request(void);
void add_request_class(void);

// calls.c
void settle_calls(void);
void cancel_calls(void);
// Returns whether calls run.
bool has_calls(void);
void add_answer_class(void);

// timers.c
void add_timers(JSContext *ctx, JSValueConst global);
// Runs the timers that are due. Returns microseconds until the next one; UINT32_MAX when there is none.
uint32_t run_timers(void);
void clear_timers(void);

// places.c: where the program calls the host. Nothing is noted unless a replay asks.
extern bool wants_places;
// Reads whether the host asks. Returns the headers without the one that says so.
Pairs read_wish_for_places(Pairs headers);
// Writes the stack to the log, for the host.
void note_place(void);
#define NOTING(call) (wants_places ? note_place() : (void)0, call)
#define host_start(...) NOTING(host_start(__VA_ARGS__))
#define host_cancel(...) NOTING(host_cancel(__VA_ARGS__))
#define host_read(...) NOTING(host_read(__VA_ARGS__))
#define host_write_piece(...) NOTING(host_write_piece(__VA_ARGS__))
#define host_write(...) NOTING(host_write(__VA_ARGS__))
#define host_monotonic() NOTING(host_monotonic())
#define host_wall(...) NOTING(host_wall(__VA_ARGS__))
#define host_random() NOTING(host_random())
#define host_random_bytes(...) NOTING(host_random_bytes(__VA_ARGS__))
#define host_environment(...) NOTING(host_environment(__VA_ARGS__))

// jobs.c
// True when a timer or a microtask of this call has thrown.
extern bool is_broken;
void print_uncaught_exception(void);
// Returns whether the program has reached a limit of the engine, which ends the call. The exception is forgotten then.
bool was_interrupted(void);
void run_jobs(void);
// Runs jobs, timers and calls until the promise is settled. Returns false when nothing is left that could settle it, or when a timer
// or a microtask has thrown.
bool wait_for(JSValueConst promise);

// report.c: what the author of a handler reads.
void print(uint32_t output, const char *text, size_t length);
void print_text(uint32_t output, const char *text);
// Prints what was thrown, with its stack, after `prefix`. Takes the value.
void print_thrown(const char *prefix, JSValue thrown);
// Prints the exception that is pending.
void print_exception(const char *prefix);
void add_rejection_tracker(void);
// Prints the rejected promises that nothing has handled, and forgets them. Returns whether there were any.
bool print_rejections(bool is_building);

// module.c
JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque);

// Memory that is freed during the build is filled with zeros, because the snapshot has all of it.
extern bool is_building;

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#endif
