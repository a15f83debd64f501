// The module "tenon:engine", by which JavaScript of ours reaches native functions. It is the only one that a bundle can import.
#include <string.h>

#include "async-context.h"
#include "calls.h"
#include "class-name.h"
#include "compress.h"
#include "console.h"
#include "crypto.h"
#include "digest.h"
#include "encoding.h"
#include "engine.h"
#include "environment.h"
#include "evaluate.h"
#include "isolate.h"
#include "json-writer.h"
#include "linked.h"
#include "performance.h"
#include "random.h"
#include "text.h"
#include "url.h"

static const struct {
  const JSCFunctionListEntry *functions;
  int count;
} topics[] = {
    {async_context_functions, ASYNC_CONTEXT_FUNCTIONS},
    {call_functions, CALL_FUNCTIONS},
    {call_stream_functions, CALL_STREAM_FUNCTIONS},
    {class_name_functions, CLASS_NAME_FUNCTIONS},
    {console_functions, CONSOLE_FUNCTIONS},
    {digest_functions, DIGEST_FUNCTIONS},
    {environment_functions, ENVIRONMENT_FUNCTIONS},
    {evaluate_functions, EVALUATE_FUNCTIONS},
    {isolate_functions, ISOLATE_FUNCTIONS},
    {json_writer_functions, JSON_WRITER_FUNCTIONS},
    {linked_functions, LINKED_FUNCTIONS},
    {performance_functions, PERFORMANCE_FUNCTIONS},
    {random_functions, RANDOM_FUNCTIONS},
    {text_functions, TEXT_FUNCTIONS},
    {url_functions, URL_FUNCTIONS},
#ifdef TENON_FULL
    {compress_functions, COMPRESS_FUNCTIONS},
    {crypto_functions, CRYPTO_FUNCTIONS},
    {encoding_functions, ENCODING_FUNCTIONS},
#endif
};

static int define(JSContext *ctx, JSModuleDef *module) {
  for (size_t topic = 0; topic < LENGTH(topics); topic++) {
    if (JS_SetModuleExportList(ctx, module, topics[topic].functions, topics[topic].count)) return -1;
  }
  return 0;
}

JSModuleDef *load_module(JSContext *ctx, const char *name, void *opaque) {
  if (is_given_module(name)) return load_given_module(ctx, name);
  if (strcmp(name, "tenon:engine") != 0) {
    JS_ThrowReferenceError(ctx, "%s cannot be imported: a handler is one module", name);
    return NULL;
  }
  JSModuleDef *module = JS_NewCModule(ctx, name, define);
  if (!module) return NULL;
  for (size_t topic = 0; topic < LENGTH(topics); topic++) {
    if (JS_AddModuleExportList(ctx, module, topics[topic].functions, topics[topic].count)) return NULL;
  }
  return module;
}
