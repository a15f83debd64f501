//! HTTP servers, as far as the runtime's listener and the services are the same.
//!
//! It owns the loop that accepts connections and lets them finish ([`Serving`]). It adds to hyper the framing of requests
//! ([`Framed`]), the bytes held for a client ([`Budget`]), and the end of idle or stalled connections ([`drive`]). It has
//! the discarding of unread bodies ([`discard()`]), problem details ([`problem()`]), and the names of this machine
//! ([`names_this_machine`]). hyper parses; `tenon-runtime` and `tenon-services` route and answer.

mod budget;
mod discard;
mod drive;
mod framing;
mod host;
mod problem;
mod progress;
mod serving;
mod timed;
mod uploads;

pub use budget::{Account, Budget, Reservation, TooManyConnections, network};
pub use discard::{DISCARD_BYTES, asks_first, discard, discard_rest};
pub use drive::{Ended, Timeouts, drive};
pub use framing::{Framed, HalfClosed};
pub use host::names_this_machine;
pub use problem::problem;
pub use progress::{Activity, Ongoing, Turn};
pub use serving::{Bounds, Listen, Serve, Serving};
pub use timed::Timed;
pub use uploads::{Upload, Uploads};
