//! The head of a request: its client, the module that it names, and the answers that need no module.

pub(crate) mod client;
pub(crate) mod health;
pub(crate) mod limits;
pub(crate) mod origin;
pub(crate) mod pages;
pub(crate) mod problem;
pub(crate) mod request_id;
pub(crate) mod route;
pub(crate) mod target;
