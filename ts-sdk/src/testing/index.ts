/**
 * `@tenon/sdk/testing`: calls an app in plain Node, through the same pipeline that runs in the component. For tests
 * only: it is never part of a component.
 */

export type { SidecarStub, TestSidecar, TestSidecars } from "./sidecars.ts";
export { sqlite } from "./sqlite.ts";
export { type TestApp, type TestOptions, type TestRequest, testApp } from "./test-app.ts";
export { TestResponse } from "./test-response.ts";
export { type WasmPlugin, wasm } from "./wasm.ts";
