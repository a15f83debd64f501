// Calls to the WebAssembly modules that a handler imports, through a dispatcher that the build appends to the component.
//
// build.sh leaves place 1 of the table empty, and the dispatcher puts itself there (`crates/link/src/dispatcher.rs`, which describes
// its operations). Without modules the place stays empty, so a call of it traps.
#include <string.h>

#include "engine.h"
#include "environment.h"
#include "linked.h"

enum { FIND, CALL, READ, WRITE, SIZE, GROW };

#ifdef ENGINE_FUZZ
uint32_t host_linked(uint32_t operation, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
#else
enum { PLACE = 1, PAGE = 65536, ORIGIN = 8 };
typedef uint32_t Dispatcher(uint32_t operation, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);
static Dispatcher *const host_linked = (Dispatcher *)PLACE;
#endif

void *cabi_realloc(void *old, size_t was, size_t alignment, size_t size);

// linkedFind(low, high): the numbers of a module's first function and first memory, or undefined.
static JSValue find(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t low, high, first[2];
  if (JS_ToUint32(ctx, &low, argv[0]) || JS_ToUint32(ctx, &high, argv[1])) return JS_EXCEPTION;
  if (!host_linked(FIND, low, high, (uintptr_t)first, 0)) return JS_UNDEFINED;
  JSValue pair = JS_NewArray(ctx);
  for (int index = 0; index < 2; index++)
    JS_DefinePropertyValueUint32(ctx, pair, index, JS_NewUint32(ctx, first[index]), JS_PROP_C_W_E);
  return pair;
}

// The most parameters and results of a function together (`crates/link/src/limits.rs`).
enum { MAX_VALUES = 64 };

typedef union {
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
} Value;

// Converts as the WebAssembly JavaScript API does. Returns false after an exception.
static bool to_value(JSContext *ctx, char type, JSValueConst from, Value *value) {
  double number;
  if (type == 'i') return !JS_ToInt32(ctx, &value->i32, from);
  if (type == 'I') return !JS_ToBigInt64(ctx, &value->i64, from);
  if (JS_ToFloat64(ctx, &number, from)) return false;
  if (type == 'f') value->f32 = (float)number;
  else value->f64 = number;
  return true;
}

static JSValue from_value(JSContext *ctx, char type, Value value) {
  if (type == 'i') return JS_NewInt32(ctx, value.i32);
  if (type == 'I') return JS_NewBigInt64(ctx, value.i64);
  return JS_NewFloat64(ctx, type == 'f' ? value.f32 : value.f64);
}

static JSValue call_with(JSContext *ctx, uint32_t function, const char *params, const char *results, JSValueConst given) {
  Value values[MAX_VALUES] = {0};
  uint32_t count = strlen(params), result_count = strlen(results);
  if (count > MAX_VALUES || result_count > MAX_VALUES) return JS_ThrowRangeError(ctx, "a function has more than %d values", MAX_VALUES);
  for (uint32_t index = 0; index < count; index++) {
    JSValue each = JS_GetPropertyUint32(ctx, given, index);
    bool is_read = !JS_IsException(each) && to_value(ctx, params[index], each, &values[index]);
    JS_FreeValue(ctx, each);
    if (!is_read) return JS_EXCEPTION;
  }
  host_linked(CALL, function, (uintptr_t)values, 0, 0);
  if (result_count == 0) return JS_UNDEFINED;
  if (result_count == 1) return from_value(ctx, *results, values[0]);
  JSValue list = JS_NewArray(ctx);
  for (uint32_t index = 0; index < result_count; index++)
    JS_DefinePropertyValueUint32(ctx, list, index, from_value(ctx, results[index], values[index]), JS_PROP_C_W_E);
  return list;
}

// linkedCall(function, params, results, given): types are texts of letters, i and I for i32 and i64, f and F for f32 and f64.
static JSValue call(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t function;
  if (JS_ToUint32(ctx, &function, argv[0])) return JS_EXCEPTION;
  const char *params = JS_ToCString(ctx, argv[1]);
  const char *results = params ? JS_ToCString(ctx, argv[2]) : NULL;
  JSValue result = results ? call_with(ctx, function, params, results, argv[3]) : JS_EXCEPTION;
  JS_FreeCString(ctx, results);
  JS_FreeCString(ctx, params);
  return result;
}

// linkedRead(memory, offset, bytes) fills the bytes, and linkedWrite stores them. Returns whether that many are within the memory.
static JSValue copy(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv, int operation) {
  uint32_t memory, offset;
  Bytes bytes;
  // Last, because conversions of numbers run code that could resize the bytes.
  if (JS_ToUint32(ctx, &memory, argv[0]) || JS_ToUint32(ctx, &offset, argv[1]) || !bytes_of(ctx, argv[2], &bytes)) return JS_EXCEPTION;
  return JS_NewBool(ctx, host_linked(operation, memory, offset, (uintptr_t)bytes.at, bytes.length));
}

// linkedPages(memory)
static JSValue pages(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t memory;
  if (JS_ToUint32(ctx, &memory, argv[0])) return JS_EXCEPTION;
  return JS_NewUint32(ctx, host_linked(SIZE, memory, 0, 0, 0));
}

// linkedGrow(memory, pages): the pages before, or -1.
static JSValue grow(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t memory, more;
  if (JS_ToUint32(ctx, &memory, argv[0]) || JS_ToUint32(ctx, &more, argv[1])) return JS_EXCEPTION;
  return JS_NewInt32(ctx, (int32_t)host_linked(GROW, memory, more, 0, 0));
}

// linkedMemory(): the engine's memory at its present size, for values of components, without its first 8 bytes, because QuickJS takes
// no buffer at address 0. It does not move when it grows.
static JSValue own_memory(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
#ifdef ENGINE_FUZZ
  return JS_NewUint8ArrayCopy(ctx, NULL, 0);
#else
  return JS_NewUint8Array(ctx, (uint8_t *)ORIGIN, (size_t)__builtin_wasm_memory_size(0) * PAGE - ORIGIN, NULL, NULL, false);
#endif
}

// linkedAllocate(size, alignment): an address, where memory is until the end of linkedScope.
static JSValue allocate(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t size, alignment;
  if (JS_ToUint32(ctx, &size, argv[0]) || JS_ToUint32(ctx, &alignment, argv[1])) return JS_EXCEPTION;
  return JS_NewUint32(ctx, (uintptr_t)cabi_realloc(NULL, 0, alignment, size));
}

// linkedScope(run): calls a function, and frees the parameters and results of the components that it has called.
static JSValue scope(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Mark mark = arguments_mark();
  JSValue result = JS_Call(ctx, argv[0], JS_UNDEFINED, 0, NULL);
  // Getters of the parameters may have asked for variables, which are arguments, too.
  forget_environment();
  arguments_forget(mark);
  return result;
}

const JSCFunctionListEntry linked_functions[LINKED_FUNCTIONS] = {
    JS_CFUNC_DEF("linkedFind", 2, find),
    JS_CFUNC_DEF("linkedCall", 4, call),
    JS_CFUNC_MAGIC_DEF("linkedRead", 3, copy, READ),
    JS_CFUNC_MAGIC_DEF("linkedWrite", 3, copy, WRITE),
    JS_CFUNC_DEF("linkedPages", 1, pages),
    JS_CFUNC_DEF("linkedGrow", 2, grow),
    JS_CFUNC_DEF("linkedMemory", 0, own_memory),
    JS_CFUNC_DEF("linkedAllocate", 2, allocate),
    JS_CFUNC_DEF("linkedScope", 1, scope),
};
