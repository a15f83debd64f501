// no-streams.mjs COMPONENT: makes `sdk:core/streams` for a handler that does not export it, which is composed with the bridge
// (crates/compose). It takes no body piece by piece. Nothing calls its other functions, because such a handler never streams.
import { writeFileSync } from "node:fs";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco";
import { packages } from "../engine/wit.mjs";

const name = (name) => `(export "sdk:core/streams@0.1.0#${name}")`;
const binary = await parse(`(module
  (memory (export "memory") 0)
  (func ${name("takes-bodies")} (result i32) (i32.const 0))
  (func ${name("begin")} (param i32 i32 i32 i32 i32 i32) (result i32) unreachable)
  (func ${name("piece")} (param i32 i32 i32) (result i32) unreachable)
  (func ${name("end")} (result i32) unreachable)
  (func ${name("broken")} (result i32) unreachable)
  (func ${name("next")} (result i32) unreachable)
  (func ${name("cancel")})
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) unreachable))`);
const witSource = `${packages()}\nworld no-streams { export streams; }`;
const embedded = await componentEmbed({ binary, witSource, world: "no-streams" });
writeFileSync(process.argv[2], await componentNew(embedded, []));
