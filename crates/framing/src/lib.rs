//! Checks the framing of HTTP/1.1 requests before hyper parses them.
//!
//! hyper is lenient where RFC 9112 lets a recipient be: it takes a bare LF as the end of a line, drops the
//! `Content-Length` of a request that has a `Transfer-Encoding` too, and ignores what a chunk extension contains. A proxy in
//! front of the server may read such a request differently, and the difference is where a second request can be smuggled.
//! This crate accepts exactly one reading of where a request ends, and refuses everything else.
//!
//! 1. Wrap a connection with [`Strict`] and give that to hyper's HTTP/1 server in its place.
//! 2. [`Strict`] follows the requests with [`Framing`]. Requests that have one reading pass through unchanged.
//! 3. At the first byte that violates the framing, hyper gets bytes that it refuses instead: it answers 400 and closes.
//!
//! ```text
//!  socket ─► Strict (Framing::advance over each read) ─► hyper ─► service
//! ```
//!
//! Nothing is buffered: the state is a few machine words and one field value of at most 64 bytes.

mod chunked;
mod field;
mod requests;
mod strict;
mod violation;

pub use requests::Framing;
pub use strict::Strict;
pub use violation::{Refusal, Violation};
