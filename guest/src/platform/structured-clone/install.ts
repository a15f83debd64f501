/** `structuredClone` (HTML Standard, section 2.7.8). */
import { defineMethods } from "../interface.ts";
import { dictionary, required } from "../web-idl.ts";
import { cloneWithTransfer } from "./structured-clone.ts";
import { transferList } from "./transfer-list.ts";

defineMethods(globalThis, {
  structuredClone(value: unknown, options: unknown = null): unknown {
    // biome-ignore lint/complexity/noArguments: its own length is part of the standard
    required("structuredClone", arguments as unknown as unknown[], 1);
    const { transfer } = dictionary("structuredClone: the second argument", options);
    return cloneWithTransfer(value, transferList("structuredClone: transfer", transfer)).value;
  },
});
