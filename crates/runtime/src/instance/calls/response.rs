//! The response of a call within its limits, and the reasons why it was not read to its end.

use std::time::Duration;

use http::HeaderMap;
use http_body::Body as _;
use http_body_util::BodyExt;
use tenon_transport::{BodyError, ResponseBody};
use wasmtime_wasi_http::WasiBody;

use super::wit::{Failure, Header, Reason, failure};
use crate::instance::account::{Charge, beyond, fields_weight};
use crate::instance::egress::is_forbidden;

/// Charges the headers of a response.
pub(super) fn hold_fields(headers: &HeaderMap, most: usize, held: &mut Charge) -> Result<(), Unread> {
    let fields: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if fields > most {
        return Err(Unread::TooLarge(most, "max_fields_bytes"));
    }
    if !held.grow(fields_weight(headers)) {
        return Err(Unread::NoRoom(held.most()));
    }
    Ok(())
}

/// The reason why a response was not read to its end.
pub(super) enum Unread {
    TooLarge(usize, &'static str),
    /// The host would hold more bytes than this for the request.
    NoRoom(usize),
    /// The time of the guest is over.
    Late(Duration),
    /// The guest has written more than the host sends.
    RequestTooLong,
    Body(BodyError),
}

impl Unread {
    pub(super) fn failure(&self, name: &str) -> Failure {
        match self {
            Self::TooLarge(most, limit) => {
                failure(Reason::TooLarge, format!("the response of {name} is larger than {most} bytes ({limit})"))
            }
            Self::NoRoom(most) => {
                failure(Reason::TooLarge, format!("the response of {name} has no room: {}", beyond(*most)))
            }
            Self::Late(after) => failure(
                Reason::Timeout,
                format!("the response of {name} was not complete within {} ms", after.as_millis()),
            ),
            Self::RequestTooLong => failure(
                Reason::Invalid,
                format!("the body of the request to {name} is longer than the host sends (max_outbound_body_bytes)"),
            ),
            Self::Body(error @ BodyError::Timeout(_)) => {
                failure(Reason::Timeout, format!("the response of {name} broke off: {error}"))
            }
            Self::Body(error) => failure(Reason::Broken, format!("the response of {name} broke off: {error}")),
        }
    }
}

/// Reads a body to its end.
pub(super) async fn collect(
    mut body: ResponseBody<WasiBody>,
    (most, limit): (usize, &'static str),
    held: &mut Charge,
) -> Result<Vec<u8>, Unread> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    reserve(&mut bytes, announced, (most, limit), held)?;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(Unread::Body)?.into_data() else { continue };
        reserve(&mut bytes, data.len(), (most, limit), held)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Makes room for more bytes, by doubling. All of the room is held.
fn reserve(
    bytes: &mut Vec<u8>,
    more: usize,
    (most, limit): (usize, &'static str),
    held: &mut Charge,
) -> Result<(), Unread> {
    let needed = bytes.len().saturating_add(more);
    if needed > most {
        return Err(Unread::TooLarge(most, limit));
    }
    if needed > bytes.capacity() {
        let doubled = bytes.capacity().saturating_mul(2).clamp(needed, most);
        let mut fits = [doubled, needed].into_iter().filter(|capacity| held.grow(capacity - bytes.capacity()));
        let capacity = fits.next().ok_or_else(|| Unread::NoRoom(held.most()))?;
        bytes.reserve_exact(capacity - bytes.len());
    }
    Ok(())
}

/// The headers of a response but those that HTTP keeps to a hop.
pub(super) fn lower(headers: &HeaderMap) -> Vec<Header> {
    let kept = headers.iter().filter(|(name, _)| !is_forbidden(name));
    kept.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect()
}
