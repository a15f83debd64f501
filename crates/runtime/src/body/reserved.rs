//! Bytes that keep their reservation until the last of them is dropped.

use bytes::Bytes;
use tenon_http_server::Reservation;

/// Bytes with their reservation, and other values that live until the last byte is dropped.
struct ReservedBytes<T> {
    bytes: Bytes,
    _room: Option<Reservation>,
    _besides: T,
}

impl<T> AsRef<[u8]> for ReservedBytes<T> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Bytes whose room is released with the last of them.
pub(crate) fn reserved(bytes: Bytes, room: Reservation) -> Bytes {
    if bytes.is_empty() {
        return bytes;
    }
    with_owners(bytes, Some(room), ())
}

/// Bytes that own `room` and `besides`: both are dropped with the last byte.
pub(crate) fn with_owners<T: Send + 'static>(bytes: Bytes, room: Option<Reservation>, besides: T) -> Bytes {
    Bytes::from_owner(ReservedBytes { bytes, _room: room, _besides: besides })
}
