//! The setters of `URL` (URL Standard, section 6.1), each with the states that it begins the parser in.
use alloc::string::String;

use super::parser::{
    append_path, file_host, fragment_state, port_number, query_state, split_file_host, split_port, split_scheme,
    without_newlines,
};
use super::percent::{self, encode};
use super::record::{Record, default_port, is_special_scheme};
use super::{Invalid, host};

pub fn set_protocol(url: &mut Record, value: &str) -> Result<(), Invalid> {
    let input = [&*without_newlines(value), ":"].concat();
    let (scheme, _) = split_scheme(&input).ok_or(Invalid)?;
    let is_file = scheme == "file";
    if is_special_scheme(&scheme) != url.is_special()
        || is_file && (url.includes_credentials() || url.port.is_some())
        || url.is_file() && url.host.as_ref().is_none_or(String::is_empty)
    {
        return Err(Invalid);
    }
    url.scheme = scheme;
    if url.port == default_port(&url.scheme) {
        url.port = None;
    }
    Ok(())
}

pub fn set_username(url: &mut Record, value: &str) -> Result<(), Invalid> {
    if url.cannot_have_credentials_or_port() {
        return Err(Invalid);
    }
    url.username.clear();
    encode(value, percent::USERINFO, &mut url.username);
    Ok(())
}

pub fn set_password(url: &mut Record, value: &str) -> Result<(), Invalid> {
    if url.cannot_have_credentials_or_port() {
        return Err(Invalid);
    }
    url.password.clear();
    encode(value, percent::USERINFO, &mut url.password);
    Ok(())
}

/// Sets the host, and the port if one is given. The setter `hostname` accepts no port.
pub fn set_host(url: &mut Record, value: &str, with_port: bool) -> Result<(), Invalid> {
    if url.has_opaque_path {
        return Err(Invalid);
    }
    let input = without_newlines(value);
    if url.is_file() {
        url.host = Some(file_host(split_file_host(&input).0)?);
        return Ok(());
    }
    let is_special = url.is_special();
    let is_end = |char| matches!(char, '/' | '?' | '#') || is_special && char == '\\';
    let (name, port) = split_port(input.split(is_end).next().unwrap_or(""));
    if port.is_some() && (name.is_empty() || !with_port) {
        return Err(Invalid);
    }
    if name.is_empty() && (is_special || url.includes_credentials() || url.port.is_some()) {
        return Err(Invalid);
    }
    url.host = Some(host::parse_or_empty(name, is_special)?);
    // The host stays when the port is not valid.
    if let Some(port) = port {
        let _ = set_port_digits(url, port);
    }
    Ok(())
}

pub fn set_port(url: &mut Record, value: &str) -> Result<(), Invalid> {
    if url.cannot_have_credentials_or_port() {
        return Err(Invalid);
    }
    if value.is_empty() {
        url.port = None;
        return Ok(());
    }
    set_port_digits(url, &without_newlines(value))
}

/// Reads the digits that the input begins with.
fn set_port_digits(url: &mut Record, input: &str) -> Result<(), Invalid> {
    let digits = &input[..input.bytes().take_while(u8::is_ascii_digit).count()];
    if digits.is_empty() {
        return Err(Invalid);
    }
    url.set_port(port_number(digits)?);
    Ok(())
}

pub fn set_pathname(url: &mut Record, value: &str) -> Result<(), Invalid> {
    if url.has_opaque_path {
        return Err(Invalid);
    }
    let input = without_newlines(value);
    url.path.clear();
    let is_special = url.is_special();
    if is_special || !input.is_empty() {
        append_path(url, input.strip_prefix(|char| char == '/' || is_special && char == '\\').unwrap_or(&input));
    } else if url.host.is_none() {
        url.path.push('/');
    }
    Ok(())
}

pub fn set_search(url: &mut Record, value: &str) {
    url.query = None;
    if !value.is_empty() {
        query_state(url, &without_newlines(value.strip_prefix('?').unwrap_or(value)));
    }
}

pub fn set_hash(url: &mut Record, value: &str) {
    url.fragment = None;
    if !value.is_empty() {
        fragment_state(url, &without_newlines(value.strip_prefix('#').unwrap_or(value)));
    }
}
