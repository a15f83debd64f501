// The records of wit/*.wit in memory (Canonical ABI, 32 bits), and the functions that the host implements.
#ifndef TENON_ABI_H
#define TENON_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A list of bytes, or a text in UTF-8.
typedef struct {
  const uint8_t *at;
  uint32_t length;
} Bytes;

// `header` of sdk:core/handler and sdk:core/calls, and a variable of wasi:cli/environment.
typedef struct {
  Bytes name;
  Bytes value;
} Pair;

typedef struct {
  Pair *at;
  uint32_t length;
} Pairs;

// `response` of sdk:core/handler.
typedef struct {
  uint16_t status;
  Pairs headers;
  uint8_t has_body;
  Bytes body;
} Response;

// The result of `take` of sdk:core/calls: option<tuple<u32, result<response, failure>>>.
typedef struct {
  uint8_t is_some;
  uint32_t call;
  uint8_t is_failure;
  union {
    struct {
      uint16_t status;
      Pairs headers;
      Bytes body;
    } response;
    struct {
      uint8_t reason;
      Bytes detail;
    } failure;
  };
} Outcome;

// `piece` of sdk:core/calls.
enum { PIECE_BYTES, PIECE_LATER, PIECE_END, PIECE_FAILED };
typedef struct {
  uint8_t kind;
  union {
    Bytes bytes;
    struct {
      uint8_t reason;
      Bytes detail;
    } failure;
  };
} Piece;

// option<u32>.
typedef struct {
  uint8_t is_some;
  uint32_t value;
} Number;

_Static_assert(sizeof(Pair) == 16 && sizeof(Response) == 24 && sizeof(Outcome) == 32 && sizeof(Piece) == 16 && sizeof(Number) == 8,
               "the Canonical ABI has other sizes");

#define IMPORT(module, name) __attribute__((import_module(module), import_name(name)))

#define CALLS "sdk:core/calls@0.1.0"
// `bodies` of sdk:core/calls.
typedef enum { WHOLE, STREAMED, STREAMED_WITH_MORE } Bodies;
IMPORT(CALLS, "start")
uint32_t host_start(const uint8_t *method, uint32_t method_length, const uint8_t *url, uint32_t url_length, const Pair *headers,
                    uint32_t header_count, uint32_t has_body, const uint8_t *body, uint32_t body_length, uint32_t timeout_ms,
                    uint32_t max_bytes, uint32_t bodies);
// Returns whether a call has ended, or a stream is ready, after this many microseconds at most; UINT32_MAX is no limit.
IMPORT(CALLS, "wait") uint32_t host_wait(uint32_t timeout_us);
IMPORT(CALLS, "take") void host_take(Outcome *outcome);
IMPORT(CALLS, "cancel") void host_cancel(uint32_t call);
IMPORT(CALLS, "ready") void host_ready(Number *call);
IMPORT(CALLS, "read") void host_read(uint32_t call, Piece *piece);
IMPORT(CALLS, "write")
void host_write_piece(uint32_t call, uint32_t has_piece, const uint8_t *piece, uint32_t length, Number *accepted);

enum { OUT, ERR };
IMPORT("sdk:core/log@0.1.0", "write") void host_write(uint32_t output, const uint8_t *text, uint32_t length);

// Nanoseconds.
IMPORT("wasi:clocks/monotonic-clock@0.2.10", "now") uint64_t host_monotonic(void);

typedef struct {
  uint64_t seconds;
  uint32_t nanoseconds;
} Moment;
IMPORT("wasi:clocks/wall-clock@0.2.10", "now") void host_wall(Moment *moment);

IMPORT("wasi:random/random@0.2.10", "get-random-u64") uint64_t host_random(void);
IMPORT("wasi:random/random@0.2.10", "get-random-bytes") void host_random_bytes(uint64_t length, Bytes *bytes);

IMPORT("wasi:cli/environment@0.2.10", "get-environment") void host_environment(Pairs *variables);

#endif
