// Hash functions and HMAC, computed by `platform/digests`. A hash function is given by its number there.
#include <string.h>

#include "digest.h"
#include "engine.h"

size_t tenon_digest_size(uint32_t hash);
size_t tenon_digest_state(void);
void tenon_digest(uint32_t hash, const uint8_t *data, size_t length, uint8_t *out);
void tenon_hmac(uint32_t hash, const uint8_t *key, size_t key_length, const uint8_t *data, size_t length, uint8_t *out);
void tenon_digest_begin(void *state, uint32_t hash, const uint8_t *key, size_t key_length);
void tenon_digest_update(void *state, const uint8_t *data, size_t length);
void tenon_digest_finish(const void *state, uint8_t *out);
int32_t tenon_is_same(const uint8_t *a, const uint8_t *b, size_t length);

// Every output has this many bytes, of which the digest takes the first.
enum { LARGEST_DIGEST = 64 };

// Reads the number of a hash function, and returns the bytes of its digest; 0 after an exception.
static size_t read_hash(JSContext *ctx, JSValueConst value, uint32_t *hash) {
  if (JS_ToUint32(ctx, hash, value)) return 0;
  size_t size = tenon_digest_size(*hash);
  if (size == 0) JS_ThrowRangeError(ctx, "no hash function has the number %u", *hash);
  return size;
}

// digest(hash, bytes)
static JSValue whole_digest(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t hash;
  Bytes data;
  uint8_t out[LARGEST_DIGEST];
  size_t size = read_hash(ctx, argv[0], &hash);
  if (size == 0 || !bytes_of(ctx, argv[1], &data)) return JS_EXCEPTION;
  tenon_digest(hash, data.at, data.length, out);
  return JS_NewUint8ArrayCopy(ctx, out, size);
}

// hmac(hash, key, bytes)
static JSValue whole_hmac(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t hash;
  Bytes key, data;
  uint8_t out[LARGEST_DIGEST];
  size_t size = read_hash(ctx, argv[0], &hash);
  if (size == 0 || !bytes_of(ctx, argv[1], &key) || !bytes_of(ctx, argv[2], &data)) return JS_EXCEPTION;
  tenon_hmac(hash, key.at, key.length, data.at, data.length, out);
  return JS_NewUint8ArrayCopy(ctx, out, size);
}

// A hash in progress. The state of the Rust library follows the size of its digest.
typedef struct {
  size_t size;
  _Alignas(16) uint8_t state[];
} Running;

static JSClassID running_class;

static void free_running(JSRuntime *rt, JSValueConst value) {
  Running *running = JS_GetOpaque(value, running_class);
  if (running == NULL) return;
  // The state of an HMAC gives the key away. A volatile pointer keeps the compiler from leaving the writes out.
  volatile uint8_t *state = running->state;
  for (size_t i = 0, size = tenon_digest_state(); i < size; i++) state[i] = 0;
  js_free_rt(rt, running);
}

static const JSClassDef running_definition = {"Digest", .finalizer = free_running};

static Running *running_of(JSContext *ctx, JSValueConst value) { return JS_GetOpaque2(ctx, value, running_class); }

// Makes an object whose state is not begun yet.
static JSValue make_running(JSContext *ctx, size_t size, Running **running) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  JS_NewClassID(rt, &running_class);
  if (!JS_IsRegisteredClass(rt, running_class) && JS_NewClass(rt, running_class, &running_definition) < 0) return JS_EXCEPTION;
  JSValue object = JS_NewObjectProtoClass(ctx, JS_NULL, running_class);
  if (JS_IsException(object)) return object;
  *running = js_malloc(ctx, sizeof(Running) + tenon_digest_state());
  if (*running == NULL) {
    JS_FreeValue(ctx, object);
    return JS_EXCEPTION;
  }
  (*running)->size = size;
  JS_SetOpaque(object, *running);
  return object;
}

// newDigest(hash, key?)
static JSValue new_digest(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint32_t hash;
  Bytes key = {NULL, 0};
  bool has_key = argc > 1 && !JS_IsUndefined(argv[1]);
  size_t size = read_hash(ctx, argv[0], &hash);
  if (size == 0) return JS_EXCEPTION;
  Running *running;
  JSValue object = make_running(ctx, size, &running);
  if (JS_IsException(object)) return object;
  // An empty key is one, too, so its address must not be null.
  if (has_key && !bytes_of(ctx, argv[1], &key)) {
    memset(running->state, 0, tenon_digest_state());
    JS_FreeValue(ctx, object);
    return JS_EXCEPTION;
  }
  if (has_key && key.at == NULL) key.at = running->state;
  tenon_digest_begin(running->state, hash, key.at, key.length);
  return object;
}

// updateDigest(digest, bytes)
static JSValue update_digest(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Bytes data;
  Running *running = running_of(ctx, argv[0]);
  if (running == NULL || !bytes_of(ctx, argv[1], &data)) return JS_EXCEPTION;
  tenon_digest_update(running->state, data.at, data.length);
  return JS_UNDEFINED;
}

// finishDigest(digest): the digest goes on after it.
static JSValue finish_digest(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  uint8_t out[LARGEST_DIGEST];
  Running *running = running_of(ctx, argv[0]);
  if (running == NULL) return JS_EXCEPTION;
  tenon_digest_finish(running->state, out);
  return JS_NewUint8ArrayCopy(ctx, out, running->size);
}

// copyDigest(digest)
static JSValue copy_digest(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Running *running = running_of(ctx, argv[0]);
  Running *copy;
  if (running == NULL) return JS_EXCEPTION;
  JSValue object = make_running(ctx, running->size, &copy);
  // A state holds no addresses.
  if (!JS_IsException(object)) memcpy(copy->state, running->state, tenon_digest_state());
  return object;
}

// timingSafeEqual(a, b): false for bytes of different lengths.
static JSValue timing_safe_equal(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  Bytes a, b;
  if (!bytes_of(ctx, argv[0], &a) || !bytes_of(ctx, argv[1], &b)) return JS_EXCEPTION;
  return JS_NewBool(ctx, a.length == b.length && tenon_is_same(a.at, b.at, a.length));
}

const JSCFunctionListEntry digest_functions[DIGEST_FUNCTIONS] = {
    JS_CFUNC_DEF("digest", 2, whole_digest),
    JS_CFUNC_DEF("hmac", 3, whole_hmac),
    JS_CFUNC_DEF("newDigest", 2, new_digest),
    JS_CFUNC_DEF("updateDigest", 2, update_digest),
    JS_CFUNC_DEF("finishDigest", 1, finish_digest),
    JS_CFUNC_DEF("copyDigest", 1, copy_digest),
    JS_CFUNC_DEF("timingSafeEqual", 2, timing_safe_equal),
};
