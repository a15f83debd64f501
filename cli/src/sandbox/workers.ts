/**
 * `node --import tenon/sandbox/workers`: gives Node the module `cloudflare:workers`. `@cloudflare/codemode/ai` imports the base classes of
 * Workers from there, although nothing that runs with an executor uses them.
 */
import { register } from "node:module";

const url = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;

const classes = url("export class DurableObject {}\nexport class RpcTarget {}\nexport class WorkerEntrypoint {}\n");

register(
  url(`export const resolve = (specifier, context, next) =>
    specifier === "cloudflare:workers" ? { url: ${JSON.stringify(classes)}, shortCircuit: true } : next(specifier, context);`),
);
