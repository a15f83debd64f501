// Functions that write JSON with declared members only (patches/53-write-declared.patch).
#include "json-writer.h"

#include "engine.h"

static JSClassID plan_class;

static void free_plan(JSRuntime *rt, JSValueConst value) {
  JSWritePlan *plan = JS_GetOpaque(value, plan_class);
  if (plan != NULL) JS_FreeWritePlan(rt, plan);
}

static const JSClassDef plan_definition = {"WritePlan", .finalizer = free_plan};

static JSValue write_json(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv, int magic, JSValue *data) {
  return JS_WriteByPlan(ctx, JS_GetOpaque(data[0], plan_class), argv[0]);
}

// jsonWriter(shape): a function that writes a value, or returns undefined for one that is not plain data.
static JSValue json_writer(JSContext *ctx, JSValueConst this, int argc, JSValueConst *argv) {
  JSRuntime *rt = JS_GetRuntime(ctx);
  JS_NewClassID(rt, &plan_class);
  if (!JS_IsRegisteredClass(rt, plan_class) && JS_NewClass(rt, plan_class, &plan_definition) < 0) return JS_EXCEPTION;
  JSValue object = JS_NewObjectProtoClass(ctx, JS_NULL, plan_class);
  if (JS_IsException(object)) return object;
  JSWritePlan *plan = JS_NewWritePlan(ctx, argv[0]);
  JSValue writer = JS_EXCEPTION;
  if (plan != NULL) {
    JS_SetOpaque(object, plan);
    writer = JS_NewCFunctionData(ctx, write_json, 1, 0, 1, (JSValueConst *)&object);
  }
  JS_FreeValue(ctx, object);
  return writer;
}

const JSCFunctionListEntry json_writer_functions[JSON_WRITER_FUNCTIONS] = {
    JS_CFUNC_DEF("jsonWriter", 1, json_writer),
};
