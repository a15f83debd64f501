//! Records nothing.

use std::fs::File;
use std::path::Path;

/// The identity of a file's current content: there is none that can be relied on.
pub(crate) enum Seal {}

impl Seal {
    /// Returns none, so each file is read.
    pub(crate) fn of(_: &File) -> Option<Self> {
        None
    }

    pub(crate) fn is_noted(&self, _: &Path) -> bool {
        match *self {}
    }

    pub(crate) fn note(&self, _: &Path, _: &Path) {
        match *self {}
    }
}
