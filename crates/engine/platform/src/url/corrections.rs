//! Corrections of what the crate `url` does otherwise than the current URL Standard.
use alloc::borrow::Cow;
use alloc::string::String;
use url::{Position, Url, quirks};

/// Removed from any input (section 4.4).
fn is_removed(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r')
}

/// Reduces the slashes before the authority of a relative reference to two, if the base is special and no file. The crate
/// accepts two alone there.
pub fn authority_slashes<'a>(input: &'a str, base: &Url) -> Cow<'a, str> {
    let is_slash = |char| matches!(char, '/' | '\\');
    let trimmed = input.trim_matches(|char| char <= ' ');
    if !trimmed.starts_with(is_slash) || base.scheme() == "file" || base.cannot_be_a_base() || !is_special(base) {
        return Cow::Borrowed(input);
    }
    let slashes = trimmed.chars().filter(|&char| !is_removed(char)).take_while(|&char| is_slash(char)).count();
    if slashes <= 2 {
        return Cow::Borrowed(input);
    }
    let rest = trimmed.trim_start_matches(|char| is_slash(char) || is_removed(char));
    Cow::Owned(String::from("//") + rest)
}

fn is_special(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp" | "file")
}

/// Escapes a circumflex in a path, and the last space of an opaque path, which the crate does not.
pub fn escape_path(url: Url) -> Url {
    let path = url.path();
    if url.cannot_be_a_base() {
        if !path.ends_with(' ') {
            return url;
        }
        let end = url.scheme().len() + 1 + path.len();
        let text = url.as_str();
        let escaped = [&text[..end - 1], "%20", &text[end..]].concat();
        return Url::parse(&escaped).unwrap_or(url);
    }
    // The crate's setter does not keep a path that begins with an empty segment apart from a host.
    if !path.contains('^') || path.starts_with("//") {
        return url;
    }
    let escaped = escape_circumflex(path).into_owned();
    let mut url = url;
    url.set_path(&escaped);
    url
}

fn escape_circumflex(path: &str) -> Cow<'_, str> {
    if path.contains('^') { Cow::Owned(path.replace('^', "%5E")) } else { Cow::Borrowed(path) }
}

/// Returns whether a port is given, but no character of it remains. The crate deletes the port then.
pub fn is_blank(port: &str) -> bool {
    !port.is_empty() && port.chars().all(is_removed)
}

/// Returns whether the URL is of the form `scheme:/path`, without `//` and a host.
fn has_path_alone(url: &Url) -> bool {
    !url.has_authority() && !url.cannot_be_a_base()
}

/// Sets the path. The crate's function takes the beginning of a path that begins with `//` for a host, and does not empty the
/// path of a URL that is not special.
pub fn set_pathname(url: &mut Url, value: &str) {
    let value = escape_circumflex(value);
    if has_path_alone(url) {
        let Ok(mut other) = with_host(url, "") else { return };
        quirks::set_pathname(&mut other, &value);
        let path = if other.path().is_empty() { "/" } else { other.path() };
        let guard = if path.starts_with("//") { "/." } else { "" };
        let text = [url.scheme(), ":", guard, path, &url[Position::AfterPath..]].concat();
        replace(url, &text);
    } else if value.is_empty() && !is_special(url) && !url.cannot_be_a_base() {
        let text = [&url[..Position::BeforePath], &url[Position::AfterPath..]].concat();
        replace(url, &text);
    } else {
        quirks::set_pathname(url, &value);
    }
}

/// Sets the host by one of the crate's functions, which keep the `/.` before a path that begins with `//`.
pub fn set_host(url: &mut Url, set: fn(&mut Url, &str) -> Result<(), ()>, value: &str) -> Result<(), ()> {
    if !has_path_alone(url) {
        return set(url, value);
    }
    let mut other = with_host(url, &url[Position::BeforePath..]).map_err(|_| ())?;
    set(&mut other, value)?;
    *url = other;
    Ok(())
}

/// Returns a URL with the same scheme, some host, and what follows it.
fn with_host(url: &Url, rest: &str) -> Result<Url, url::ParseError> {
    Url::parse(&[url.scheme(), "://host", rest].concat())
}

fn replace(url: &mut Url, text: &str) {
    if let Ok(parsed) = Url::parse(text) {
        *url = parsed;
    }
}
