//! Problem details (RFC 9457).

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};
use serde::Serialize;

#[derive(Serialize)]
struct Details<'a, M> {
    #[serde(rename = "type")]
    kind: &'a str,
    title: &'a str,
    status: u16,
    detail: &'a str,
    #[serde(flatten)]
    members: M,
}

/// Makes an answer with problem details. `members` has the extension members; `()` is none.
pub fn problem(status: StatusCode, detail: &str, members: impl Serialize) -> Response<Bytes> {
    let title = match status {
        // The `http` crate has an older RFC's phrase.
        StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large",
        status => status.canonical_reason().unwrap_or("Error"),
    };
    let details = Details { kind: "about:blank", title, status: status.as_u16(), detail, members };
    // Members whose names are not text cannot be written. There are none.
    let body = serde_json::to_vec(&details).unwrap_or_default();
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_json_whatever_the_detail_quotes() {
        let answer = problem(StatusCode::PAYLOAD_TOO_LARGE, "a\"b\\c\n", ());
        assert_eq!(answer.status(), 413);
        assert_eq!(
            answer.body(),
            r#"{"type":"about:blank","title":"Content Too Large","status":413,"detail":"a\"b\\c\n"}"#
        );
        let members = serde_json::json!({ "column": "email" });
        let body = problem(StatusCode::CONFLICT, "", &members).into_body();
        assert!(body.ends_with(br#","detail":"","column":"email"}"#));
    }
}
