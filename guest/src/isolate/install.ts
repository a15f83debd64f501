/**
 * The isolate of code mode. It is opened while the component is built, so the snapshot has it with its program already evaluated, and a
 * request pays for none of that.
 */
import { exchangeIsolate, hmac, isolateUsage, openIsolate } from "tenon:engine";
import program from "tenon-isolate:program";
import { isolateKey } from "@tenon/sdk/abi";
import type { Isolate, OpenIsolate } from "@tenon/sdk/code-mode";

const { Object } = globalThis;

/** True while the open isolate has run no program. */
let isFresh = true;
openIsolate(program);

const opened: OpenIsolate = {
  exchange: exchangeIsolate,
  usage: isolateUsage,
};
const isolate: Isolate = {
  open() {
    if (!isFresh) openIsolate(program);
    isFresh = false;
    return opened;
  },
  hmac: (key, data) => hmac(256, key, data),
};

Object.defineProperty(globalThis, isolateKey, { value: isolate });
