import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bundle } from "./load.ts";
import { routeComments } from "./route-comments.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tenon-comments-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SDK = "const get = (...of: unknown[]) => of; const routes = (of: unknown) => of;";

/** The summaries found in the given files, of which `handler.ts` is the handler module. */
function summaries(files: Record<string, string>): Record<string, string> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const found = routeComments(bundle(join(folder, "handler.ts")).graph);
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
  /** Unknown key. */
  [\`\${of}8\`]: get("/8"),
} as const satisfies object);`;
  expect(summaries({ "handler.ts": handler })).toEqual({
    one: "Grüße 😀.",
    "thr-ee": "Three.",
    five: "Five.",
    six: "Computed.",
    seven: "Template key.",
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
const group = { inner, "own": { /** Own. */ own: get("/own") } };
const users = { group };
class Class {
  /** Class member. */
  static list = get("/list");
  /** Not this. */
  other = get("/other");
  static made() { return { /** Made. */ made: get("/made") }; }
}
const itself = itself.itself;
export default routes({
  ...users.group.inner, ...users["group"].own, ...all.more, ...all.more.map, ...Class.made(), ...itself.itself.deeper,
  list: Class.list,
  other: Class.other,
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
  expect(
    summaries({ ...files, "handler.ts": `import * as all from "./more.ts"; export default <unknown>all;` }),
  ).toEqual({
    exported: "Exported.",
  });
});

it("follows both sides of a condition, of which the first counts", () => {
  const handler = `${SDK}
const on = SDK as boolean;
const one = { /** One. */ one: get("/1") };
const other = { /** Other. */ one: get("/1"), /** Other's two. */ two: get("/2") };
export default <any>routes(<object>{
  /** Before. */ five: get("/5"),
  ...(on ? one : other),
  ...(on ? { three: get("/3") } : { /** Three. */ three: get("/3"), five: get("/5") }),
  ...(on && { /** Four. */ four: get("/4") }),
  ...(on ? {} : { six: get("/6") }),
});`;
  expect(summaries({ "handler.ts": handler })).toEqual({
    one: "One.",
    two: "Other's two.",
    three: "Three.",
    four: "Four.",
    five: "Before.",
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
  ...arrow("/2"), ...expression(), ...imported(), ...made.member(), ...another(),
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
export const member = (one: object, { two }: { two: object }) => ({ ...one, ...two, /** Member. */ member: get("/member") });
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
const group = (...of: unknown[]) => of;
export async function createApp(log: (text: string) => void) {
  log("created");
  function inner() { return get("/inner"); }
  const app = routes({
    users: crud("/users"), items: crud("/items", { /** Given. */ given: get("") }), made: Kit.make(),
    /** Local function. */ inner: inner(), ...both(), itself: itself(),
  });
  return app;
}
const both = () => Object.assign({}, { /** Assigned. */ assigned: get("/assigned") });
const itself = (): unknown => itself();
export default await createApp(console.log);`,
    "crud.ts": `${SDK}
const group = (...of: unknown[]) => of;
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
const circle = { ...circle, ...itself() };
const itself = (): object => itself();
export default routes({
  list, create, own, remove, replace, find: made.find, one: all.one, two: all.two, three: all.three,
  circle: circle.circle, itself: itself().itself,
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
const gone = await import(String(SDK));
export default routes({ ...users, one, ...(await import("./users.ts")).more, ...gone.users, ...(await import("./users.ts")) });`,
    "users.ts": `${SDK}
export const users = { /** List. */ list: get("/") };
/** One. */
export const one = get("/1");
export const more = { /** Two. */ two: get("/2") };`,
  };
  expect(summaries(files)).toEqual({ list: "List.", one: "One.", two: "Two." });
});

it("takes no option of an app for a route", () => {
  const options = "{ prefix: '/x', /** Not this. */ use: [], /** Nor this. */ onError: undefined }";
  const definitions = '{ /** Uses. */ use: get("/use"), prefix: get("/prefix"), onError: get("/error") }';
  const apps = [
    `${SDK} export default routes(${definitions}, ${options});`,
    `import { routes as made, get } from "./sdk.ts"; export default made(${definitions}, ${options});`,
    `import * as sdk from "./sdk.ts"; const { get } = sdk; export default sdk.routes(${definitions}, ${options});`,
  ];
  const sdk = "export const get = (...of: unknown[]) => of; export const routes = (...of: unknown[]) => of;";
  for (const app of apps) expect(summaries({ "handler.ts": app, "sdk.ts": sdk })).toEqual({ use: "Uses." });
});

it("follows no function that does more, and takes no parameter or variable for what the module calls so", () => {
  const files = {
    "handler.ts": `${SDK}
const users = { /** Not this. */ one: get("/1") };
function parameter(users: object) { return { ...users }; }
function variable() { const { users } = other; return { ...users }; }
function more() { if (users) return {}; return { /** Nor this. */ two: get("/2") }; }
function nothing() {}
export default routes({ ...parameter(1), ...variable(), ...more(), ...nothing(), ...itself() });
function itself() { return { ...itself(), /** Once. */ three: get("/3") }; }`,
  };
  expect(summaries(files)).toEqual({ three: "Once." });
});

it("takes the last of two routes of one name, and is not caught in a circle", () => {
  const files = {
    "handler.ts": `${SDK}

import { b } from "./b.ts";
export const a = { /** First. */ one: get("/"), /** Gone. */ two: get("/2"), ...b };
export default routes({ ...a, two: get("/2") });`,
    "b.ts": `import { a } from "./handler.ts"; export const b = { ...a };`,
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
  expect(summaries({ "handler.ts": `export const x = 1;` })).toEqual({});
});

it("names the place of a syntax error", () => {
  expect(() => summaries({ "handler.ts": "export default {\n  oops(\n};" })).toThrow(/handler.ts:3:1: /);
});

it("follows groups, wherever they are declared, and names their routes behind them", () => {
  const files = {
    "handler.ts": `${SDK}
const group = (...of: unknown[]) => of;
import { posts } from "./posts.ts";
import * as more from "./more.ts";
/** The group's own. */
const users = group("/users", { /** List users. */ list: get(""), posts });
export default routes({
  users, posts,
  inline: group("/inline", { /** In a group. */ one: get("/"), deep: group("/deep", { /** Deeper. */ two: get("/") }) }),
  ...more,
  circle: more.circle,
  made: group("/made", ({ get }) => ({ /** By a function. */ three: get("/") }), {}),
  called: group("/called", definitions),
});
function definitions({ get }: any) { return { /** By a function with a name. */ four: get("/") }; }`,
    "posts.ts": `${SDK}
const group = (...of: unknown[]) => of;
const definitions = { /** List posts. */ list: get("") };
export const posts = group("/posts", { ...definitions, /** Options are no routes. */ add: get("", { /** No. */ path: 1 }, 2) }, { use: [] });`,
    "more.ts": `${SDK}
const group = (...of: unknown[]) => of;
export const named = group("/named", { /** Of a namespace. */ one: get("") });
export const circle: unknown = group("/circle", { circle });`,
  };
  const found = summaries(files);
  expect(found).toMatchObject({
    "users.list": "List users.",
    "users.posts.list": "List posts.",
    "posts.list": "List posts.",
    "posts.add": "Options are no routes.",
    "inline.one": "In a group.",
    "inline.deep.two": "Deeper.",
    "made.three": "By a function.",
    "named.one": "Of a namespace.",
    "called.four": "By a function with a name.",
  });
});
