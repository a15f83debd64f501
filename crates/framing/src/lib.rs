//! Checks the framing of HTTP/1.1 requests before hyper parses them.
//!
//! hyper is lenient where RFC 9112 permits it. It accepts a bare LF as the end of a line and ignores the content of
//! chunk extensions. It drops the `Content-Length` of a request that also has a `Transfer-Encoding`. A proxy in front
//! of the server may read such a request differently, and an attacker can use the difference to smuggle a second
//! request. This crate accepts exactly one reading of a request's end, and refuses everything else.
//!
//! 1. Wrap a connection in [`Strict`] and give that to hyper's HTTP/1 server.
//! 2. [`Strict`] follows the requests with [`Framing`]. Requests that have one reading pass through unchanged.
//! 3. At the first byte that violates the framing, hyper gets invalid bytes instead. It then answers 400 and closes.
//!
//! ```text
//!  socket ─► Strict (Framing::advance over each read) ─► hyper ─► service
//! ```
//!
//! It buffers nothing. Its state is a few machine words and one field value of at most 64 bytes.

mod chunked;
mod field;
mod requests;
mod strict;
mod violation;

pub use requests::Framing;
pub use strict::Strict;
pub use violation::{Refusal, Violation};
