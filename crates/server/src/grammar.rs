//! The file with PostgreSQL's grammar.

use std::path::PathBuf;

/// Name of the file beside this program.
const FILE: &str = "libpg-query.wasm";

/// The given file, else the one beside this program, if there is one.
pub(crate) fn grammar(given: Option<PathBuf>) -> Option<PathBuf> {
    given.or_else(|| {
        let beside = std::env::current_exe().ok()?.with_file_name(FILE);
        beside.exists().then_some(beside)
    })
}
