//! The addon: Tenon's crates as a Node module (npm package `@tenon/native`).
//!
//! One small file for each exposed type, with conversion and delegation only; `crates/` does the work. Everything that
//! takes time returns a promise and runs on threads of its own; on Node's thread runs at most the first poll of a
//! single call (`calls.rs`).

#![cfg_attr(test, allow(dead_code, reason = "napi's macro registers nothing in a test build"))]
#![allow(unreachable_pub, reason = "napi's macro exposes these items to Node")]

mod allocator;
mod calls;
mod closable;
mod compose;
mod delta;
mod failure;
mod in_process;
mod jobs;
mod linked;
mod log;
mod migrate;
mod options;
mod recent;
mod request;
mod running;
mod runtime;
mod sandbox;
mod server;
mod services;
mod sidecar;
mod snapshot;
mod streams;
mod tapes;
mod uploads;
mod usage;
