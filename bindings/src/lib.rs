//! The addon: Tenon's crates as a Node module (npm package `@tenon/native`).
//!
//! One small file for each thing that is exposed, and in it conversion and delegation only: what is done is done in
//! `crates/`. Everything that takes time returns a promise and runs on threads of its own; on Node's runs at most the
//! beginning of a call that is alone (`calls.rs`).

#![cfg_attr(test, allow(dead_code, reason = "napi's macro registers nothing in a test build"))]
#![allow(unreachable_pub, reason = "what is exposed is exposed to Node, by napi's macro")]

mod calls;
mod compose;
mod failure;
mod in_process;
mod log;
mod options;
mod recent;
mod request;
mod running;
mod runtime;
mod server;
mod services;
mod sidecar;
mod snapshot;
mod streams;
