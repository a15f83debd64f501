//! Makes a `wasi:http` request from the record of a call.

use alloc::format;
use alloc::string::{String, ToString};

use crate::bindings::exports::sdk::core::calls::{Failure, Reason, Request};
use crate::bindings::wasi::http::types::{Fields, Method, OutgoingRequest, Scheme};
use crate::engine::get_environment;
use crate::failure::failure;

/// Makes the request without its body, whose length is not known when the handler writes more.
pub fn outgoing(request: &Request, has_more: bool) -> Result<OutgoingRequest, Failure> {
    let invalid = |detail: &str| failure(Reason::Invalid, detail);
    let (url, token) = match request.url.strip_prefix("sidecar:") {
        Some(rest) => at_sidecar(rest).ok_or_else(|| failure(Reason::Refused, "there is no such sidecar"))?,
        None => (request.url.clone(), None),
    };
    let url = Url::parse(&url).ok_or_else(|| invalid("the URL is not an absolute one of http or https"))?;
    let fields = Fields::new();
    let length = request.body.as_ref().filter(|_| !has_more).map(|body| body.len().to_string().into_bytes());
    for (name, value) in &request.headers {
        if name.eq_ignore_ascii_case("content-length") {
            if has_more {
                return Err(invalid("the length of a streamed body is not known"));
            }
            if length.as_ref().is_some_and(|length| length != value) {
                return Err(invalid("the length is not that of the body"));
            }
            continue;
        }
        fields.append(name, value).map_err(|_| invalid("a header is not allowed"))?;
    }
    if let Some(token) = token
        && !fields.has("authorization")
    {
        let sent = format!("Bearer {token}").into_bytes();
        fields.append("authorization", &sent).map_err(|_| invalid("the token of the sidecar is no header's value"))?;
    }
    if let Some(length) = length {
        fields.append("content-length", &length).map_err(|_| invalid("the length is not allowed"))?;
    }
    let outgoing = OutgoingRequest::new(fields);
    outgoing.set_method(&method(&request.method)).map_err(|()| invalid("the method is not one of HTTP"))?;
    outgoing.set_scheme(Some(&url.scheme)).map_err(|()| invalid("the scheme is not allowed"))?;
    outgoing.set_authority(Some(url.authority)).map_err(|()| invalid("the URL has no valid host"))?;
    outgoing.set_path_with_query(Some(url.path)).map_err(|()| invalid("the URL has no valid path"))?;
    Ok(outgoing)
}

/// Returns the URL of a path at a sidecar, such as `db/sql/query`, and the sidecar's token if it has one. None when
/// there is no such sidecar.
fn at_sidecar(text: &str) -> Option<(String, Option<String>)> {
    let (name, path) = text.split_at(text.find('/')?);
    let variable = format!("SIDECAR_{}", name.to_ascii_uppercase().replace('-', "_"));
    let mut variables = get_environment();
    let mut take = |name: String| {
        let at = variables.iter().position(|(given, _)| *given == name)?;
        Some(variables.swap_remove(at).1)
    };
    let base = take(format!("{variable}_URL"))?;
    let token = take(format!("TENON_SECRET_{variable}_TOKEN")).or_else(|| take(format!("{variable}_TOKEN")));
    Some((base.strip_suffix('/').unwrap_or(&base).to_string() + path, token))
}

/// The parts of a URL for `wasi:http`.
struct Url<'a> {
    scheme: Scheme,
    authority: &'a str,
    /// Path and query; `/` when there is none.
    path: &'a str,
}

impl<'a> Url<'a> {
    fn parse(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = match scheme {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        // A user name and a fragment are never sent (RFC 9110, section 4.2.4).
        let valid = !authority.is_empty() && !authority.contains('@') && !url.contains('#') && !path.starts_with('?');
        valid.then_some(Self { scheme, authority, path: if path.is_empty() { "/" } else { path } })
    }
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "CONNECT" => Method::Connect,
        "OPTIONS" => Method::Options,
        "TRACE" => Method::Trace,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_string()),
    }
}
