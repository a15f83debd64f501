//! The framing of HTTP/1.1 requests, checked before hyper parses them.
//!
//! hyper is lenient where RFC 9112 permits it. It accepts a bare LF as the end of a line and ignores the content of
//! chunk extensions. It drops the `Content-Length` of a request that also has a `Transfer-Encoding`. A proxy in front
//! of the server may read such a request differently, and an attacker can use the difference to smuggle a second
//! request. [`Framed`] accepts exactly one reading of a request's end, and refuses everything else.
//!
//! ```text
//!  socket ─► Framed (Requests::advance over each read) ─► hyper ─► service
//! ```
//!
//! 1. [`Framed`] follows the requests with [`Requests`]. Those that have one reading pass through unchanged.
//! 2. At the first byte that violates the framing, hyper gets invalid bytes instead. It then answers 400 and closes.
//!
//! It buffers nothing. Its state is a few machine words and one field value of at most 64 bytes.

mod chunked;
mod field;
mod refusal;
mod requests;
mod stream;
mod violation;

use requests::Requests;
use violation::{Refusal, Violation};

pub use stream::{Framed, HalfClosed};
