//! HTTP for all routes: limited bodies, texts decoded once, errors as problem details, and access checks.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod charge;
pub(crate) mod connection;
pub(crate) mod entity_tags;
pub(crate) mod guard;
mod json_size;
pub(crate) mod members;
pub(crate) mod metrics;
pub(crate) mod name;
pub(crate) mod problem;
pub(crate) mod query;
pub(crate) mod serve;
pub(crate) mod shared;
pub(crate) mod token;
#[cfg(unix)]
mod unix_socket;
