// The bindings as a program of the machine, under AddressSanitizer and UndefinedBehaviorSanitizer: a host that sends random records to
// a handler that does what none should (handler.js). It is compiled for 32 bits, where the records lie as in WebAssembly.
//
// fuzz HANDLER.js SEED REQUESTS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/abi.h"

extern void *cabi_realloc(void *old, size_t was, size_t alignment, size_t size);
extern uint32_t initialize(const uint8_t *name, uint32_t name_length, const uint8_t *source, uint32_t source_length);
extern void collect(void);
extern uint32_t streams_takes_bodies(void);
extern Response *streams_begin(const uint8_t *method, uint32_t method_length, const uint8_t *path, uint32_t path_length, Pair *headers,
                               uint32_t header_count);
extern Response *streams_piece(uint32_t has_bytes, const uint8_t *at, uint32_t length);
extern Response *streams_end(void), *streams_broken(void), *streams_next(void);
extern void streams_cancel(void);
extern Response *handle(const uint8_t *method, uint32_t method_length, const uint8_t *path, uint32_t path_length, Pair *headers,
                        uint32_t header_count, uint32_t has_body, const uint8_t *body, uint32_t body_length);

void __wasm_call_ctors(void) {}

static uint64_t state;
static uint32_t any(uint32_t below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return below ? (uint32_t)(state >> 20) % below : 0;
}

// Random bytes in memory of the engine's. Most are short; some do not fit into its block.
static Bytes bytes(void) {
  static const uint32_t sizes[] = {0, 1, 8, 40, 300, 3000, 17000, 70000};
  uint32_t length = any(sizes[any(any(4) ? 5 : 8)] + 1);
  uint8_t *at = cabi_realloc(NULL, 0, 1, length);
  for (uint32_t index = 0; index < length; index++) at[index] = any(3) ? ' ' + any(95) : any(256);
  return (Bytes){at, length};
}

// UTF-8, as the Canonical ABI demands of texts.
static Bytes text(void) {
  static const char *const parts[] = {"content-type", "host", "ß", "語", "😀", "a", "/x?y=", ":warm-up", "\xef\xbb\xbf", "%41"};
  uint32_t count = any(6), length = 0;
  char made[64];
  for (uint32_t index = 0; index < count; index++) {
    const char *part = parts[any(10)];
    memcpy(made + length, part, strlen(part));
    length += strlen(part);
  }
  uint8_t *at = cabi_realloc(NULL, 0, 1, length);
  memcpy(at, made, length);
  return (Bytes){at, length};
}

static Pairs pairs(bool of_texts) {
  uint32_t count = any(any(4) ? 6 : 120);
  Pair *at = cabi_realloc(NULL, 0, 4, count * sizeof(Pair));
  for (uint32_t index = 0; index < count; index++) {
    at[index].name = text();
    at[index].value = of_texts ? text() : bytes();
  }
  return (Pairs){at, count};
}

// The name of the header by which a replay asks for places.
static Bytes places(void) {
  uint8_t *at = cabi_realloc(NULL, 0, 1, 7);
  return (Bytes){memcpy(at, ":places", 7), 7};
}

// Reads all of what the engine passes, so that AddressSanitizer sees it.
static volatile uint32_t sum;
static void look(const uint8_t *at, uint32_t length) {
  for (uint32_t index = 0; index < length; index++) sum += at[index];
}
static void look_at_pairs(Pairs all) {
  for (uint32_t index = 0; index < all.length; index++) {
    look(all.at[index].name.at, all.at[index].name.length);
    look(all.at[index].value.at, all.at[index].value.length);
  }
}

static uint32_t running[64], running_count, last_call;
static uint64_t now = 1;

uint32_t host_start(const uint8_t *method, uint32_t method_length, const uint8_t *url, uint32_t url_length, const Pair *headers,
                    uint32_t header_count, uint32_t has_body, const uint8_t *body, uint32_t body_length, uint32_t timeout_ms,
                    uint32_t max_bytes, uint32_t bodies) {
  (void)timeout_ms, (void)max_bytes, (void)bodies;
  look(method, method_length);
  look(url, url_length);
  look_at_pairs((Pairs){(Pair *)headers, header_count});
  if (has_body) look(body, body_length);
  last_call++;
  if (running_count < 64) running[running_count++] = last_call;
  return last_call;
}

// Now and then a stream has something, or has ended, whatever it is.
void host_ready(Number *call) { *call = (Number){last_call && any(3) == 0, 1 + any(last_call)}; }

void host_read(uint32_t call, Piece *piece) {
  (void)call;
  memset(piece, 0, sizeof *piece);
  uint32_t kind = any(10);
  piece->kind = kind < 4 ? PIECE_BYTES : kind < 8 ? PIECE_LATER : kind == 8 ? PIECE_END : PIECE_FAILED;
  if (piece->kind == PIECE_BYTES) piece->bytes = bytes();
  if (piece->kind == PIECE_FAILED) piece->failure.reason = any(6), piece->failure.detail = text();
}

void host_write_piece(uint32_t call, uint32_t has_piece, const uint8_t *piece, uint32_t length, Number *accepted) {
  (void)call;
  if (has_piece) look(piece, length);
  *accepted = (Number){any(6) != 0, any(3) ? length : any(length + 1)};
}

uint32_t host_wait(uint32_t timeout_us) {
  if (timeout_us != UINT32_MAX) now += (uint64_t)timeout_us * 1000;
  else if (running_count == 0) return any(2);
  // Now and then the host has ended everything.
  if (any(50) == 0) running_count = 0;
  return running_count != 0 && any(3) != 0;
}

void host_take(Outcome *outcome) {
  memset(outcome, 0, sizeof *outcome);
  if (running_count == 0 || any(4) == 0) return;
  uint32_t index = any(running_count);
  outcome->is_some = 1;
  // Sometimes of a call that nobody started.
  outcome->call = any(40) ? running[index] : any(1000);
  running[index] = running[--running_count];
  outcome->is_failure = any(3) == 0;
  if (outcome->is_failure) {
    outcome->failure.reason = any(6);
    outcome->failure.detail = text();
  } else {
    outcome->response.status = 100 + any(500);
    outcome->response.headers = pairs(false);
    outcome->response.body = bytes();
  }
}

void host_cancel(uint32_t call) {
  for (uint32_t index = 0; index < running_count; index++) {
    if (running[index] == call) running[index] = running[--running_count];
  }
}

// The dispatcher of linked modules, by the numbers of `crates/link/src/dispatcher.rs`.
uint32_t host_linked(uint32_t operation, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d) {
  (void)a;
  switch (operation) {
    case 0: ((uint32_t *)c)[0] = any(9), ((uint32_t *)c)[1] = any(9); return any(2);
    case 1:
      look((uint8_t *)b, 64 * 8);
      // A component allocates its results.
      look(cabi_realloc(NULL, 0, 1, any(300)), 0);
      for (uint32_t index = 0; index < 64 * 8; index++) ((uint8_t *)b)[index] = any(256);
      return 1;
    case 2: for (uint32_t index = 0; index < d; index++) ((uint8_t *)c)[index] = any(256); return any(2);
    case 3: look((uint8_t *)c, d); return any(2);
    default: return any(100);
  }
}

static int shows;
void host_write(uint32_t output, const uint8_t *at, uint32_t length) {
  (void)output;
  look(at, length);
  if (shows) fwrite(at, 1, length, stderr);
}

uint64_t host_monotonic(void) { return now += any(1000); }
void host_wall(Moment *moment) { *moment = (Moment){1700000000 + now / 1000000000, any(1000000000)}; }
uint64_t host_random(void) { return (uint64_t)any(UINT32_MAX) << 32 | any(UINT32_MAX); }
void host_random_bytes(uint64_t length, Bytes *into) {
  uint8_t *at = cabi_realloc(NULL, 0, 1, length);
  for (uint64_t index = 0; index < length; index++) at[index] = any(256);
  *into = (Bytes){at, length};
}
void host_environment(Pairs *variables) { *variables = pairs(true); }

// A program that has reached a limit of the engine runs no more.
extern void *runtime;
bool JS_IsOver(void *runtime);

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15 | 1;
  shows = getenv("SHOW") != NULL;
  FILE *file = fopen(argv[1], "rb");
  if (!file) return 2;
  static uint8_t source[1 << 20];
  size_t length = fread(source, 1, sizeof source, file);
  fclose(file);
  shows++;
  if (initialize((const uint8_t *)"handler.js", 10, source, length) != 0) return 1;
  shows--;
  collect();
  uint32_t ok = 0;
  static const char *const methods[] = {"GET", "POST", ":warm-up", "PUT", ""};
  for (long request = atol(argv[3]); request > 0 && !JS_IsOver(runtime); request--) {
    Bytes method = text();
    if (any(10)) {
      const char *chosen = methods[any(5)];
      method.length = strlen(chosen);
      method.at = cabi_realloc(NULL, 0, 1, method.length);
      memcpy((uint8_t *)method.at, chosen, method.length);
    }
    Bytes path = text();
    Pairs headers = pairs(false);
    if (headers.length && any(8) == 0) headers.at[headers.length - 1].name = places();
    bool has_body = any(2);
    Bytes body = has_body ? bytes() : (Bytes){0};
    Response *response;
    switch (any(10)) {
      case 0: response = streams_begin(method.at, method.length, path.at, path.length, headers.at, headers.length); break;
      case 1: response = streams_piece(has_body, body.at, body.length); break;
      case 2: response = streams_end(); break;
      case 3: response = streams_broken(); break;
      case 4: response = streams_next(); break;
      case 5:
        streams_cancel();
        ok += streams_takes_bodies();
        continue;
      default:
        response =
            handle(method.at, method.length, path.at, path.length, headers.at, headers.length, has_body, body.at, body.length);
    }
    look_at_pairs(response->headers);
    if (response->has_body) look(response->body.at, response->body.length);
    ok += response->status == 200;
  }
  printf("%u of %s requests were answered with 200\n", ok, argv[3]);
  return 0;
}
