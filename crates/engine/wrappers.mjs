// wrappers.mjs LINKED FOLDER: makes components around a place for the engine, one of each kind:
//
//   bare      imports sdk:core/calls, sdk:core/log and WASI; exports sdk:core/handler and sdk:core/streams. Tenon's runtime calls this one.
//   handler   imports only WASI; exports sdk:core/handler and sdk:core/streams
//   composed  the same, and exports wasi:http/incoming-handler
//
// All have these parts, so that an instance of the component has two core instances:
//
//   engine    core module 0, in whose place `tenon_compose::wrap` puts an engine
//   plug      puts functions into the engine's table (places.txt): those that the component imports, lowered with the engine's memory;
//             and, except in `bare`, the engine's own implementations of calls and log
//
// The last section is a custom one, "tenon-wrapper", with the kind and the version of the places. Other parts of the component may
// follow it (`crates/link`). All kinds have the same number of items of each sort before it, so that what follows one can follow another.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { componentEmbed, componentNew, parse, print } from "@bytecodealliance/jco";
import { imports, leb, section, sections, types } from "./module.mjs";
import { placeOf, userOf, version } from "./places.mjs";
import { packages } from "./wit.mjs";

const [linked, folder] = process.argv.slice(2);
const binary = readFileSync(linked);
const signatures = types(binary);
const imported = imports(binary)
  .map((each) => ({ ...each, ...signatures[each.type], place: placeOf(each), user: userOf(each) }))
  .sort((one, other) => one.place - other.place);

const HANDLER = "sdk:core/handler@0.1.0";
const STREAMS = "sdk:core/streams@0.1.0";
const INCOMING = "wasi:http/incoming-handler@0.2.10";
/** Implementations of the engine's own (crates/bridge/calls), by the interface. */
const OWN = { "sdk:core/calls@0.1.0": "calls", "sdk:core/log@0.1.0": "log" };
const ownName = ({ module, name }) => `${OWN[module]}_${name.replaceAll("-", "_")}`;

/** The engine's functions that can be lifted, by the names that encoders of components expect. */
const I32 = 0x7f;
const exported = {
  ...Object.fromEntries(
    [
      [`${HANDLER}#handle`, 9, 1],
      [`${STREAMS}#takes-bodies`, 0, 1],
      [`${STREAMS}#begin`, 6, 1],
      [`${STREAMS}#piece`, 3, 1],
      [`${STREAMS}#end`, 0, 1],
      [`${STREAMS}#broken`, 0, 1],
      [`${STREAMS}#next`, 0, 1],
      [`${STREAMS}#cancel`, 0, 0],
    ].map(([core, params, results]) => [
      core,
      { core, params: Array(params).fill(I32), results: Array(results).fill(I32) },
    ]),
  ),
  [`${INCOMING}#handle`]: { core: "bridge_handle", params: [I32, I32], results: [] },
};

const numberTypes = { 127: "i32", 126: "i64", 125: "f32", 124: "f64" };
const signature = ({ params, results }) =>
  [
    ...params.map((type) => `(param ${numberTypes[type]})`),
    ...results.map((type) => `(result ${numberTypes[type]})`),
  ].join(" ");
const quoted = (text) => JSON.stringify(text);

const kinds = {
  bare: { lowered: imported.filter(({ user }) => user === "engine"), own: [], lifted: [HANDLER, STREAMS] },
  handler: {
    lowered: imported.filter(({ module }) => !(module in OWN)),
    own: imported.filter(({ module }) => module in OWN),
    lifted: [HANDLER, STREAMS],
  },
};
kinds.composed = { ...kinds.handler, lifted: [HANDLER, STREAMS, INCOMING] };

const made = {};
for (const [kind, parts] of Object.entries(kinds)) made[kind] = await wrapper(parts);
const most = {};
for (const { counts } of Object.values(made))
  for (const [sort, count] of Object.entries(counts)) most[sort] = Math.max(most[sort] ?? 0, count);
for (const [kind, { text, counts }] of Object.entries(made)) {
  const padding = Object.entries(PADS()).flatMap(([sort, pad]) => Array(most[sort] - counts[sort]).fill(pad));
  const component = stripped(Buffer.from(await parse(`(component\n${text}\n${padding.join("\n")}\n)`)));
  const name = "tenon-wrapper";
  const marker = section(0, Buffer.concat([Buffer.from(leb(name.length)), Buffer.from(`${name}${kind} ${version}`)]));
  writeFileSync(join(folder, `${kind}.wasm`), Buffer.concat([component, marker]));
}

/** Items without an effect, by their sorts. */
function PADS() {
  return {
    type: "(type u8)",
    instance: "(instance)",
    func: '(alias export $wasi:cli/environment@0.2.10 "get-environment" (func))',
    component: "(component)",
    coreFunc: '(alias core export $engine "cabi_realloc" (core func))',
  };
}

async function wrapper({ lowered, own, lifted }) {
  // The types, the imports and what is lifted are those that the encoder of components makes for a module with these imports and exports.
  const names = Object.keys(exported).filter((name) => lifted.includes(name.split("#")[0]));
  const module = `(module
${lowered.map((each) => `(import ${quoted(each.module)} ${quoted(each.name)} (func ${signature(each)}))`).join("\n")}
(memory (export "memory") 1)
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable)
${names.map((name) => `(func (export "${name}") ${signature(exported[name])} unreachable)`).join("\n")})`;
  const witSource = `${packages()}
world wrapper {
${[...new Set(lowered.map((each) => each.module))].map((each) => `import ${local(each)};`).join("\n")}
${lifted.map((each) => `export ${local(each)};`).join("\n")}
}`;
  const embedded = await componentEmbed({ binary: await parse(module), witSource, world: "wrapper" });
  const encoded = await print(await componentNew(embedded, []));

  const [typed, rest] = [[], []];
  for (const form of forms(encoded)) {
    const lift = /^\(alias core export \$main "([^"]+#[^"]+)" (.*)\)$/s.exec(form);
    if (lift) rest.push(`(alias core export $engine ${quoted(exported[lift[1]].core)} ${lift[2]})`);
    else if (/^\(type |^\(import |^\(alias export .*\(type /s.test(form)) typed.push(form);
    else if (/^\(func |^\(component |^\(instance |^\(export /s.test(form)) rest.push(form);
  }

  const functions = lowered.flatMap(({ module, name, place, user }) => {
    const [, resource] = /^\[resource-drop\](.*)$/.exec(name) ?? [];
    if (resource) {
      return [
        `(alias export $${module} ${quoted(resource)} (type $dropped-${place}))`,
        `(core func $host-${place} (canon resource.drop $dropped-${place}))`,
      ];
    }
    const realloc = user === "engine" ? "$cabi_realloc" : "$host_realloc";
    return [
      `(alias export $${module} ${quoted(name)} (func $imported-${place}))`,
      `(core func $host-${place} (canon lower (func $imported-${place}) (memory $memory) (realloc ${realloc}) string-encoding=utf8))`,
    ];
  });
  const plugged = [
    ...lowered.map((each) => ({ ...each, from: "host", as: String(each.place) })),
    ...own.map((each) => ({ ...each, from: "engine", as: ownName(each) })),
  ].sort((one, other) => one.place - other.place);
  const engine = [
    ...Object.values(exported).map(({ core, ...rest }) => [core, rest]),
    ...imported.filter(({ module }) => module in OWN).map((each) => [ownName(each), each]),
    ...["cabi_realloc", "host_realloc"].map((name) => [name, { params: Array(4).fill(I32), results: [I32] }]),
  ];
  const all = [
    ...typed,
    `(core module $engine-module
(memory (export "memory") 1)
(table (export "__indirect_function_table") 128 funcref)
${engine.map(([name, type]) => `(func (export ${quoted(name)}) ${signature(type)} unreachable)`).join("\n")})`,
    `(core module $plug-module
(import "engine" "__indirect_function_table" (table 0 funcref))
${plugged.map((each) => `(import ${quoted(each.from)} ${quoted(each.as)} (func ${signature(each)}))`).join("\n")}
${segments(plugged.map(({ place }) => place)).join("\n")})`,
    "(core instance $engine (instantiate $engine-module))",
    '(alias core export $engine "memory" (core memory $memory))',
    '(alias core export $engine "cabi_realloc" (core func $cabi_realloc))',
    '(alias core export $engine "host_realloc" (core func $host_realloc))',
    ...functions,
    `(core instance $host ${lowered.map(({ place }) => `(export "${place}" (func $host-${place}))`).join("\n")})`,
    '(core instance (instantiate $plug-module (with "engine" (instance $engine)) (with "host" (instance $host))))',
    ...rest,
  ];
  return { text: all.join("\n"), counts: countsOf(all) };
}

/** Element segments that put the functions 0, 1, … into these places. */
function segments(places) {
  const runs = [];
  for (const [index, place] of places.entries()) {
    const last = runs.at(-1);
    if (last && last.place + last.functions.length === place) last.functions.push(index);
    else runs.push({ place, functions: [index] });
  }
  return runs.map(({ place, functions }) => `(elem (i32.const ${place}) func ${functions.join(" ")})`);
}

function countsOf(all) {
  const count = (...patterns) => all.filter((form) => patterns.some((pattern) => pattern.test(form))).length;
  return {
    type: count(/^\(type /, /^\(alias export .*\(type /s),
    instance: count(/^\(import .*\(instance /s, /^\(instance /, /^\(export .*\(instance /s),
    func: count(/^\(alias export .*\(func /s, /^\(func /),
    component: count(/^\(component /),
    coreFunc: count(/^\(core func /, /^\(alias core export .*\(core func /s),
  };
}

/** Splits the text of a component into the forms in it. */
function forms(text) {
  const found = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === "\\") at++;
    } else if (text[at] === "(" && ++depth === 2) start = at;
    else if (text[at] === ")" && --depth === 1) found.push(text.slice(start, at + 1));
  }
  return found;
}

/** Removes names and what tools record of themselves. */
function stripped(component) {
  const [CUSTOM, CORE_MODULE, COMPONENT] = [0, 1, 4];
  const isComponent = component[4] !== 1;
  const kept = sections(component).filter(({ id }) => id !== CUSTOM);
  const nests = (id) => isComponent && (id === CORE_MODULE || id === COMPONENT);
  const content = kept.map(({ id, content }) => section(id, nests(id) ? stripped(content) : content));
  return Buffer.concat([component.subarray(0, 8), ...content]);
}

/** The name of an interface in the package of wit/. */
function local(name) {
  return name.replace(/^sdk:core\/(.*)@.*$/, "$1");
}
