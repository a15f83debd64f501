//! Names by which the host and the code inside a component know each other. `ts-sdk/src/abi.ts` has the same ones, and
//! `testing/abi.test.ts` compares the two. `crates/bridge` has this file as a module, because it is another workspace.

// The method of a build's own requests. No client can send it (RFC 9110, section 9.1).

/// A request of the build, for which no handler is called.
pub const WARM_UP: &str = ":warm-up";

/// The last header of an answer that is not whole. No handler's own header can have this name.
pub const BODY: &str = ":body";
/// Its value for a streamed response.
pub const BODY_STREAMED: &str = "streamed";
/// Its value for an answer that waits for all that is left of the request's body.
pub const BODY_WHOLE: &str = "whole";

/// The end of a warning that a response has an undeclared member.
pub const NOT_SENT: &str = "so it is not sent";

/// The header with which a guest asks why a call got no answer, and gets the reason. The `fetch` of an engine has one error
/// for every reason. `httpClient` of the SDK asks; any other guest gets the error itself.
pub const EGRESS: &str = "tenon-egress";
/// The header that names the transaction of a statement.
pub const TRANSACTION: &str = "tenon-transaction";

/// Prefix of secrets' names in the environment.
pub const SECRET_PREFIX: &str = "TENON_SECRET_";
/// Prefix of facts about the request in the environment.
pub const REQUEST_PREFIX: &str = "TENON_REQUEST_";
/// The client's address.
pub const REQUEST_IP: &str = "TENON_REQUEST_IP";
/// The scheme that the client used.
pub const REQUEST_SCHEME: &str = "TENON_REQUEST_SCHEME";
/// The host that the client used.
pub const REQUEST_HOST: &str = "TENON_REQUEST_HOST";
/// The path prefix of the module.
pub const REQUEST_BASE: &str = "TENON_REQUEST_BASE";
