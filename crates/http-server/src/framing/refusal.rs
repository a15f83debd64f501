//! Problem details for the requests that hyper refuses by itself, with an answer that has no body.

use http::StatusCode;

use crate::problem;

/// Returns an answer with problem details for hyper's own answer to a request that it cannot parse: 400, 414 or 431, with no more than
/// a length of 0, the date, and the end of the connection. None for any other text.
pub(super) fn explained(answer: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(answer).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = text.split("\r\n");
    let status: StatusCode = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    let detail = match status {
        StatusCode::BAD_REQUEST => "The request is not valid HTTP/1.1.",
        StatusCode::URI_TOO_LONG => "The target of the request is too long.",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => "The head of the request is too large.",
        _ => return None,
    };
    let (mut date, mut is_empty, mut is_last) = (None, false, false);
    for line in lines {
        match line.split_once(": ")? {
            ("content-length", "0") => is_empty = true,
            ("connection", "close") => is_last = true,
            ("date", value) => date = Some(value),
            _ => return None,
        }
    }
    if !is_empty || !is_last {
        return None;
    }
    let body = problem(status, detail, ()).into_body();
    let (code, phrase, length) = (status.as_u16(), status.canonical_reason().unwrap_or_default(), body.len());
    let date = date.map_or_else(String::new, |date| format!("date: {date}\r\n"));
    let head = format!(
        "HTTP/1.1 {code} {phrase}\r\ncontent-type: application/problem+json\r\ncontent-length: {length}\r\nconnection: close\r\n{date}\r\n"
    );
    Some([head.as_bytes(), &body].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hypers_own_refusals_get_problem_details() {
        let lines = ["400 Bad Request", "414 URI Too Long", "431 Request Header Fields Too Large"];
        for (line, status) in lines.into_iter().zip([400, 414, 431]) {
            let answer = format!("HTTP/1.1 {line}\r\nconnection: close\r\ncontent-length: 0\r\ndate: today\r\n\r\n");
            let text = String::from_utf8(explained(answer.as_bytes()).unwrap()).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {line}\r\n")) && head.ends_with("\r\ndate: today"), "{head}");
            assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{head}");
            assert!(body.contains(&format!(r#""status":{status},"#)), "{body}");
        }
    }

    #[test]
    fn answers_of_a_service_stay() {
        for answer in [
            "",
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\nx-request-id: a\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
        ] {
            assert_eq!(explained(answer.as_bytes()), None, "{answer:?}");
        }
    }
}
