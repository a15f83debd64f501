//! The client of a request: the bytes buffered for it, and the limit of unrequested data.

use std::sync::Arc;
use std::time::Duration;

use http::header::HOST;
use http::request::Parts;
use http::{HeaderValue, Version};
use tenon_http_server::{Account, Reservation, Upload, Uploads, names_this_machine};

use crate::config::TrustedProxies;
use crate::request::limits;
use crate::request::origin::{Origin, Peer};
use crate::request::problem::Problem;

/// Memory of a request besides its head and its bodies: its task, and hyper's state.
pub(crate) const REQUEST_BYTES: usize = 8 * 1024;

/// Bytes of a head that are part of [`REQUEST_BYTES`].
const SMALL_HEAD: usize = 1024;

/// The requests that a listener answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// All.
    Everything,
    /// All but `/metrics`, which has a listener of its own.
    Modules,
    /// `/metrics`, `/health` and `/ready`.
    Operations,
}

/// A client on a connection, or the program that embeds the runtime.
#[derive(Clone)]
pub(crate) struct Client {
    account: Account,
    /// None for a program: its bodies are whole when they come.
    uploads: Option<Arc<Uploads>>,
    /// How long a request waits for room.
    timeout: Duration,
    /// True when requests must name this machine.
    local: bool,
    serves: Serves,
    /// None for a program.
    peer: Option<Peer>,
}

impl Client {
    /// A client on a connection.
    pub(crate) fn connected(
        account: Account,
        uploads: Arc<Uploads>,
        timeout: Duration,
        (local, serves): (bool, Serves),
        peer: Peer,
    ) -> Self {
        Self { account, uploads: Some(uploads), timeout, local, serves, peer: Some(peer) }
    }

    /// The program that embeds the runtime.
    pub(crate) fn embedding(account: Account, timeout: Duration) -> Self {
        Self { account, uploads: None, timeout, local: false, serves: Serves::Everything, peer: None }
    }

    /// The same program, for a request that reached it on a connection of its own.
    pub(crate) fn on_behalf_of(&self, peer: Option<Peer>) -> Self {
        Self { peer, ..self.clone() }
    }

    /// The requests that its listener answers.
    pub(crate) fn serves(&self) -> Serves {
        self.serves
    }

    /// Reports whether the listener answers to the names in a request: to any, or to this machine's own only.
    pub(crate) fn may_name(&self, parts: &Parts) -> bool {
        let authority = parts.uri.authority().map(|authority| authority.as_str().as_bytes());
        let hosts = parts.headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
        let local = |name: &[u8]| std::str::from_utf8(name).is_ok_and(names_this_machine);
        !self.local || authority.into_iter().chain(hosts).all(local)
    }

    /// Where one of its requests comes from.
    pub(crate) fn origin(&self, parts: &Parts, trusted: &TrustedProxies) -> Origin {
        Origin::of(self.peer, parts, trusted)
    }

    /// Reports whether it is believed when it asks for a recording: a trusted proxy, or the program itself.
    pub(crate) fn may_ask(&self, trusted: &TrustedProxies) -> bool {
        self.peer.is_none_or(|peer| trusted.contain(peer.address))
    }

    /// Room for one more request, by its head.
    ///
    /// # Errors
    ///
    /// [`Problem::NoRoom`]
    pub(crate) fn request(&self, parts: &Parts) -> Result<Room, Problem> {
        let base = match &self.uploads {
            Some(_) => REQUEST_BYTES + limits::head_bytes(parts).saturating_sub(SMALL_HEAD),
            None => 0,
        };
        let reservation = self.account.try_reserve(base).ok_or(Problem::NoRoom)?;
        Ok(Room { base, reservation, timeout: self.timeout })
    }

    /// Begins to read a body of this length, or of an unknown one.
    ///
    /// # Errors
    ///
    /// [`Problem::NoRoom`]
    pub(crate) fn upload(&self, length: Option<usize>) -> Result<Option<Upload>, Problem> {
        match &self.uploads {
            Some(uploads) => uploads.begin(length).map(Some).ok_or(Problem::NoRoom),
            None => Ok(None),
        }
    }

    /// Reports whether the rest of an unread body must be read before the client sees an answer. A stream of HTTP/2 is
    /// reset after its answer (RFC 9113, section 8.1).
    pub(crate) fn must_send_all(version: Version) -> bool {
        version != Version::HTTP_2
    }
}

/// Room for a request, and for the one of its bodies that is held.
#[derive(Debug)]
pub(crate) struct Room {
    base: usize,
    reservation: Reservation,
    timeout: Duration,
}

impl Room {
    /// Reserves memory for more of a body.
    ///
    /// # Errors
    ///
    /// [`Problem::NoRoom`] when none becomes free in time.
    pub(crate) async fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        if self.reservation.grow(bytes, self.timeout).await { Ok(()) } else { Err(Problem::NoRoom) }
    }

    /// Reserves memory for a body of this length, in place of the former reservation.
    ///
    /// # Errors
    ///
    /// [`Problem::NoRoom`] when none becomes free in time.
    pub(crate) async fn hold(&mut self, bytes: usize) -> Result<(), Problem> {
        let whole = self.base.saturating_add(bytes);
        if self.reservation.resize(whole, self.timeout).await { Ok(()) } else { Err(Problem::NoRoom) }
    }

    /// Holds no body any more.
    pub(crate) fn clear(&mut self) {
        self.reservation.shrink_to(self.base);
    }

    /// Takes the room of the body that is held.
    pub(crate) fn body(&mut self) -> Reservation {
        let bytes = self.reservation.bytes().saturating_sub(self.base);
        self.reservation.split(bytes)
    }

    /// Takes all of the room.
    pub(crate) fn all(&mut self) -> Reservation {
        self.base = 0;
        self.body()
    }

    /// Room of its own, of which nothing is used.
    pub(crate) fn another(&mut self) -> Self {
        Self { base: 0, reservation: self.reservation.split(0), timeout: self.timeout }
    }
}
