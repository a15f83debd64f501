/** The interfaces that componentize-js makes bindings of (the world `handler-glue` in `wit/worlds.wit`). */
declare module "wasi:cli/environment@0.2.10" {
  export function getEnvironment(): [name: string, value: string][];
}
