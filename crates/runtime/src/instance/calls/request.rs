//! From the record of a request to a request of HTTP.

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::uri::Scheme;
use http::{HeaderName, HeaderValue, Method, Uri};

use super::wit::{Failure, Reason, Request, failure};
use crate::instance::egress::{EXPLAIN, is_forbidden};

/// Converts a record to a request. The failure describes an invalid one, without values of the guest's.
pub(super) fn lift(record: Request, has_more: bool, most_fields: usize) -> Result<http::Request<Bytes>, Failure> {
    let Request { method, url, headers: fields, body, .. } = record;
    let method =
        Method::from_bytes(method.as_bytes()).map_err(|_| invalid("its method must be a token, as HTTP has it"))?;
    if method == Method::CONNECT {
        return Err(invalid("its method must not be CONNECT: a call opens no tunnel"));
    }
    if url.contains('#') {
        return Err(invalid("its URL must not have a fragment"));
    }
    let uri = Uri::try_from(url).map_err(|error| invalid(format!("its URL must be valid: {error}")))?;
    if !matches!(uri.scheme(), Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS) {
        return Err(invalid("its URL must begin with http:// or https://"));
    }
    let body = Bytes::from(body.unwrap_or_default());
    let mut request = http::Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    let bytes = fields.iter().fold(0_usize, |sum, (name, value)| sum + name.len() + value.len());
    if bytes > most_fields {
        return Err(invalid(format!("its headers must not be larger than {most_fields} bytes (max_fields_bytes)")));
    }
    let length = HeaderValue::from(request.body().len());
    let headers = request.headers_mut();
    let too_many = |_| invalid("it must not have that many headers");
    headers.try_reserve(fields.len()).map_err(too_many)?;
    for (name, value) in fields {
        let name =
            HeaderName::try_from(name).map_err(|_| invalid("the name of a header must be a token, as HTTP has it"))?;
        let value = HeaderValue::try_from(value)
            .map_err(|_| invalid(format!("the value of {name} must have no control characters")))?;
        if is_forbidden(&name) {
            return Err(invalid(format!("{name} must not be set: the host sets it")));
        }
        if name == CONTENT_LENGTH {
            if has_more {
                return Err(invalid("content-length must not be set for a streamed body"));
            }
            if value != length {
                return Err(invalid("content-length must be the length of its body"));
            }
            // The connection adds it.
            continue;
        }
        headers.try_append(name, value).map_err(too_many)?;
    }
    headers.remove(EXPLAIN);
    Ok(request)
}

fn invalid(detail: impl Into<String>) -> Failure {
    failure(Reason::Invalid, detail)
}
