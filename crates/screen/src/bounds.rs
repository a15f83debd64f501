//! The bounds of a component. Each stands here once, with the largest value seen in components that real tools write.

use crate::Refused;

/// One bound.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The counted items, as an error message names them.
    pub what: &'static str,
    /// The largest accepted value.
    pub most: u64,
}

impl Bound {
    /// Refuses a value beyond the bound.
    pub(crate) fn check(&self, found: u64) -> Result<(), Refused> {
        if found > self.most {
            return Err(Refused::TooMuch { what: self.what, found, most: self.most });
        }
        Ok(())
    }
}

macro_rules! bounds {
    ($($(#[doc = $doc:literal])+ $name:ident = $most:expr, $what:literal;)+) => {
        $($(#[doc = $doc])+ pub(crate) const $name: Bound = Bound { what: $what, most: $most };)+

        /// Every bound.
        pub const BOUNDS: &[Bound] = &[$($name),+];
    };
}

/// Maximum size of a file in bytes.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

bounds! {
    /// The whole file.
    BYTES = MAX_BYTES, "bytes";
    /// Components and modules inside each other. Tools nest two or three levels.
    DEPTH = 32, "levels of nested components";
    /// Types declared inside each other (component and instance types). Tools nest three or four levels.
    TYPE_DEPTH = 32, "levels of nested types";
    /// Components in the file, itself included. A composition has about a dozen.
    COMPONENTS = 1_000, "components";
    /// Core modules in the file. A component has about a dozen.
    MODULES = 1_000, "core modules";
    /// Sections of components and modules, custom ones included.
    SECTIONS = 100_000, "sections";
    /// Definitions of components: imports, exports, aliases, instances and their arguments, canonical functions.
    ITEMS = 200_000, "definitions of components";
    /// Type declarations of components.
    TYPES = 200_000, "type declarations of components";
    /// Definitions and instances after every instance of a component is expanded, as a compiler does.
    EXPANDED = 500_000, "definitions in expanded instances";
    /// Types of core modules.
    CORE_TYPES = 200_000, "types of core modules";
    /// Imports and exports of core modules.
    CORE_NAMES = 500_000, "imports and exports of core modules";
    /// Functions of core modules.
    FUNCTIONS = 500_000, "functions of core modules";
    /// Globals of core modules.
    GLOBALS = 200_000, "globals of core modules";
    /// Tags of exceptions of core modules. C++ has two.
    TAGS = 10_000, "tags of core modules";
    /// Tables and memories of core modules.
    TABLES = 4_000, "tables and memories of core modules";
    /// Initial elements of all tables, which the compiler lays out one by one.
    ELEMENTS = 4_000_000, "initial table elements";
    /// Segments of data and elements.
    SEGMENTS = 200_000, "segments of data and elements";
    /// The body of one function. A compiler's time grows faster than a body does.
    BODY = 4 * 1024 * 1024, "bytes in a function";
    /// Local variables of one function, as the WebAssembly JavaScript interface bounds them.
    LOCALS = 50_000, "local variables in a function";
}
