//! The URL parser (URL Standard, section 4.4). Each function is one or more states of the standard's machine, which they are named
//! after, and reads the rest of the input.
use alloc::borrow::Cow;
use alloc::string::String;

use super::percent::{self, encode};
use super::record::{Record, is_drive_letter, is_special_scheme};
use super::{Invalid, host};

/// Removes tabs and newlines, which no URL keeps.
pub fn without_newlines(input: &str) -> Cow<'_, str> {
    let is_newline = |char| matches!(char, '\t' | '\n' | '\r');
    if input.contains(is_newline) { Cow::Owned(input.replace(is_newline, "")) } else { Cow::Borrowed(input) }
}

pub fn parse(input: &str, base: Option<&Record>) -> Result<Record, Invalid> {
    let input = without_newlines(input.trim_matches(|char| char <= ' '));
    if let Some((scheme, rest)) = split_scheme(&input) {
        return scheme_state(scheme, rest, base);
    }
    let base = base.ok_or(Invalid)?;
    if base.has_opaque_path {
        let fragment = input.strip_prefix('#').ok_or(Invalid)?;
        let mut url = Record { fragment: None, ..base.clone() };
        fragment_state(&mut url, fragment);
        return Ok(url);
    }
    if base.is_file() { file_state(&input, Some(base)) } else { relative_state(&input, base) }
}

/// Returns the scheme, in lower case, and what follows its colon.
pub fn split_scheme(input: &str) -> Option<(String, &str)> {
    let (scheme, rest) = input.split_once(':')?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_valid = scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && scheme.bytes().all(is_part);
    is_valid.then(|| (scheme.to_ascii_lowercase(), rest))
}

fn is_slash(char: char) -> bool {
    matches!(char, '/' | '\\')
}

fn scheme_state(scheme: String, rest: &str, base: Option<&Record>) -> Result<Record, Invalid> {
    if scheme == "file" {
        return file_state(rest, base.filter(|base| base.is_file()));
    }
    if is_special_scheme(&scheme) {
        return match base {
            Some(base) if base.scheme == scheme && !rest.starts_with("//") => relative_state(rest, base),
            _ => authority_state(Record { scheme, ..Record::default() }, rest.trim_start_matches(is_slash)),
        };
    }
    let mut url = Record { scheme, ..Record::default() };
    if let Some(authority) = rest.strip_prefix("//") {
        return authority_state(url, authority);
    }
    match rest.strip_prefix('/') {
        Some(path) => path_state(&mut url, path),
        None => opaque_path_state(&mut url, rest),
    }
    Ok(url)
}

fn relative_state(input: &str, base: &Record) -> Result<Record, Invalid> {
    let is_special = base.is_special();
    let is_separator = |char| char == '/' || is_special && char == '\\';
    let Some(rest) = input.strip_prefix(is_separator) else {
        let mut url = Record { fragment: None, ..base.clone() };
        relative_path(&mut url, input, Record::shorten_path);
        return Ok(url);
    };
    if rest.starts_with(is_separator) {
        let authority = if is_special { rest.trim_start_matches(is_slash) } else { &rest[1..] };
        return authority_state(Record { scheme: base.scheme.clone(), ..Record::default() }, authority);
    }
    let mut url = Record { path: String::new(), query: None, fragment: None, ..base.clone() };
    path_state(&mut url, rest);
    Ok(url)
}

/// Reads what follows the path of the base, or replaces the end of that path. `shorten` removes the end.
fn relative_path(url: &mut Record, input: &str, shorten: impl Fn(&mut Record)) {
    match input.as_bytes().first() {
        None => {}
        Some(b'?' | b'#') => after_path(url, input),
        Some(_) => {
            url.query = None;
            shorten(url);
            path_state(url, input);
        }
    }
}

fn authority_state(mut url: Record, input: &str) -> Result<Record, Invalid> {
    let is_special = url.is_special();
    let is_end = |char| matches!(char, '/' | '?' | '#') || is_special && char == '\\';
    let (authority, rest) = input.split_at(input.find(is_end).unwrap_or(input.len()));
    let (credentials, address) = match authority.rsplit_once('@') {
        Some((_, "")) => return Err(Invalid),
        Some((credentials, address)) => (credentials, address),
        None => ("", authority),
    };
    let (username, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    encode(username, percent::USERINFO, &mut url.username);
    encode(password, percent::USERINFO, &mut url.password);
    let (name, port) = split_port(address);
    if name.is_empty() && (is_special || port.is_some()) {
        return Err(Invalid);
    }
    url.host = Some(host::parse_or_empty(name, is_special)?);
    if let Some(port) = port
        && !port.is_empty()
    {
        if !port.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid);
        }
        url.set_port(port_number(port)?);
    }
    path_start_state(&mut url, rest);
    Ok(url)
}

/// Splits at the colon that is not within an IPv6 address.
pub fn split_port(address: &str) -> (&str, Option<&str>) {
    let mut is_inside = false;
    for (at, byte) in address.bytes().enumerate() {
        match byte {
            b':' if !is_inside => return (&address[..at], Some(&address[at + 1..])),
            b'[' => is_inside = true,
            b']' => is_inside = false,
            _ => {}
        }
    }
    (address, None)
}

/// Reads digits.
pub fn port_number(digits: &str) -> Result<u16, Invalid> {
    digits
        .bytes()
        .try_fold(0_u16, |port, digit| port.checked_mul(10)?.checked_add(u16::from(digit - b'0')))
        .ok_or(Invalid)
}

/// Reads a file's URL after its scheme, or without one.
fn file_state(input: &str, base: Option<&Record>) -> Result<Record, Invalid> {
    let mut url = Record { scheme: String::from("file"), host: Some(String::new()), ..Record::default() };
    let Some(rest) = input.strip_prefix(is_slash) else {
        if let Some(base) = base {
            url = Record { fragment: None, ..base.clone() };
            relative_path(&mut url, input, |url| {
                if starts_with_drive_letter(input) { url.path.clear() } else { url.shorten_path() }
            });
        } else {
            path_state(&mut url, input);
        }
        return Ok(url);
    };
    if let Some(rest) = rest.strip_prefix(is_slash) {
        return file_host_state(url, rest);
    }
    if let Some(base) = base {
        url.host.clone_from(&base.host);
        if !starts_with_drive_letter(rest)
            && let Some(drive) = base.drive()
        {
            url.path.push('/');
            url.path.push_str(drive);
        }
    }
    path_state(&mut url, rest);
    Ok(url)
}

fn starts_with_drive_letter(input: &str) -> bool {
    input.is_char_boundary(2)
        && is_drive_letter(&input[..2])
        && input[2..].chars().next().is_none_or(|char| matches!(char, '/' | '\\' | '?' | '#'))
}

fn file_host_state(mut url: Record, input: &str) -> Result<Record, Invalid> {
    let (name, rest) = split_file_host(input);
    if is_drive_letter(name) {
        path_state(&mut url, input);
        return Ok(url);
    }
    url.host = Some(file_host(name)?);
    path_start_state(&mut url, rest);
    Ok(url)
}

/// Splits at the end of a file's host.
pub fn split_file_host(input: &str) -> (&str, &str) {
    input.split_at(input.find(['/', '\\', '?', '#']).unwrap_or(input.len()))
}

pub fn file_host(name: &str) -> Result<String, Invalid> {
    host::parse_or_empty(name, true).map(|host| if host == "localhost" { String::new() } else { host })
}

fn path_start_state(url: &mut Record, input: &str) {
    if url.is_special() {
        path_state(url, input.strip_prefix(is_slash).unwrap_or(input));
    } else if let Some(path) = input.strip_prefix('/') {
        path_state(url, path);
    } else {
        // The authority ends with a slash, a question mark, a hash or the input.
        after_path(url, input);
    }
}

fn path_state(url: &mut Record, input: &str) {
    let (path, rest) = input.split_at(input.find(['?', '#']).unwrap_or(input.len()));
    append_path(url, path);
    after_path(url, rest);
}

/// Appends segments to the path.
pub fn append_path(url: &mut Record, path: &str) {
    let is_special = url.is_special();
    let mut rest = path;
    loop {
        let end = rest.find(|char| char == '/' || is_special && char == '\\');
        let segment = &rest[..end.unwrap_or(rest.len())];
        if is_double_dot(segment) {
            url.shorten_path();
            if end.is_none() {
                url.path.push('/');
            }
        } else if is_single_dot(segment) {
            if end.is_none() {
                url.path.push('/');
            }
        } else {
            let is_drive = url.is_file() && url.path.is_empty() && is_drive_letter(segment);
            url.path.push('/');
            if is_drive {
                url.path.push_str(&segment[..1]);
                url.path.push(':');
            } else {
                encode(segment, percent::PATH, &mut url.path);
            }
        }
        let Some(end) = end else { return };
        rest = &rest[end + 1..];
    }
}

/// Returns what follows a dot, which may be escaped.
fn strip_dot(segment: &str) -> Option<&str> {
    match segment.as_bytes() {
        [b'.', ..] => Some(&segment[1..]),
        [b'%', b'2', b'e' | b'E', ..] => Some(&segment[3..]),
        _ => None,
    }
}

fn is_single_dot(segment: &str) -> bool {
    strip_dot(segment) == Some("")
}

fn is_double_dot(segment: &str) -> bool {
    strip_dot(segment).is_some_and(is_single_dot)
}

fn opaque_path_state(url: &mut Record, input: &str) {
    let (path, rest) = input.split_at(input.find(['?', '#']).unwrap_or(input.len()));
    url.has_opaque_path = true;
    encode(path, percent::CONTROL, &mut url.path);
    // A space at the end would be lost when the URL is parsed again without what follows.
    if !rest.is_empty() && url.path.ends_with(' ') {
        url.path.pop();
        url.path.push_str("%20");
    }
    after_path(url, rest);
}

/// Reads a query and a fragment.
fn after_path(url: &mut Record, input: &str) {
    if let Some(input) = input.strip_prefix('?') {
        let (query, rest) = input.split_at(input.find('#').unwrap_or(input.len()));
        query_state(url, query);
        after_path(url, rest);
    } else if let Some(fragment) = input.strip_prefix('#') {
        fragment_state(url, fragment);
    }
}

pub fn query_state(url: &mut Record, input: &str) {
    let set = if url.is_special() { percent::SPECIAL_QUERY } else { percent::QUERY };
    let mut query = String::with_capacity(input.len());
    encode(input, set, &mut query);
    url.query = Some(query);
}

pub fn fragment_state(url: &mut Record, input: &str) {
    let mut fragment = String::with_capacity(input.len());
    encode(input, percent::FRAGMENT, &mut fragment);
    url.fragment = Some(fragment);
}
