//! Recording and replay: the seam through which every value enters an instance.
//!
//! A guest with the exports of `sdk:core/handler` gets values by nine interfaces only, and none of them is a handle. The functions of
//! the host (`instance::host`, `instance::calls`, `instance::call::direct`) pass each value through the [`Seam`] of their request:
//!
//! ```text
//!  Live      the host's own value
//!  Recorded  the host's own value, which the Recorder notes           ─► Recorder ─► Sink ─► file (tenon-tape)
//!  Replayed  the value of a recording; the guest's own are compared    ◄─ Player  ◄─ file
//! ```
//!
//! A request that uses another interface of WASI, where values have handles, is not recorded.

mod bodies;
mod change;
#[cfg(test)]
mod claims_tests;
pub(crate) mod component;
mod derived;
mod difference;
mod driver;
mod json;
mod log_lines;
mod loose;
mod mask_list;
mod masked;
#[cfg(test)]
mod masked_tests;
mod masked_values;
pub(crate) mod not_recorded;
mod placeholders;
pub(crate) mod player;
pub(crate) mod recorder;
mod repeats;
pub(crate) mod replay;
pub(crate) mod seam;
mod signed;
pub(crate) mod sink;
mod view;

pub use change::Change;
pub use difference::{AskedCall, Difference, DifferenceKind};
pub use log_lines::LogLine;
pub(crate) use recorder::Recorder;
pub use replay::{Replayed, Verdict};
pub(crate) use seam::Seam;
pub(crate) use sink::Sink;
pub use view::{meta_view, tape_view};
