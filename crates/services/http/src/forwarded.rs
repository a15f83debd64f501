//! The parts of a request that reach the API when rules name the allowed requests, besides its method and path.

use std::collections::HashSet;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName};
use tenon_service::ServicesError;

/// Request headers that say nothing about the method, the path or the client's address. Others, such as
/// `X-HTTP-Method-Override`, `X-Original-URL` and `X-Forwarded-Prefix`, make some servers answer another request than the
/// one that a rule allows.
const FORWARDED: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "authorization",
    "baggage",
    "cache-control",
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "digest",
    "from",
    "idempotency-key",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "pragma",
    "prefer",
    "range",
    "repr-digest",
    "signature",
    "signature-input",
    "traceparent",
    "tracestate",
    "user-agent",
    "want-content-digest",
    "x-correlation-id",
    "x-request-id",
];

/// Fields of a query or a form that name another method for some servers: Rails, Laravel, Symfony, Salesforce.
const METHOD_FIELDS: [&str; 9] = [
    "_method",
    "_httpmethod",
    "_http_method",
    "_method_override",
    "http_method_override",
    "$httpmethod",
    "x_http_method",
    "x_http_method_override",
    "x_method_override",
];

/// The names of the headers that are passed on, with additional ones.
///
/// # Errors
///
/// A text that is not the name of a header.
pub(super) fn forwarded_names(added: &[String]) -> Result<HashSet<HeaderName>, ServicesError> {
    let named = |name: &String| {
        let wrong = || format!("{name:?} is not the name of a header: write one name each, such as stripe-version");
        name.parse::<HeaderName>().map_err(|_| ServicesError::Config(wrong()))
    };
    let added: Result<Vec<HeaderName>, _> = added.iter().map(named).collect();
    Ok(FORWARDED.iter().map(|name| HeaderName::from_static(name)).chain(added?).collect())
}

/// The field of a query or of a form that names another method, if there is one.
pub(super) fn method_field(query: Option<&str>, headers: &HeaderMap, body: &[u8]) -> Option<String> {
    if let Some(field) = query.and_then(|query| field_of(query.as_bytes())) {
        return Some(field);
    }
    let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes().trim_ascii_start());
    let is = |start: &[u8]| content_type.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    if is(b"application/x-www-form-urlencoded") {
        return field_of(body);
    }
    if is(b"multipart/") { names_of_parts(body).find(|name| is_method(name)).map(lossy) } else { None }
}

/// The first field of an encoded form that names a method. Some servers separate fields with `;`.
fn field_of(form: &[u8]) -> Option<String> {
    let fields = form.split(|byte| matches!(byte, b'&' | b';'));
    fields
        .map(|field| field.split(|byte| *byte == b'=').next().unwrap_or_default())
        .find(|name| is_method(name))
        .map(lossy)
}

/// The values of all parameters `name` and `name*` in a text, without the encoding of extended ones: `utf-8''_method`.
fn names_of_parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_name = |at: &usize| {
        let before = at.checked_sub(1).map(|before| text[before]);
        text[*at..].get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"name")) && !before.is_some_and(is_of_word)
    };
    (0..text.len()).filter(is_name).filter_map(|at| value_behind(&text[at + 4..])).map(without_encoding)
}

/// The value in `*="…"`, `= …` and the like.
fn value_behind(rest: &[u8]) -> Option<&[u8]> {
    let rest = without_blanks(rest.strip_prefix(b"*").unwrap_or(rest)).strip_prefix(b"=")?;
    let rest = without_blanks(rest);
    let (value, is_ended) = match rest.strip_prefix(b"\"") {
        Some(quoted) => {
            let length = quoted.iter().position(|byte| matches!(byte, b'"' | b'\r' | b'\n'))?;
            (&quoted[..length], quoted[length] == b'"')
        }
        None => {
            let end = rest.iter().position(|byte| is_blank(*byte) || matches!(byte, b';' | b'"'));
            (&rest[..end.unwrap_or(rest.len())], true)
        }
    };
    is_ended.then_some(value)
}

fn without_encoding(name: &[u8]) -> &[u8] {
    let is_plain = |part: &[u8]| part.iter().all(|byte| is_of_word(*byte) || *byte == b'-');
    let mut parts = name.splitn(3, |byte| *byte == b'\'');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(charset), Some(language), Some(name)) if is_plain(charset) && is_plain(language) => name,
        _ => name,
    }
}

/// Reports whether a field names a method, also as PHP and Rack read it: `_method[]`, ` _method`, `%5Fmethod`.
fn is_method(encoded: &[u8]) -> bool {
    let mut name = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let [first, behind @ ..] = rest {
        rest = behind;
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        match (first, behind) {
            (b'%', [high, low, behind @ ..]) if digit(high).is_some() && digit(low).is_some() => {
                let value = digit(high).unwrap_or(0) * 16 + digit(low).unwrap_or(0);
                name.push(u8::try_from(value).unwrap_or(0));
                rest = behind;
            }
            (b'+', _) => name.push(b' '),
            _ => name.push(*first),
        }
    }
    let start = name.iter().position(|byte| !is_blank(*byte)).unwrap_or(name.len());
    let end = name.iter().rposition(|byte| !is_blank(*byte)).map_or(start, |last| last + 1);
    let name = name[start..end].split(|byte| matches!(byte, b'[' | 0)).next().unwrap_or_default();
    let plain =
        name.iter().map(|byte| if matches!(byte, b'-' | b'.' | b' ') { b'_' } else { byte.to_ascii_lowercase() });
    let plain: Vec<u8> = plain.collect();
    METHOD_FIELDS.iter().any(|field| field.as_bytes() == plain)
}

fn without_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().position(|byte| !is_blank(*byte)).unwrap_or(text.len())..]
}

/// Blanks, and line ends, of Latin-1.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0x0b | 0xa0)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn found(query: &str, content_type: &'static str, body: &str) -> bool {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]);
        method_field(Some(query), &headers, body.as_bytes()).is_some()
    }

    #[test]
    fn fields_that_name_a_method() {
        for query in [
            "_method=DELETE",
            "b=1&_METHOD=DELETE",
            "b=1;%5fmethod=DELETE",
            "_method[]=DELETE",
            "_HttpMethod=PATCH",
            "x-http-method-override=PUT",
            "%20_method%00x",
        ] {
            assert!(found(query, "text/plain", ""), "{query}");
        }
        for query in ["method=card&b=_method", "payment_method=card", "", "_methods"] {
            assert!(!found(query, "text/plain", "_method=a"), "{query}");
        }
        let form = "application/x-www-form-urlencoded";
        assert!(found("", form, "a=1&+_method=delete") && !found("", form, "payment_method=card&method=a"));
        let part = |name: &str| format!("--b\r\nContent-Disposition: form-data; {name}\r\n\r\nDELETE\r\n--b--\r\n");
        for name in
            ["name=\"_method\"", "name=_method", "NAME = _method; a", "name*=utf-8''_method", "x;name=\"_method[]\""]
        {
            assert!(found("", "Multipart/form-data; boundary=b", &part(name)), "{name}");
            assert!(!found("", "application/json", &part(name)), "{name}");
        }
        for name in ["name=\"method\"", "filename=\"_method\"", "name=\"_method\r\n\"", "name", "name="] {
            assert!(!found("", "multipart/mixed", &part(name)), "{name}");
        }
    }
}
