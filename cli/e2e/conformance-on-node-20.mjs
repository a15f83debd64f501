/** Lets the protocol's conformance suite start on Node 20, which lacks `globSync`; the suite needs it for no server. */
import { register } from "node:module";

const load = `
export async function load(url, context, next) {
  const loaded = await next(url, context);
  if (!url.includes("/@modelcontextprotocol/conformance/dist/")) return loaded;
  const [, name] = /globSync as (\\w+)/.exec(String(loaded.source)) ?? [];
  if (name === undefined) return loaded;
  const source = String(loaded.source).replace("globSync as " + name + ",", "");
  return { ...loaded, source: source + "\\nfunction " + name + "() { return []; }" };
}`;

register(`data:text/javascript,${encodeURIComponent(load)}`);
