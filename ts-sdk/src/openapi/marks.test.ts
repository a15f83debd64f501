import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle, evaluate } from "./load.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-comments-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Routes, groups and an app, as far as comments need them. */
const SDK = `const get = (path: string) => ({ method: "GET", paths: [path], options: {}, handler() {} });
const group = (_path: string, all: any) => ({ all: typeof all === "function" ? all({ get }) : all });
const routes = (all: any) => ({ [Symbol.for("tenon.app")]: true, operations: operationsOf(all) });
const operationsOf = (all: any, before = ""): any[] => Object.entries<any>(all).flatMap(([key, each]) =>
  each.handler ? { ...each, name: before + key } : each.all ? operationsOf(each.all, before + key + ".") : []);`;

/** The summaries found in the given files, of which `handler.ts` is the handler module. */
function summaries(files: Record<string, string>): Record<string, string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const file = join(folder, "handler.ts");
  const { app, marked } = evaluate(file, bundle(file));
  const found = marked.commentsOf(app);
  return Object.fromEntries([...found].map(([name, { summary }]) => [name, summary]));
}

it("reads the comment right above a key", () => {
  const handler = `${SDK}
/** App route. */
export default routes({
  /** Grüße 😀. */
  one: get("/"),
  two: get("/2"), /** Three. */ "thr-ee": get("/3"),
  /* Not a doc comment. */
  four: get("/4"),
  /** Old. */
  /** Five. */
  // why
  five: get("/5"),
  /** Computed. */
  ["six"]: get("/6"),
  /** Template key. */
  [\`seven\`]: get("/7"),
  /** Key of the run. */
  [\`\${String(0)}8\`]: get("/8"),
} as const satisfies object);`;
  expect(summaries({ "handler.ts": handler })).toEqual({
    one: "Grüße 😀.",
    "thr-ee": "Three.",
    five: "Five.",
    six: "Computed.",
    seven: "Template key.",
    "08": "Key of the run.",
  });
});

it("follows names, spreads, imports and re-exports", () => {
  const files = {
    "handler.ts": `${SDK}

import { users } from "./barrel";
import * as items from "./items.ts";
import * as more from "./more.ts";
import single, { renamed as other } from "./single.js";

/** Local. */
const local = get("/local");
export const app = routes({ ...more, ...users, ...items.all, list: items.list, local, single, /** Nearer. */ other });
export { app as default };`,
    "barrel/index.ts": `export * from "../items.ts"; export { everyone as users } from "../users.ts";`,
    "more.ts": `${SDK}

export * from "./most.ts";
/** Exported. */
export const exported = get("/exported");`,
    "most.ts": `${SDK}
/** Exported by way of another. */
export const passed = get("/passed");`,
    "users.ts": `${SDK}
const hidden = {
  /** Get a user. */
  getUser: get("/users/{id}"),
};
export const everyone = { ...hidden, /** Add a user. */ addUser: get("/users") };`,
    "items.ts": `${SDK}
/** List items. */
export const list = get("/items");
const map = { /** Of a map. */ find: get("/find") };
export const all = { find: map.find };`,
    "single.ts": `${SDK}
/** By default. */
export default get("/single");
const own = get("/own");

export { own as renamed };`,
  };
  expect(summaries(files)).toEqual({
    exported: "Exported.",
    passed: "Exported by way of another.",
    getUser: "Get a user.",
    addUser: "Add a user.",
    find: "Of a map.",
    list: "List items.",
    local: "Local.",
    single: "By default.",
    other: "Nearer.",
  });
});

it("follows members of members, of namespaces and of classes", () => {
  const files = {
    "handler.ts": `${SDK}

import * as all from "./all.ts";

const inner = { /** Inner. */ inner: get("/inner") };
const both = { inner, "own": { /** Own. */ own: get("/own") } };
const users = { both };
class Class {
  /** Class member. */
  static list = get("/list");
  /** Not this. */
  other = get("/other");
  static made() { return { /** Made. */ made: get("/made") }; }
}
export default routes({
  ...users.both.inner, ...users["both"].own, ...all.more, ...all.more.map, ...Class.made(),
  list: Class.list,
  last: all.more.map.find,
});`,
    "all.ts": `export * as more from "./more.ts";`,
    "more.ts": `${SDK}
/** Exported. */
export const exported = get("/exported");
export const map = { /** Found. */ find: get("/find") };`,
  };
  expect(summaries(files)).toEqual({
    inner: "Inner.",
    own: "Own.",
    exported: "Exported.",
    find: "Found.",
    made: "Made.",
    list: "Class member.",
    last: "Found.",
  });
});

it("takes the side of a condition that the run takes", () => {
  const handler = `${SDK}
const on = String(SDK) !== "";
const one = { /** One. */ one: get("/1") };
const other = { /** Other. */ one: get("/1"), /** Other's two. */ two: get("/2") };
export default <any>routes(<object>{
  ...(on ? one : other),
  ...(on ? { /** Three. */ three: get("/3") } : { three: get("/3") }),
  ...(on && { /** Four. */ four: get("/4") }),
  ...(on ? {} : { six: get("/6") }),
  /** Above a condition. */
  five: on ? get("/5") : get("/other"),
});`.replace("String(SDK)", "String(get)");
  expect(summaries({ "handler.ts": handler })).toEqual({
    one: "One.",
    three: "Three.",
    four: "Four.",
    five: "Above a condition.",
  });
});

it("follows calls of functions that return an object", () => {
  const files = {
    "handler.ts": `${SDK}

import another, * as made from "./made.ts";
import { imported } from "./made.ts";

function declared() { return { /** Declared. */ declared: get("/1") }; }
const arrow = (path: string) => ({ /** Arrow. */ arrow: get(path), ...declared() } as const);
const expression = () => ({ /** Expression. */ expression: get("/3") });
export default routes({
  ...arrow("/2"), ...expression(), ...imported(), ...made.member({}, {}), ...another(),
  ...(() => ({ /** At once. */ atOnce: get("/") }))(),
  ...wrapped({ /** Given. */ given: get("/given") }),
});
function wrapped(given: object) { return { ...given, /** Added. */ added: get("/added") }; }`,
    "made.ts": `${SDK}
const one = { /** Of the module. */ one: get("/one"), /** Hidden. */ hidden: get("/hidden") };
export function imported() {
  /** Above a variable. */
  const near = get("/near");
  return { ...one, near };
}
export const member = (one: object, { two }: { two?: object }) => ({ ...one, ...two, /** Member. */ member: get("/member") });
const two = { /** Not this. */ two: get("/two") };
export default function () { return { /** By default. */ other: get("/other") }; }`,
  };
  expect(summaries(files)).toEqual({
    arrow: "Arrow.",
    declared: "Declared.",
    expression: "Expression.",
    one: "Of the module.",
    hidden: "Hidden.",
    near: "Above a variable.",
    member: "Member.",
    other: "By default.",
    atOnce: "At once.",
    given: "Given.",
    added: "Added.",
  });
});

it("follows functions that return an app or a group", () => {
  const files = {
    "handler.ts": `${SDK}
import { crud, Kit } from "./crud.ts";
export async function createApp(log: (text: string) => void) {
  log("");
  function inner() { return get("/inner"); }
  const app = routes({
    users: crud("/users"), items: crud("/items", { /** Given. */ given: get("") }), made: Kit.make(),
    /** Local function. */ inner: inner(), ...both(),
  });
  return app;
}
const both = () => Object.assign({}, { /** Assigned. */ assigned: get("/assigned") });
export default await createApp(console.log);`,
    "crud.ts": `${SDK}
export const crud = (path: string, more: object = {}) => group(path, { /** List all. */ list: get(""), ...more });
export class Kit { static make() { const made = group("/made", { /** Made. */ one: get("/1") }); return made; } }`,
  };
  expect(summaries(files)).toEqual({
    "users.list": "List all.",
    "items.list": "List all.",
    "items.given": "Given.",
    "made.one": "Made.",
    inner: "Local function.",
    assigned: "Assigned.",
  });
});

it("follows members of spread objects and of calls, also where they are taken apart", () => {
  const files = {
    "handler.ts": `${SDK}
import { users } from "./users.ts";
const made = users("/users");
export const { list, add: create, own = get("/own"), ...rest } = made;
/** Not of its members. */
const { /** Near. */ remove, replace } = { remove: get("/remove"), replace: get("/replace") };
const base = { /** First. */ one: get("/1"), /** Two. */ two: get("/2"), three: get("/3") };
const all = { ...base, /** Last. */ one: get("/1"), ...{ /** Three. */ three: get("/3") } };
export default routes({
  list, create, own, remove, replace, find: made.find, one: all.one, two: all.two, three: all.three,
});`,
    "users.ts": `${SDK}
export function users(path: string) {
  const more = { /** Find. */ find: get(path) };
  return { /** List. */ list: get(path), /** Add. */ add: get(path), ...more };
}`,
  };
  expect(summaries(files)).toEqual({
    list: "List.",
    create: "Add.",
    remove: "Near.",
    find: "Find.",
    one: "Last.",
    two: "Two.",
    three: "Three.",
  });
});

it("follows imports at run time", () => {
  const files = {
    "handler.ts": `${SDK}
const { users, one } = await import("./users.ts");
export default routes({ ...users, one, ...(await import("./users.ts")).more });`,
    "users.ts": `${SDK}
export const users = { /** List. */ list: get("/") };
/** One. */
export const one = get("/1");
export const more = { /** Two. */ two: get("/2") };`,
  };
  expect(summaries(files)).toEqual({ list: "List.", one: "One.", two: "Two." });
});

it("reads no member of a proxy", () => {
  const handler = `${SDK}
const strict = () => new Proxy({}, { get: (_, name) => { throw new Error(String(name)); } });
/** The environment. */
const env = strict();
export default routes({ /** One. */ one: get("/1"), ...(env ? {} : { two: get("/2") }) });`;
  expect(summaries({ "handler.ts": handler })).toEqual({ one: "One." });
});

it("takes no option for a route", () => {
  const handler = `${SDK}
const options = { prefix: "/x", /** Not this. */ use: String(), /** Nor this. */ onError: undefined };
export default routes({ /** Uses. */ use: get("/use"), prefix: get(options.prefix), onError: get("/error") });`;
  expect(summaries({ "handler.ts": handler })).toEqual({ use: "Uses." });
});

it("follows functions that do more, with parameters and variables of the module's names", () => {
  const files = {
    "handler.ts": `${SDK}
const users = { /** Not this. */ one: get("/1") };
const other = { users: { /** Variable. */ four: get("/4") } };
function parameter(users: object) { return { ...users }; }
function variable() { const { users } = other; return { ...users }; }
function more() { if (!users) return {}; return { /** More. */ two: get("/2") }; }
function inLoop() { const all: any = {}; for (const path of ["a", "b"]) { /** Each. */ const each = get(path); all[path] = each; } return all; }
export default routes({ ...parameter({ one: get("/1") }), ...variable(), ...more(), ...inLoop() });`,
  };
  expect(summaries(files)).toEqual({ four: "Variable.", two: "More.", a: "Each.", b: "Each." });
});

it("takes the last of two routes of one name", () => {
  const files = {
    "handler.ts": `${SDK}

const a = { /** First. */ one: get("/"), /** Gone. */ two: get("/2") };
export default routes({ ...a, two: get("/2") });`,
  };
  expect(summaries(files)).toEqual({ one: "First." });
});

it("passes by data that the sources import", () => {
  const files = {
    "handler.ts": `${SDK}
import config, { path } from "./config.json";
import * as all from "./config.json";
import text from "./path.txt";

/** Above a path. */
const given = get(path);
export default routes({ given, /** From a text. */ read: get(text), ...all.more }, { prefix: config.prefix });`,
    "config.json": '{ "prefix": "/api", "path": "/given", "more": {} }',
    "path.txt": "/ a { text",
  };
  expect(summaries(files)).toEqual({ given: "Above a path.", read: "From a text." });
});

it("finds nothing where there is nothing to read", () => {
  expect(summaries({ "handler.ts": `${SDK} export default routes(Object.fromEntries([]));` })).toEqual({});
});

it("names the place of a syntax error", () => {
  expect(() => summaries({ "handler.ts": "export default {\n  oops(\n};" })).toThrow(/handler.ts:3:1: /);
});

it("follows groups, wherever they are declared, and names their routes behind them", () => {
  const files = {
    "handler.ts": `${SDK}
import { posts } from "./posts.ts";
import * as more from "./more.ts";
/** The group's own. */
const users = group("/users", { /** List users. */ list: get(""), posts });
export default routes({
  users, posts,
  inline: group("/inline", { /** In a group. */ one: get("/"), deep: group("/deep", { /** Deeper. */ two: get("/") }) }),
  ...more,
  made: group("/made", ({ get }) => ({ /** By a function. */ three: get("/") })),
  called: group("/called", definitions),
});
function definitions({ get }: any) { return { /** By a function with a name. */ four: get("/") }; }`,
    "posts.ts": `${SDK}
const definitions = { /** List posts. */ list: get("") };
export const posts = group("/posts", { ...definitions, /** Add one. */ add: get("") });`,
    "more.ts": `${SDK}
export const named = group("/named", { /** Of a namespace. */ one: get("") });`,
  };
  const found = summaries(files);
  expect(found).toMatchObject({
    "users.list": "List users.",
    "users.posts.list": "List posts.",
    "posts.list": "List posts.",
    "posts.add": "Add one.",
    "inline.one": "In a group.",
    "inline.deep.two": "Deeper.",
    "made.three": "By a function.",
    "named.one": "Of a namespace.",
    "called.four": "By a function with a name.",
  });
});

it("tells routes of one handler apart, also where a group copies them", () => {
  const sdk = JSON.stringify(fileURLToPath(new URL("../index.ts", import.meta.url)));
  const handler = `import { field, get, group, ok, post, routes } from ${sdk};
const todo = () => ok({});
/** Shared. */
const shared = get("/shared", todo);
export default routes({
  users: group("/users", { /** Users. */ list: get("", todo), /** Add a user. */ add: post("", todo) }),
  items: group("/items", { /** Items. */ list: get("", todo), shared }),
  user: group("/users/{id}", { /** One. */ one: get("", todo), /** Two. */ two: get("/two", todo) }, { path: { id: field.u32() } }),
  /** Nearer. */
  other: shared,
});`;
  expect(summaries({ "handler.ts": handler })).toEqual({
    "users.list": "Users.",
    "users.add": "Add a user.",
    "items.list": "Items.",
    "items.shared": "Shared.",
    "user.one": "One.",
    "user.two": "Two.",
    other: "Nearer.",
  });
});
