/** The SDK's writer of types. The build puts its code here, because the package has no SDK (`scripts/inline-sdk.mjs`). @internal */
export { inComment, type JsonSchema, MAX_TYPE_DEPTH, schemaType } from "@tenon/sdk/schema-type";
