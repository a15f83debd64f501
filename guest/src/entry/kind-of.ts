/** The SDK has it as well, for its loader. */
export { kindOf } from "@tenon/sdk/kind-of";
