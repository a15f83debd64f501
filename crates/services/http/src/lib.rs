//! A third party's API behind a sidecar, which adds credentials that modules never see, and passes on allowed requests.

mod allow;
mod body;
mod credentials;
mod forwarded;
mod rate;
mod routes;
mod service;
#[cfg(test)]
mod tests;
mod upstream;

pub use service::KIND;
