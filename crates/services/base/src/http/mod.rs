//! HTTP for all routes: limited bodies, texts decoded once, errors as problem details, and access checks.

pub mod answer;
pub mod body;
pub mod charge;
pub mod connection;
pub mod entity_tags;
pub mod guard;
mod json_size;
pub mod members;
pub mod metrics;
pub mod name;
pub mod problem;
pub mod query;
pub mod serve;
pub mod shared;
pub mod token;
#[cfg(unix)]
mod unix_socket;
