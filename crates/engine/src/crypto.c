// RSA, elliptic curves, AES and key derivation, computed by `platform/crypto`. Each function takes a `Uint8Array`, the block of
// arguments that the Rust function describes, then the lengths of the arguments and other numbers. It returns the Rust
// function's result.
#include "crypto.h"

#include "engine.h"

// Name, name in Rust, numbers of arguments after the block.
#define FUNCTIONS(F) \
  F(rsaGenerate, rsa_generate, 2) \
  F(rsaCheckPublic, rsa_check_public, 2) \
  F(rsaCheckPrivate, rsa_check_private, 2) \
  F(oaepEncrypt, oaep_encrypt, 5) \
  F(oaepDecrypt, oaep_decrypt, 4) \
  F(pssSign, pss_sign, 5) \
  F(pssVerify, pss_verify, 5) \
  F(pkcs1Sign, pkcs1_sign, 4) \
  F(pkcs1Verify, pkcs1_verify, 4) \
  F(ecPublic, ec_public, 1) \
  F(ecCheck, ec_check, 1) \
  F(ecExpand, ec_expand, 1) \
  F(ecAgree, ec_agree, 1) \
  F(ecSign, ec_sign, 2) \
  F(ecVerify, ec_verify, 2) \
  F(ed25519Public, ed25519_public, 0) \
  F(ed25519Sign, ed25519_sign, 1) \
  F(ed25519Verify, ed25519_verify, 1) \
  F(x25519Public, x25519_public, 0) \
  F(x25519Agree, x25519_agree, 0) \
  F(gcmEncrypt, gcm_encrypt, 5) \
  F(gcmDecrypt, gcm_decrypt, 5) \
  F(gcmCounter, gcm_counter, 2) \
  F(gcmTag, gcm_tag, 5) \
  F(cbcEncrypt, cbc_encrypt, 3) \
  F(cbcDecrypt, cbc_decrypt, 3) \
  F(ctr, ctr, 4) \
  F(kwWrap, kw_wrap, 2) \
  F(kwUnwrap, kw_unwrap, 2) \
  F(hkdf, hkdf, 5) \
  F(pbkdf2, pbkdf2, 5) \
  F(scrypt, scrypt, 6) \
  F(argon2, argon2, 9)

// The types of the numbers are `u32`, `i32` and `usize` in Rust, which are one type in WebAssembly.
#define TYPES0
#define TYPES1 , size_t
#define TYPES2 TYPES1, size_t
#define TYPES3 TYPES2, size_t
#define TYPES4 TYPES3, size_t
#define TYPES5 TYPES4, size_t
#define TYPES6 TYPES5, size_t
#define TYPES9 TYPES6, size_t, size_t, size_t
#define NUMBERS0
#define NUMBERS1 , n[0]
#define NUMBERS2 NUMBERS1, n[1]
#define NUMBERS3 NUMBERS2, n[2]
#define NUMBERS4 NUMBERS3, n[3]
#define NUMBERS5 NUMBERS4, n[4]
#define NUMBERS6 NUMBERS5, n[5]
#define NUMBERS9 NUMBERS6, n[6], n[7], n[8]

#define DECLARE(name, rust, count) int32_t tenon_##rust(uint8_t *, size_t TYPES##count);
FUNCTIONS(DECLARE)

enum {
#define INDEX(name, rust, count) INDEX_##name,
  FUNCTIONS(INDEX)
};

// The magic number is the index of the function.
static JSValue call(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv, int magic) {
  size_t size;
  uint32_t n[9] = {0};
  for (int i = 1; i < argc && i <= 9; i++)
    if (JS_ToUint32(ctx, &n[i - 1], argv[i])) return JS_EXCEPTION;
  // The block is read last, because a conversion above may call JavaScript.
  uint8_t *block = JS_GetUint8Array(ctx, &size, argv[0]);
  if (!block) return JS_HasException(ctx) ? JS_EXCEPTION : JS_ThrowTypeError(ctx, "the block of arguments is empty");
  switch (magic) {
#define CASE(name, rust, count) \
  case INDEX_##name: \
    return JS_NewInt32(ctx, tenon_##rust(block, size NUMBERS##count));
    FUNCTIONS(CASE)
  default:
    return JS_UNDEFINED;
  }
}

const JSCFunctionListEntry crypto_functions[CRYPTO_FUNCTIONS] = {
#define ENTRY(name, rust, count) JS_CFUNC_MAGIC_DEF(#name, count + 1, call, INDEX_##name),
  FUNCTIONS(ENTRY)
};
