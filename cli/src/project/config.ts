/** `tenon.toml`: its keys are described once, in `config/keys.ts`, and everything else is made from that. */
export type { Config } from "./config/keys.ts";
export { defaultConfig, type Environment, parseConfig } from "./config/parse.ts";
