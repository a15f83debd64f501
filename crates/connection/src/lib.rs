//! Connections of HTTP servers: rules that the runtime's listener and the services share.
//!
//! It adds to hyper the framing of requests ([`Framing`]), the bytes held for a client ([`Budget`]), the end of idle or
//! stalled connections ([`drive`]), and the names of this machine ([`names_this_machine`]). hyper parses;
//! `tenon-runtime` and `tenon-services` route and answer.

mod budget;
mod drive;
mod framing;
mod host;
mod progress;
mod timed;
mod uploads;

pub use budget::{Account, Budget, Reservation, TooManyConnections};
pub use drive::{Ended, Timeouts, drive};
pub use framing::{Framed, Framing};
pub use host::names_this_machine;
pub use progress::{Activity, Ongoing, Turn};
pub use timed::Timed;
pub use uploads::{Upload, Uploads};
