/** `reportError` (HTML Standard, section 8.1.4.3). */
import { defineMethods } from "../interface.ts";
import { required } from "../web-idl.ts";
import { reportException } from "./report.ts";

defineMethods(globalThis, {
  reportError(...given: [exception: unknown]): void {
    required("reportError", given, 1);
    reportException(given[0]);
  },
});
