//! The harness that proves isolation: random requests to random handlers, and a comparison before each of them.
//!
//! The instance that is about to serve a request, whether it was restored or made in a slot that others have used, is compared
//! with a fresh one of the same module: every byte of every memory, every global and every table element of every core
//! instance, exported or not, the collector's heap, and all that the host holds for it. docs/design.md ("Isolation is compared") says how to run it.
//!
//! ```text
//!  campaign ─► Runtime::handle ─► Module::instance ─► Probe::look ─► store (guest) and Host::observed (host)
//!     └─► random handlers (tenon-fixtures), and one in JavaScript (scripts/isolation)
//! ```

mod campaign;
#[cfg(target_os = "linux")]
mod conditions;
pub(crate) mod probe;
mod requests;
pub(crate) mod seen;
mod store;
mod tests;
