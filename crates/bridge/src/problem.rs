//! The bridge's own failures, as problem details (RFC 9457).

use alloc::format;
use alloc::vec::Vec;

/// A failure of the request or the handler.
#[derive(Clone, Copy)]
pub enum Problem {
    /// The method is not allowed in HTTP, but asks for a rehearsal (`crates/snapshot`): 400.
    InvalidMethod,
    /// The body broke off, or its framing was wrong: 400.
    UnreadableBody,
    /// The body, or its announced length, is larger than [`crate::request::MAX_BODY_BYTES`]: 413.
    BodyTooLarge,
    /// The handler answered with a status outside 200 to 599: 502.
    InvalidStatus,
    /// The handler answered with a header that HTTP or the server does not allow: 502.
    InvalidHeader,
    /// The handler announced a length that its body does not have: 502.
    InvalidLength,
}

impl Problem {
    /// Status code, title (RFC 9110's reason phrase) and detail.
    pub const fn parts(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::InvalidMethod => (400, "Bad Request", "the method is none that HTTP allows"),
            Self::UnreadableBody => (400, "Bad Request", "the request body could not be read to its end"),
            Self::BodyTooLarge => (413, "Content Too Large", "the request body is larger than 10 MiB (10485760 bytes)"),
            Self::InvalidStatus => (502, "Bad Gateway", "the handler answered with a status outside 200 to 599"),
            Self::InvalidHeader => (502, "Bad Gateway", "the handler answered with a header that is not allowed"),
            Self::InvalidLength => {
                (502, "Bad Gateway", "the handler announced a content-length that its body does not have")
            }
        }
    }

    /// Returns the body. All texts above are ASCII without quotes, so nothing needs escaping.
    pub fn json(self) -> Vec<u8> {
        let (status, title, detail) = self.parts();
        format!(r#"{{"type":"about:blank","title":"{title}","status":{status},"detail":"{detail}"}}"#).into_bytes()
    }
}
