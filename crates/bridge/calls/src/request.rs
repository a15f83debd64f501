//! A `wasi:http` request from the record of a call.

use alloc::string::ToString;

use crate::bindings::exports::sdk::core::calls::{Failure, Reason, Request};
use crate::bindings::wasi::http::types::{Fields, Method, OutgoingRequest, Scheme};
use crate::failure::failure;

/// Makes the request, without its body.
pub fn outgoing(request: &Request) -> Result<OutgoingRequest, Failure> {
    let invalid = |detail: &str| failure(Reason::Invalid, detail);
    let url = Url::parse(&request.url).ok_or_else(|| invalid("the URL is not an absolute one of http or https"))?;
    let fields = Fields::new();
    let length = request.body.as_ref().map(|body| body.len().to_string().into_bytes());
    for (name, value) in &request.headers {
        if name.eq_ignore_ascii_case("content-length") {
            if length.as_ref().is_some_and(|length| length != value) {
                return Err(invalid("the length is not that of the body"));
            }
            continue;
        }
        fields.append(name, value).map_err(|_| invalid("a header is not allowed"))?;
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

/// The parts of a URL that `wasi:http` takes apart.
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
