//! The reader's counts.

use crate::Refused;
use crate::bounds::{self, Bound};

/// Counts over a whole file: nested components and all core modules together, unless the name begins with "largest" or
/// "most".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Bytes of the file.
    pub bytes: u64,
    /// The deepest nesting of components and modules; the outermost is 1.
    pub depth: u64,
    /// The deepest nesting of declared types.
    pub type_depth: u64,
    /// Components, the outermost included.
    pub components: u64,
    /// Core modules.
    pub modules: u64,
    /// Sections.
    pub sections: u64,
    /// Definitions of components other than types.
    pub items: u64,
    /// Type declarations of components.
    pub types: u64,
    /// Definitions after every instance is expanded.
    pub expanded: u64,
    /// Types of core modules.
    pub core_types: u64,
    /// Imports and exports of core modules.
    pub core_names: u64,
    /// Functions that core modules define.
    pub functions: u64,
    /// Globals that core modules define.
    pub globals: u64,
    /// Tags of exceptions that core modules define.
    pub tags: u64,
    /// Tables and memories that core modules define.
    pub tables: u64,
    /// Initial elements of those tables.
    pub elements: u64,
    /// Segments of data and elements.
    pub segments: u64,
    /// The largest function body in bytes.
    pub largest_body: u64,
    /// The largest number of local variables of one function.
    pub most_locals: u64,
}

impl Census {
    /// Refuses a census with a count beyond its bound. The reader calls it after each section, so that it stops early.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        let counts: [(Bound, u64); 19] = [
            (bounds::BYTES, self.bytes),
            (bounds::DEPTH, self.depth),
            (bounds::TYPE_DEPTH, self.type_depth),
            (bounds::COMPONENTS, self.components),
            (bounds::MODULES, self.modules),
            (bounds::SECTIONS, self.sections),
            (bounds::ITEMS, self.items),
            (bounds::TYPES, self.types),
            (bounds::EXPANDED, self.expanded),
            (bounds::CORE_TYPES, self.core_types),
            (bounds::CORE_NAMES, self.core_names),
            (bounds::FUNCTIONS, self.functions),
            (bounds::GLOBALS, self.globals),
            (bounds::TAGS, self.tags),
            (bounds::TABLES, self.tables),
            (bounds::ELEMENTS, self.elements),
            (bounds::SEGMENTS, self.segments),
            (bounds::BODY, self.largest_body),
            (bounds::LOCALS, self.most_locals),
        ];
        counts.iter().try_for_each(|(bound, found)| bound.check(*found))
    }
}
