//! PostgreSQL's own grammar: parses a statement into its raw parse tree.
//!
//! The parser is libpg_query, PostgreSQL 18's scanner and grammar, compiled to WebAssembly and published as the npm
//! package `libpg-query`. It runs in wasmtime, because the statements come from modules and the parser is C. A fault in
//! it ends one instance and not the sidecar. Every statement gets its own instance, so no statement sees or changes
//! another's leftovers in the parser's memory.
//!
//! 1. [`Grammar::load`] compiles the parser, or maps the code that an earlier start stored.
//! 2. [`Grammar::parse`] passes on the tree, and [`Grammar::split`] returns the statements of a file. Memory and depth have
//!    limits; a statement beyond one is an error. An [`Interrupt`] ends a parse whose time is over.
//!
//! This crate does not decide which statements are allowed: `crates/services` decides from the tree.

mod imports;
mod load;
mod parse;
mod split;
mod tree;

pub use load::{DIGEST, Grammar, GrammarError};
pub use parse::{Bounds, Interrupt, ParseError};
pub use split::{Kind, Piece, SplitError};
pub use tree::Tree;
