//! Connections of HTTP servers: the rules that hold for the runtime's listener and for the services alike.
//!
//! It owns what a server must know of a connection beyond what hyper offers: the framing of its requests ([`Framing`]), the
//! bytes that are held for its client ([`Budget`]), its end when it idles or stalls ([`drive`]), and
//! the names that lead to this machine ([`names_this_machine`]). It leaves parsing to
//! hyper, and routes and answers to `tenon-runtime` and `tenon-services`.

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
