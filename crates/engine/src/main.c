// The exports for the build: `initialize` and `collect`.
#include <stdlib.h>
#include <string.h>

#include "async-context.h"
#include "console.h"
#include "engine.h"
#include "environment.h"
#include "evaluate.h"
#include "handler.h"
#include "streams.h"
#include "url.h"
#ifdef TENON_FULL
#include "compress.h"
#include "encoding.h"
#endif
#include "performance.h"

JSRuntime *runtime;
JSContext *context;
bool is_building = true;

#define X(name) JSAtom atom_##name;
EACH_ATOM(X)
#undef X

enum {
  // The collector looks for cycles each time that this much more was allocated. Nearly everything is freed by its count.
  BYTES_BETWEEN_COLLECTIONS = 4 << 20,
};

// Allocators of the runtime.

static void *allocate(void *opaque, size_t size) {
  return malloc(size);
}

static void *allocate_zeroed(void *opaque, size_t count, size_t size) {
  return calloc(count, size);
}

static size_t usable(const void *address);

static void release(void *opaque, void *address) {
  if (is_building && address) memset(address, 0, usable(address));
  free(address);
}

static void *resize(void *opaque, void *address, size_t size) {
  if (!is_building || !address) return realloc(address, size);
  void *moved = malloc(size);
  if (!moved) return NULL;
  size_t was = usable(address);
  memcpy(moved, address, was < size ? was : size);
  release(NULL, address);
  return moved;
}

size_t malloc_usable_size(void *);
static size_t usable(const void *address) { return malloc_usable_size((void *)address); }

const JSMallocFunctions allocator = {allocate_zeroed, allocate, release, resize, usable};

extern void __wasm_call_ctors(void);

static bool add_everything(void) {
  runtime = JS_NewRuntime2(&allocator, NULL);
  if (!runtime) return false;
  JS_SetGCThreshold(runtime, BYTES_BETWEEN_COLLECTIONS);
  JS_SetModuleLoaderFunc(runtime, normalize_module, load_module, NULL);
  add_rejection_tracker();
  context = JS_NewContext(runtime);
  if (!context) return false;
#define X(name) atom_##name = JS_NewAtom(context, #name);
  EACH_ATOM(X)
#undef X
  add_request_class();
  add_answer_class();
  if (url_initialize(context)) return false;
#ifdef TENON_FULL
  if (compress_initialize(context) || encoding_initialize(context)) return false;
#endif
  JSValue global = JS_GetGlobalObject(context);
  add_timers(context, global);
  add_console(context, global);
  add_performance(context, global);
  JS_FreeValue(context, global);
  return true;
}

// Runs a module and returns whether it ended well.
static bool run(JSValue compiled) {
  JSValue promise = JS_EvalFunction(context, compiled);
  if (JS_IsException(promise)) {
    print_exception("Exception while evaluating top-level script\n");
    return false;
  }
  run_jobs();
  JSPromiseStateEnum state = JS_PromiseState(context, promise);
  if (state == JS_PROMISE_REJECTED) {
    JS_PromiseMarkAsHandled(context, promise);
    print_thrown("Exception while evaluating top-level script\n", JS_PromiseResult(context, promise));
  }
  if (state == JS_PROMISE_PENDING) print_text(ERR, "The top level waits for something that never comes\n");
  JS_FreeValue(context, promise);
  return state == JS_PROMISE_FULFILLED;
}

// Finds the functions that answer the host.
static bool find_functions(JSModuleDef *module) {
  JSValue exports = JS_GetModuleNamespace(context, module);
  find_streams(exports);
  bool is_found = find_handler(exports);
  JS_FreeValue(context, exports);
  return is_found;
}

// Evaluates a bundle, one ES module. Returns 0, or 1 after a failure that it has printed.
__attribute__((export_name("initialize"))) uint32_t initialize(const uint8_t *name, uint32_t name_length, const uint8_t *source,
                                                               uint32_t source_length) {
  __wasm_call_ctors();
  if (!add_everything()) return 1;
  char *file = malloc(name_length + 1), *text = malloc(source_length + 1);
  if (!file || !text) return 1;
  memcpy(file, name, name_length);
  memcpy(text, source, source_length);
  file[name_length] = text[source_length] = 0;
  arguments_forget((Mark){0});
  JS_KeepSource(runtime, text, source_length);
  JSValue compiled =
      JS_Eval(context, text, source_length, file, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
  free(file);
  if (JS_IsException(compiled)) {
    print_exception("Exception while evaluating top-level script\n");
    return 1;
  }
  JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
  bool is_done = run(compiled) && find_functions(module);
  print_rejections(true);
  return !is_done;
}

enum {
  // Free blocks of malloc that are smaller are given to nobody.
  LARGE_BLOCK = 8 << 10,
  // So many blocks, each right after the one before, are parts of one that is larger.
  IN_A_ROW = 3,
  // The bytes between two such blocks, at most.
  BLOCK_OVERHEAD = 16,
  // All of these blocks together, at most.
  BYTES_TAKEN = 512 << 10,
};

static size_t next_smaller(size_t size) { return size - (size > 1024 ? 256 : size > 128 ? 16 : 8); }

// Takes the small free blocks of malloc, which gives out the smallest one that fits. They are all over the heap; with large ones only, a
// request's blocks are side by side, on fewer pages.
__attribute__((minsize)) static void take_small_blocks(void) {
  size_t taken = 0;
  for (size_t size = LARGE_BLOCK; size > 0; size = next_smaller(size)) {
    char *row[IN_A_ROW];
    int length = 0;
    while (length < IN_A_ROW) {
      char *block = malloc(size);
      if (!block) break;
      taken += size;
      if (length > 0 && (size_t)(block - row[length - 1]) > usable(row[length - 1]) + BLOCK_OVERHEAD) length = 0;
      row[length++] = block;
      if (taken > BYTES_TAKEN) break;
    }
    for (int i = length; i-- > 0;) {
      free(row[i]);
      taken -= size;
    }
    if (taken > BYTES_TAKEN) return;
  }
}

// Frees what the handler has left, before the snapshot.
__attribute__((export_name("collect"))) void collect(void) {
  release_read((ReadMark){0});
  forget_environment();
  cancel_calls();
  clear_timers();
  leave_async_context(context);
  JS_RunGC(runtime);
  JS_ClearFreeBlocks(runtime);
  take_small_blocks();
  JS_ReserveArenas(runtime);
  is_building = false;
}
