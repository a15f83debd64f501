// seal.mjs LINKED OUT: makes the engine out of what the linker made. Each imported function becomes a local one that calls the function
// at its place of the engine's own table (places.txt), where a wrapper puts it (wrappers.mjs). So an engine can be instantiated
// without imports, and imports of a component can be lowered with its memory without a module between them.
//
// Two custom sections are added: the places, and the names of the functions of "tenon:engine", by which a build chooses a variant.
import { readFileSync, writeFileSync } from "node:fs";
import { imports, leb, read, section, sections, types } from "./module.mjs";
import { placeOf, version } from "./places.mjs";

const [linked, out] = process.argv.slice(2);
const binary = readFileSync(linked);
const [TYPE, IMPORT, FUNCTION, CODE, CUSTOM] = [1, 2, 3, 10, 0];
const all = sections(binary);
const paramsOf = types(binary).map(({ params }) => params.length);
const imported = imports(binary);

// Imports come first in the space of functions, so that the i-th function replaces the i-th import.
const made = [binary.subarray(0, 8)];
for (const { id, content } of all) {
  if (id === CUSTOM || id === IMPORT) continue;
  if (id === FUNCTION || id === CODE) {
    const reader = read(content);
    const count = reader.u32();
    const added = imported.map((each) => (id === FUNCTION ? Buffer.from(leb(each.type)) : body(each)));
    const rest = content.subarray(reader.at());
    made.push(section(id, Buffer.concat([Buffer.from(leb(count + imported.length)), ...added, rest])));
  } else made.push(section(id, content));
}
if (!all.some(({ id }) => id === TYPE)) throw new Error("the engine has no types");
const sealed = Buffer.concat(made);
const custom = (name, text) =>
  section(CUSTOM, Buffer.concat([Buffer.from(leb(name.length)), Buffer.from(name + text)]));
writeFileSync(
  out,
  Buffer.concat([
    sealed,
    custom("tenon-places", listed()),
    custom("tenon-functions", functionNames(sealed).join("\n")),
  ]),
);

/** The version, and a line for each place: place, interface, function, parameters and results. */
function listed() {
  const letters = { 127: "i", 126: "I", 125: "f", 124: "F" };
  const text = (types) => types.map((type) => letters[type]).join("") || "-";
  const line = (each) => {
    const { params, results } = types(binary)[each.type];
    return [placeOf(each), each.module, each.name, text(params), text(results)].join(" ");
  };
  const lines = imported.toSorted((one, other) => placeOf(one) - placeOf(other)).map(line);
  return [`version ${version}`, ...lines].join("\n");
}

/** The body of a function that passes its parameters on. */
function body(imported) {
  const get = Array.from({ length: paramsOf[imported.type] }, (_, index) => [0x20, ...leb(index)]).flat();
  // Constants are signed.
  const place = placeOf(imported);
  const constant = place < 64 ? [place] : [(place & 0x7f) | 0x80, place >> 7];
  const code = [0, ...get, 0x41, ...constant, 0x11, ...leb(imported.type), 0, 0x0b];
  return Buffer.from([...leb(code.length), ...code]);
}

/** Asks the engine itself for the names. */
function functionNames(binary) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), {});
  let printed = "";
  const host = {
    "sdk:core/log@0.1.0 write": (_, at, length) => {
      printed += Buffer.from(exports.memory.buffer, at, length);
    },
    // The engine's seed.
    "wasi:random/random@0.2.10 get-random-u64": () => 1n,
  };
  fill(exports.__indirect_function_table, host);
  const put = (text) => {
    const bytes = Buffer.from(text);
    const at = exports.cabi_realloc(0, 0, 1, bytes.length);
    new Uint8Array(exports.memory.buffer).set(bytes, at);
    return [at, bytes.length];
  };
  const source = `import * as all from "tenon:engine";
all.print(Object.keys(all).sort().join(" "));
export const handler = { handle() {} };`;
  if (exports.initialize(...put("functions.js"), ...put(source)) !== 0) throw new Error(printed);
  return printed.trim().split(" ");
}

/** Puts functions into the table. A table takes only functions of WebAssembly, so a module exports those that it imports. */
function fill(table, host) {
  for (const each of imported) {
    const call = host[`${each.module} ${each.name}`];
    if (!call) continue;
    const { params, results } = types(binary)[each.type];
    const type = [0x60, ...leb(params.length), ...params, ...leb(results.length), ...results];
    const module = Buffer.concat([
      binary.subarray(0, 8),
      section(TYPE, Buffer.from([1, ...type])),
      section(IMPORT, Buffer.from([1, 0, 0, 0, 0])),
      section(7, Buffer.from([1, 0, 0, 0])),
    ]);
    const passed = new WebAssembly.Instance(new WebAssembly.Module(module), { "": { "": call } });
    table.set(placeOf(each), passed.exports[""]);
  }
}
