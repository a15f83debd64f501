//! A component with its machine code, and the memory that the code takes.

use rustix::mm::{Advice, madvise};
use wasmtime::component::Component;

/// A component that is ready to be linked.
pub struct Code {
    component: Component,
    /// Whether the code is mapped from a file.
    mapped: bool,
}

impl Code {
    pub(crate) fn compiled(component: Component) -> Self {
        Self { component, mapped: false }
    }

    pub(crate) fn mapped(component: Component) -> Self {
        Self { component, mapped: true }
    }

    /// The component.
    #[must_use]
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// Lets go of the memory that the code takes in this process. Code that runs afterwards is mapped again, piece by piece,
    /// from what the system keeps of the file. Nothing happens when the code is not mapped from a file.
    pub fn release(&self) {
        if !self.mapped {
            return;
        }
        let image = self.component.image_range();
        let length = image.end.addr() - image.start.addr();
        // SAFETY: this is a private mapping of a whole file, so it starts with a page. wasmtime accepts no code that would
        // have to be relocated, writes nothing to it and makes it read-only: no page differs from the file's, which nobody
        // changes, since files here are replaced by others and never written to. Whoever reads a page that is gone finds
        // the same bytes there again.
        let released = unsafe { madvise(image.start.cast_mut().cast(), length, Advice::LinuxDontNeed) };
        if let Err(error) = released {
            tracing::debug!("the memory of code is not released: {error}");
        }
    }
}
