//! Instances of a module: how they are called, and what they reach.

pub(crate) mod account;
pub(crate) mod bounds;
pub(crate) mod call;
pub(crate) mod caller;
pub(crate) mod calls;
pub(crate) mod egress;
pub(crate) mod guest_log;
pub(crate) mod holding;
pub(crate) mod host;
pub(crate) mod log_budget;
pub(crate) mod masks;
pub(crate) mod shared_state;
pub(crate) mod transactions;
pub(crate) mod whole_body;
