/** The interfaces that componentize-js makes bindings of (the world `streaming-glue` in `wit/streams.wit`). */
declare module "wasi:cli/environment@0.2.10" {
  export function getEnvironment(): [name: string, value: string][];
}
