//! Reasons to refuse a request.

use thiserror::Error;

/// The byte at which the framing of a request is violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Its index in the given bytes.
    pub(super) at: usize,
    /// The violated rule.
    pub(super) violation: Violation,
}

/// A rule of RFC 9112 (or of RFC 9110, where stated) that a request violates.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub(super) enum Violation {
    /// Section 2.2.
    #[error("a line ends with a bare LF")]
    BareLf,
    /// Section 2.2.
    #[error("a CR is not followed by LF")]
    BareCr,
    /// Section 3.2: a fragment, or a byte beyond ASCII.
    #[error("the request target has a character that is not allowed in a URI")]
    Target,
    /// Sections 5.1 and 5.2: a space before the colon, a folded line, a line without a colon.
    #[error("a field line has no valid name")]
    FieldName,
    /// `Content_Length` and `Transfer_Encoding`, which some servers and gateways treat as the real names.
    #[error("a field's name resembles that of a framing field")]
    Lookalike,
    /// RFC 9110, section 8.6.
    #[error("the Content-Length must be a number")]
    ContentLength,
    /// RFC 9110, section 8.6.
    #[error("there is more than one Content-Length")]
    RepeatedContentLength,
    /// Section 6.1.
    #[error("there is more than one Transfer-Encoding, or one that does not end with chunked")]
    TransferEncoding,
    /// Section 6.3.
    #[error("there are both a Content-Length and a Transfer-Encoding")]
    BothLengths,
    /// Section 7.1.
    #[error("a chunk's size must be a hexadecimal number")]
    ChunkSize,
    /// Section 7.1.1.
    #[error("a chunk's extension is malformed")]
    ChunkExtension,
    /// Section 7.1.
    #[error("a chunk is longer than its size")]
    ChunkEnd,
    /// RFC 9110, section 6.5.1.
    #[error("a trailer field concerns the framing")]
    Trailer,
}
