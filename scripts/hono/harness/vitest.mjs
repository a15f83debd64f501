// The imports of Hono's tests from `vitest`, and the globals of its configuration.
import { clearAllMocks, fn, isMockFunction, resetAllMocks, restoreAllMocks, spyOn } from "@vitest/spy";
import { expect } from "./expect.mjs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "./registry.mjs";

const RealDate = globalThis.Date;
let now;

/** A `Date` whose present stands still. The tests need no more of the fake timers. */
class FakeDate extends RealDate {
  constructor(...values) {
    if (values.length === 0) super(now);
    else super(...values);
  }
  static now() {
    return now;
  }
}

/** The descriptors of replaced globals; undefined for those that were not there. */
const replaced = new Map();
const environment = new Map();
const variables = () => globalThis.process?.env ?? {};

export const vi = {
  fn,
  spyOn,
  isMockFunction,
  clearAllMocks,
  resetAllMocks,
  restoreAllMocks,
  mocked: (value) => value,
  useFakeTimers() {
    now = RealDate.now();
    globalThis.Date = FakeDate;
    return vi;
  },
  setSystemTime(time) {
    now = new RealDate(time).getTime();
    return vi;
  },
  useRealTimers() {
    globalThis.Date = RealDate;
    return vi;
  },
  stubGlobal(name, value) {
    if (!replaced.has(name)) replaced.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { value, configurable: true, enumerable: true, writable: true });
    return vi;
  },
  unstubAllGlobals() {
    for (const [name, descriptor] of replaced) {
      if (descriptor === undefined) delete globalThis[name];
      else Object.defineProperty(globalThis, name, descriptor);
    }
    replaced.clear();
    return vi;
  },
  stubEnv(name, value) {
    if (!environment.has(name)) environment.set(name, variables()[name]);
    variables()[name] = value;
    return vi;
  },
  unstubAllEnvs() {
    for (const [name, value] of environment) {
      if (value === undefined) delete variables()[name];
      else variables()[name] = value;
    }
    environment.clear();
    return vi;
  },
};

/** Types were checked by the compiler, so these do nothing. */
export const expectTypeOf = () => anything;
export const assertType = () => {};
const anything = new Proxy(() => anything, { get: () => anything });

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test };

const globals = {
  afterAll,
  afterEach,
  assertType,
  beforeAll,
  beforeEach,
  describe,
  expect,
  expectTypeOf,
  it,
  test,
  vi,
};
Object.assign(globalThis, globals);
