/** The SDK's writer of types. A packed `tenon` has it in this file, because it has no SDK (`scripts/prepack.mjs`). @internal */
export { inComment, type JsonSchema, MAX_TYPE_DEPTH, schemaType } from "@tenon/sdk/schema-type";
