//! Translates failures of `wasi:http` to those of `sdk:core/calls`.

use alloc::string::ToString;

use crate::bindings::exports::sdk::core::calls::{Failure, Reason};
use crate::bindings::wasi::http::types::ErrorCode;

/// Makes a failure with its detail.
pub fn failure(reason: Reason, detail: &str) -> Failure {
    Failure { reason, detail: detail.to_string() }
}

/// Translates a server's error. Its own text is left out, because it may contain addresses.
pub fn of_code(code: &ErrorCode) -> Failure {
    let (reason, detail) = match code {
        ErrorCode::HttpRequestDenied | ErrorCode::DestinationIpProhibited => {
            (Reason::Refused, "the server does not allow this destination")
        }
        ErrorCode::ConnectionRefused => (Reason::Refused, "the destination refuses connections"),
        ErrorCode::DnsTimeout | ErrorCode::DnsError(_) | ErrorCode::DestinationNotFound => {
            (Reason::Unreachable, "the destination's name is not known")
        }
        ErrorCode::DestinationUnavailable
        | ErrorCode::DestinationIpUnroutable
        | ErrorCode::ConnectionLimitReached
        | ErrorCode::TlsProtocolError
        | ErrorCode::TlsCertificateError
        | ErrorCode::TlsAlertReceived(_) => (Reason::Unreachable, "no connection to the destination could be made"),
        ErrorCode::ConnectionTimeout
        | ErrorCode::ConnectionReadTimeout
        | ErrorCode::ConnectionWriteTimeout
        | ErrorCode::HttpResponseTimeout => (Reason::Timeout, "the call took too long"),
        ErrorCode::HttpResponseBodySize(_) => (Reason::TooLarge, "the response is too large"),
        ErrorCode::HttpRequestLengthRequired
        | ErrorCode::HttpRequestBodySize(_)
        | ErrorCode::HttpRequestMethodInvalid
        | ErrorCode::HttpRequestUriInvalid
        | ErrorCode::HttpRequestUriTooLong
        | ErrorCode::HttpRequestHeaderSectionSize(_)
        | ErrorCode::HttpRequestHeaderSize(_)
        | ErrorCode::HttpRequestTrailerSectionSize(_)
        | ErrorCode::HttpRequestTrailerSize(_) => (Reason::Invalid, "the server does not accept the request"),
        _ => (Reason::Broken, "the response broke off, or is not HTTP"),
    };
    failure(reason, detail)
}
