//! Texts that most requests have. A file names them by their numbers, so the list only grows: a change of its order is a new
//! version of the format.

use std::sync::LazyLock;

const TEXTS: [&str; 64] = [
    "",
    "GET",
    "POST",
    "PUT",
    "PATCH",
    "DELETE",
    "HEAD",
    "OPTIONS",
    ":next",
    ":piece",
    ":end",
    ":cancel",
    ":broken",
    "/",
    "host",
    "accept",
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "content-length",
    "content-type",
    "cookie",
    "date",
    "etag",
    "if-none-match",
    "location",
    "origin",
    "referer",
    "server",
    "set-cookie",
    "traceparent",
    "user-agent",
    "vary",
    "x-request-id",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    ":body",
    "streamed",
    "*/*",
    "0",
    "2",
    "gzip, deflate, br",
    "application/json",
    "application/json; charset=utf-8",
    "application/problem+json",
    "text/plain;charset=UTF-8",
    "text/plain; charset=utf-8",
    "text/html; charset=utf-8",
    "application/octet-stream",
    "no-store",
    "keep-alive",
    "TENON_REQUEST_SCHEME",
    "TENON_REQUEST_HOST",
    "TENON_REQUEST_BASE",
    "TENON_REQUEST_IP",
    "http",
    "https",
    "127.0.0.1",
    "localhost",
    "sidecar:db/sql/query",
    "tenon-transaction",
    "tenon-transaction-ended",
];

/// The longest of them.
const LONGEST: usize = 31;

/// The numbers of the texts by their lengths: each text of a request is looked up.
static BY_LENGTH: LazyLock<[Vec<u8>; LONGEST + 1]> = LazyLock::new(|| {
    let of_length = |length| (0_u8..).zip(TEXTS).filter(move |(_, known)| known.len() == length);
    std::array::from_fn(|length| of_length(length).map(|(number, _)| number).collect())
});

/// The number of a text.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    let numbers = BY_LENGTH.get(text.len())?;
    let number = numbers.iter().find(|number| TEXTS[usize::from(**number)].as_bytes() == text)?;
    Some(u64::from(*number))
}

/// The text of a number.
pub(crate) fn text(number: u64) -> Option<&'static [u8]> {
    TEXTS.get(usize::try_from(number).ok()?).map(|text| text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_found_by_its_number_and_there_is_none_twice() {
        for (at, known) in TEXTS.iter().enumerate() {
            assert_eq!(number(known.as_bytes()), Some(at as u64), "{known}");
            assert_eq!(text(at as u64), Some(known.as_bytes()));
            assert!(known.len() <= LONGEST, "{known}");
        }
        assert_eq!(text(TEXTS.len() as u64), None);
    }
}
