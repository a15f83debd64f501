//! The runtime's own answers, as problem details (RFC 9457).

use std::fmt;

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde::Serialize;
use tenon_http_server::problem;

/// The extension members.
#[derive(Serialize)]
struct Members<'a> {
    request_id: &'a str,
}

/// A failure with a status. Its text is for the client, without internal details of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The body broke off or its framing was wrong.
    UnreadableBody,
    /// The client went away before it had sent the body.
    ClientGone,
    /// Both `Transfer-Encoding` and `Content-Length`.
    AmbiguousLength,
    /// A body that comes in another coding than `chunked`.
    UnknownCoding,
    /// No `Host` header, more than one, or none that is valid.
    NoHost,
    /// Another host than this machine is named, where only that may be.
    OtherHost,
    /// A method whose name is longer than any.
    LongMethod,
    /// A target in a form that its method has no use for.
    InvalidTarget,
    /// `CONNECT`, which is for proxies.
    NoTunnel,
    /// No such path of the runtime's own.
    NotFound,
    /// Another listener of the server answers it.
    NotServedHere,
    /// No such module.
    UnknownModule(String),
    /// A path of the runtime's own with another method than GET or HEAD.
    MethodNotAllowed,
    /// A body beyond the limit, in bytes, and the limit's name.
    BodyTooLarge(u64, &'static str),
    /// A body that did not come in time, in milliseconds.
    BodyTimedOut(u64),
    /// Path and query beyond the limit, in bytes.
    UrlTooLong(u64),
    /// More headers than the limit.
    TooManyHeaders(u64),
    /// Headers beyond the limit, in bytes.
    HeadersTooLarge(u64),
    /// The module could not be loaded.
    NotLoaded,
    /// The module is still loading, as the server has just started.
    Loading,
    /// The module has no good build yet (in development).
    NotBuilt,
    /// The module trapped.
    Crashed,
    /// HTTP does not allow the module's answer.
    InvalidResponse(&'static str),
    /// Too many requests at once.
    Overloaded,
    /// No room in `max_buffered_bytes`.
    NoRoom,
    /// The module's budget is spent: the status, and the seconds until it serves again.
    Spent(StatusCode, u64),
    /// The request took longer than allowed, in milliseconds.
    TimedOut(u64),
}

impl Problem {
    fn status(&self) -> StatusCode {
        match self {
            Self::UnreadableBody
            | Self::ClientGone
            | Self::AmbiguousLength
            | Self::NoHost
            | Self::LongMethod
            | Self::InvalidTarget => StatusCode::BAD_REQUEST,
            Self::OtherHost => StatusCode::FORBIDDEN,
            Self::UnknownCoding => StatusCode::NOT_IMPLEMENTED,
            Self::NotFound | Self::NotServedHere | Self::UnknownModule(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed | Self::NoTunnel => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooLarge(..) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimedOut(_) => StatusCode::REQUEST_TIMEOUT,
            Self::UrlTooLong(_) => StatusCode::URI_TOO_LONG,
            Self::TooManyHeaders(_) | Self::HeadersTooLarge(_) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::Crashed => StatusCode::INTERNAL_SERVER_ERROR,
            Self::InvalidResponse(_) => StatusCode::BAD_GATEWAY,
            Self::Overloaded | Self::NoRoom | Self::NotLoaded | Self::Loading | Self::NotBuilt => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Self::Spent(status, _) => *status,
            Self::TimedOut(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// Reports whether the request's head is so invalid that the connection must close without reading further.
    pub(crate) fn ends_connection(&self) -> bool {
        matches!(self, Self::NoHost | Self::LongMethod | Self::InvalidTarget)
    }

    /// Logs failures that no other code logs; the client's text is complete.
    pub(crate) fn log(&self, request_id: &str) {
        match self {
            Self::Overloaded | Self::NoRoom => tracing::warn!(request_id, "503: {self}"),
            Self::BodyTooLarge(_, name) => tracing::info!(request_id, "413: {self} ({name})"),
            Self::UnknownModule(_) | Self::BodyTimedOut(_) | Self::Spent(..) | Self::NotLoaded | Self::Loading => {
                tracing::info!(request_id, "{}: {self}", self.status().as_u16());
            }
            _ => {}
        }
    }

    /// The whole response. `request_id` is the request's id in the log.
    pub(crate) fn response(&self, request_id: &str) -> Response<Bytes> {
        let mut response = problem(self.status(), &self.to_string(), Members { request_id });
        let headers = response.headers_mut();
        if self.ends_connection() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        match self {
            Self::MethodNotAllowed => drop(headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"))),
            // The bytes that follow may be another request to somebody else.
            Self::AmbiguousLength => drop(headers.insert(CONNECTION, HeaderValue::from_static("close"))),
            Self::Overloaded | Self::NoRoom | Self::Loading => {
                drop(headers.insert(RETRY_AFTER, HeaderValue::from_static("1")));
            }
            Self::Spent(_, seconds) => drop(headers.insert(RETRY_AFTER, HeaderValue::from(*seconds))),
            // A target that only `CONNECT` can name allows no method.
            Self::NoTunnel => drop(headers.insert(ALLOW, HeaderValue::from_static(""))),
            _ => {}
        }
        response
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnreadableBody | Self::ClientGone => f.write_str("the request body could not be read to its end"),
            Self::AmbiguousLength => f.write_str("a request has a Transfer-Encoding or a Content-Length, not both"),
            Self::UnknownCoding => f.write_str("chunked is the only transfer coding that is understood"),
            Self::NoHost => f.write_str("the request must name its host, once"),
            Self::OtherHost => {
                f.write_str("the Host must be this machine's own name or address, such as 127.0.0.1 or localhost")
            }
            Self::LongMethod => f.write_str("no method has a name as long as that"),
            Self::InvalidTarget => f.write_str("the request's target has a form that its method has no use for"),
            Self::NoTunnel => f.write_str("this server is not a proxy"),
            Self::NotFound => f.write_str("no module is mounted here; each is served under /run/<module>/"),
            Self::NotServedHere => f.write_str("this address does not serve that path"),
            Self::UnknownModule(name) => write!(f, "no module is called {name}"),
            Self::MethodNotAllowed => f.write_str("this path answers GET and HEAD only"),
            Self::BodyTooLarge(limit, _) => write!(f, "the request body is larger than {limit} bytes"),
            Self::BodyTimedOut(limit) => write!(f, "the request body did not come within {limit} ms"),
            Self::UrlTooLong(limit) => write!(f, "path and query are longer than {limit} bytes"),
            Self::TooManyHeaders(limit) => write!(f, "the request has more than {limit} headers"),
            Self::HeadersTooLarge(limit) => write!(f, "the request's headers are larger than {limit} bytes"),
            Self::NotLoaded => f.write_str("the module could not be loaded"),
            Self::Loading => f.write_str("the module is still loading; try again soon"),
            Self::NotBuilt => {
                f.write_str("the module is being built, or its build failed; see the terminal of `tenon dev`")
            }
            Self::Crashed => f.write_str("the module failed on this request"),
            Self::InvalidResponse(what) => f.write_str(what),
            Self::Overloaded => f.write_str("too many requests are running; try again soon"),
            Self::NoRoom => f.write_str("too many bytes are held for clients; try again soon"),
            Self::Spent(_, seconds) => write!(f, "the module has spent its budget; try again in {seconds} s"),
            Self::TimedOut(limit) => write!(f, "the module did not answer within {limit} ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_json_whatever_they_quote() {
        let response = Problem::UnknownModule("a\"b\\c\n".to_string()).response("id-1");
        assert_eq!(response.status(), 404);
        assert_eq!(
            response.body(),
            r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no module is called a\"b\\c\n","request_id":"id-1"}"#
        );
        assert_eq!(Problem::Overloaded.response("").headers()[RETRY_AFTER], "1");
        assert_eq!(Problem::MethodNotAllowed.response("").headers()[ALLOW], "GET, HEAD");
    }
}
