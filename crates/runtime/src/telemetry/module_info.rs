//! The name of a module, and the records that are kept under it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::telemetry::metrics::ModuleMetrics;
use crate::telemetry::source_map::SourceMap;

/// Facts about a module for code that acts on its behalf.
pub(crate) struct ModuleInfo {
    /// The `<module>` of `/run/<module>/*`.
    pub(crate) name: Arc<str>,
    /// Its counters.
    pub(crate) metrics: ModuleMetrics,
    /// Where its code comes from.
    pub(crate) source_map: SourceMap,
    /// Warnings of undeclared members that are in the log.
    pub(crate) warnings: Warnings,
}

/// The warnings that a module has logged, because an instance for each request cannot know them.
#[derive(Default)]
pub(crate) struct Warnings(Mutex<HashSet<String>>);

impl Warnings {
    /// Bounds what a module can make the host keep; later warnings are logged each time.
    const MAX: usize = 200;

    /// Reports whether a line is a warning that is in the log.
    pub(crate) fn is_repeated(&self, line: &str) -> bool {
        if !line.ends_with(tenon_abi::NOT_SENT) {
            return false;
        }
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logged.contains(line) || (logged.len() < Self::MAX && !logged.insert(line.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_warnings_of_undeclared_members_are_repeated() {
        let warnings = Warnings::default();
        let warning = format!("warning: users: the response does not declare #/password, {}", tenon_abi::NOT_SENT);
        assert_eq!(
            [&warning, &warning, "other", "other"].map(|line| warnings.is_repeated(line)),
            [false, true, false, false]
        );
        for n in 0..2 * Warnings::MAX {
            assert!(!warnings.is_repeated(&format!("{n} {}", tenon_abi::NOT_SENT)));
        }
        assert!(warnings.is_repeated(&warning));
        assert_eq!(warnings.0.lock().unwrap().len(), Warnings::MAX);
    }
}
