//! PostgreSQL's own grammar: parses a statement and returns its raw parse tree as JSON.
//!
//! The parser is libpg_query, PostgreSQL 18's scanner and grammar, compiled to WebAssembly and published as the npm package
//! `libpg-query`. It runs on wasmtime, because the statements come from modules and the parser is C: a fault in it ends one
//! instance and not the sidecar. Every statement gets an instance of its own, so that no statement sees or changes what
//! another left in the parser's memory.
//!
//! 1. [`Grammar::load`] compiles the parser, or maps the code that an earlier start kept.
//! 2. [`Grammar::parse`] returns the tree. Time, memory and depth are bounded; whatever exceeds a bound is an error.
//!
//! This crate knows nothing of what statements may do: `crates/services` decides on the tree.

mod imports;
mod load;
mod parse;
mod tree;

pub use load::{DIGEST, Grammar, GrammarError};
pub use parse::ParseError;
