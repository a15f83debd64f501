/**
 * `@tenon/sdk/abi`: the names by which the SDK, `guest/`, generated code of a build and the host know each other. The host
 * has those of the second half in `crates/abi`; `testing/abi.test.ts` compares the two. They change with each version.
 */

// Keys of globals. They are registered symbols, because a library may bring the SDK inside its own bundle.

/**
 * The key of the global function that reads the environment. The entry that `tenon build` generates sets it to WASI's
 * `get-environment`; tests set it through `testApp(app, { env })`.
 */
export const environmentKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.environment") as never;

/**
 * The key of the global function that reads some variables of the same environment, without decoding the others. It is absent in
 * components that other tools made, and in tests.
 */
export const variablesKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.variables") as never;

/** The key of the global function that reads a request's scheme and host from the same environment; absent where {@link variablesKey} is. */
export const originKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.origin") as never;

/**
 * The key of a global that is set only while a module's top level runs for a build or a document. It holds the declared
 * routes that no `routes` has taken yet, each with an error that has its place: a route that is left there at the end
 * was lost.
 */
export const buildingKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.building") as never;

/**
 * The key of a global that is set only while this instance streams an answer: the stream. The entry that `tenon build`
 * generates calls it; the module that sets it is in a component only when the app streams.
 */
export const streamKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.stream") as never;

/**
 * The key of a global that is set in components whose handlers read request bodies piece by piece. The entry that
 * `tenon build` generates calls it.
 */
export const uploadKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.upload") as never;

/** The key of the global that makes calls in one piece; absent in components that other tools made. */
export const callsKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.calls") as never;

/** The key of the global that ends calls before their time; absent in components of other engines. */
export const cancelKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.cancel") as never;

/** The key of the global for streamed calls; absent in components that other tools made. */
export const callStreamsKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.call-streams") as never;

/** The key of the global function that makes a writer of JSON with declared members; absent in components of other engines, and in tests. */
export const jsonWriterKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.json-writer") as never;

/** The key of the global in which a build leaves how dates and times are joined, by locale. */
export const atTimeKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.at-time") as never;

/**
 * The key of the global function that returns the tools of an app with the option `mcp`. The entry that `tenon build`
 * generates sets it, and `testApp`.
 */
export const toolsKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.tools") as never;

/** The key of the global that serves `search` and `execute`; only an app with `mcp: { code: true }` has it. */
export const codeModeKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.code-mode") as never;

/** The key of the global that runs programs apart from the app; only an app with `mcp: { code: true }` has it. */
export const isolateKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.isolate") as never;

/** The key of the property that marks an app of `routes`. */
export const appKey: unique symbol = /* @__PURE__ */ Symbol.for("tenon.app") as never;

// The method of a build's own requests. No client can send it (RFC 9110, section 9.1).

/** A request of the build, for which no handler is called. */
export const WARM_UP = ":warm-up";

// The last header of an answer that is not whole, and its values.

export const BODY = ":body";
/** The response is streamed. */
export const BODY_STREAMED = "streamed";
/** An answer that waits asks for all that is left of the request's body. */
export const BODY_WHOLE = "whole";

// Lines of the log.

/** The end of a warning that a response has an undeclared member. The host logs each such warning once. */
export const NOT_SENT = "so it is not sent";

// Headers of outbound calls.

/**
 * Asks Tenon's runtime why a call got no answer, because an engine's `fetch` hides it. The SDK's client sends it with the
 * value `explain`, and the runtime never passes it on. Instead of failing, the runtime answers with the reason in this
 * header: `refused`, `timeout`, or `unreachable`. A plain `fetch` does not send it, and fails as it does everywhere.
 */
export const EGRESS = "tenon-egress";
/** Names the transaction of a statement. */
export const TRANSACTION = "tenon-transaction";

// Variables of the environment. `env` hides those with these prefixes.

/** The prefix of secrets' names. */
export const SECRET_PREFIX = "TENON_SECRET_";
/** The prefix of facts about the request. No client can set them, on any server. */
export const REQUEST_PREFIX = "TENON_REQUEST_";
/** The client's address. */
export const REQUEST_IP = "TENON_REQUEST_IP";
/** The scheme that the client used. */
export const REQUEST_SCHEME = "TENON_REQUEST_SCHEME";
/** The host that the client used. */
export const REQUEST_HOST = "TENON_REQUEST_HOST";
/** The path prefix of the module. */
export const REQUEST_BASE = "TENON_REQUEST_BASE";
