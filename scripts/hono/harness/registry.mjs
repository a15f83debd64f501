// The registry of suites, tests and hooks, with the functions that declare them as vitest does, and what runs them.

const newSuite = (name, parent, mode) => ({
  name,
  parent,
  mode,
  entries: [],
  hooks: { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] },
});

const root = newSuite("", undefined, "run");
let current = root;

/** The longest that a test or a hook may take, in milliseconds; vitest's default. */
const longest = 5000;

const declareSuite = (mode) => (name, first, second) => {
  const body = typeof first === "function" ? first : second;
  const suite = { ...newSuite(String(name?.name ?? name), current, mode), body };
  current.entries.push(suite);
};

/** Calls the bodies of all suites, one after another, because a suite may be asynchronous. */
export async function collect(suite = root) {
  for (const each of suite.entries) {
    if (!("entries" in each)) continue;
    current = each;
    const error = await errorOf(() => each.body?.());
    if (error !== undefined)
      each.entries.push({ name: "(the suite itself)", suite: each, mode: "run", body: () => fail(error) });
    await collect(each);
  }
  current = root;
}

function fail(message) {
  throw new Error(message);
}

const declareTest = (mode) => (name, first, second) => {
  const body = typeof first === "function" ? first : second;
  current.entries.push({ name: String(name?.name ?? name), suite: current, body, mode });
};

/** Adds the variants `skip`, `each` … to a function that declares. */
function withVariants(declare) {
  const run = declare("run");
  return Object.assign(run, {
    skip: declare("skip"),
    todo: declare("skip"),
    concurrent: run,
    sequential: run,
    each: eachOf(run),
    runIf: (condition) => declare(condition ? "run" : "skip"),
    skipIf: (condition) => declare(condition ? "skip" : "run"),
  });
}

export const describe = withVariants(declareSuite);
export const test = withVariants(declareTest);
export const it = test;

const declareHook = (kind) => (body) => {
  current.hooks[kind].push(body);
};

export const beforeAll = declareHook("beforeAll");
export const afterAll = declareHook("afterAll");
export const beforeEach = declareHook("beforeEach");
export const afterEach = declareHook("afterEach");

/** Declares one test for each case: of an array, or of the rows of a template with a head. */
function eachOf(declare) {
  return (first, ...values) => {
    const cases = "raw" in first ? rowsOf(first[0], values) : first;
    return (name, body, ...rest) => {
      for (const [index, given] of cases.entries()) {
        const parameters = Array.isArray(given) ? given : [given];
        declare(nameOf(name, parameters, index), (context) => body(...parameters, context), ...rest);
      }
    };
  };
}

function rowsOf(head, values) {
  const keys = head.split("|").map((key) => key.trim());
  const rows = [];
  for (let at = 0; at < values.length; at += keys.length)
    rows.push(Object.fromEntries(keys.map((key, index) => [key, values[at + index]])));
  return rows;
}

/** Puts the parameters into a name: `%s`, `%d`, `%i`, `%j`, `%o` in their order, `%#` the index, and `$key` of an object. */
function nameOf(name, parameters, index) {
  const left = [...parameters];
  return String(name)
    .replace(/%[sdijo#%]/g, (sign) => {
      if (sign === "%%") return "%";
      if (sign === "%#") return index;
      const value = left.shift();
      return sign === "%j" || sign === "%o" || typeof value === "object" ? shown(value) : String(value);
    })
    .replace(/\$(\w+)/g, (sign, key) => (Object(parameters[0])[key] === undefined ? sign : shown(parameters[0][key])));
}

function shown(value) {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

function* testsIn(suite, path, isSkipped) {
  for (const each of suite.entries) {
    const name = [...path, each.name];
    const skipped = isSkipped || each.mode === "skip";
    if ("entries" in each) yield* testsIn(each, name, skipped);
    else yield { ...each, ownName: each.name, name: name.join(" > "), isSkipped: skipped };
  }
}

/** All tests in the order of their declaration; of those with one name, the second is called `name (2)`. */
function allTests() {
  const seen = new Map();
  return [...testsIn(root, [], false)].map((test) => {
    const count = (seen.get(test.name) ?? 0) + 1;
    seen.set(test.name, count);
    return count === 1 ? test : { ...test, name: `${test.name} (${count})` };
  });
}

/** The names of all tests. */
export const listed = () => allTests().map(({ name }) => name);

/** Runs all tests, or the one at an index, and returns the result of each. */
export async function runTests(only) {
  const results = [];
  /** Suites whose `beforeAll` ran, outermost first. */
  const open = [];
  for (const [index, each] of allTests().entries()) {
    if (only !== undefined && only !== index) continue;
    const { name, suite, body, isSkipped } = each;
    if (isSkipped || body === undefined) {
      results.push({ name, verdict: "skipped" });
      continue;
    }
    const error = await errorOf(async () => {
      await enter(open, suite);
      await runTest(each);
    });
    if (error === skipping) results.push({ name, verdict: "skipped" });
    else results.push(error === undefined ? { name, verdict: "passed" } : { name, verdict: "failed", error });
  }
  await errorOf(() => enter(open, undefined));
  return results;
}

async function errorOf(action) {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (error === skipping) return error;
    const text = `${error?.name ?? "Error"}: ${error?.message ?? error}`;
    return text.replace(/\s+/g, " ").slice(0, 400);
  }
}

/** Thrown by a test that skips itself. */
const skipping = Symbol("skip");

const skip = () => {
  throw skipping;
};

/** A suite as tests see it: the file itself is none of them. */
const shownSuite = (suite) => (suite === root ? undefined : { name: suite.name, suite: shownSuite(suite.parent) });

const chainOf = (suite) => (suite === undefined ? [] : [...chainOf(suite.parent), suite]);

/** Leaves the suites that a test is not in, and enters the others. */
async function enter(open, suite) {
  const chain = chainOf(suite);
  while (open.length > 0 && !chain.includes(open.at(-1)))
    for (const hook of open.pop().hooks.afterAll) await inTime(hook);
  for (const each of chain) {
    if (open.includes(each)) continue;
    open.push(each);
    for (const hook of each.hooks.beforeAll) await inTime(hook);
  }
}

async function runTest({ suite, body, ownName }) {
  const chain = chainOf(suite);
  const context = { task: { name: ownName, suite: shownSuite(suite) }, skip };
  const cleanups = [];
  try {
    for (const { hooks } of chain)
      for (const hook of hooks.beforeEach) {
        const cleanup = await inTime(hook, context);
        if (typeof cleanup === "function") cleanups.push(cleanup);
      }
    await inTime(body, context);
  } finally {
    for (const { hooks } of [...chain].reverse())
      for (const hook of [...hooks.afterEach].reverse()) await inTime(hook, context);
    for (const cleanup of cleanups.reverse()) await inTime(cleanup);
  }
}

// Tests may replace the timers.
const { setTimeout, clearTimeout } = globalThis;

async function inTime(body, context) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`takes longer than ${longest} ms`)), longest);
  });
  try {
    return await Promise.race([body(context), late]);
  } finally {
    clearTimeout(timer);
  }
}
