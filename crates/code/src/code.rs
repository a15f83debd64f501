//! A component with its machine code, and the memory that the code takes.

use std::sync::Arc;

use tenon_memory::Image;
use wasmtime::component::Component;

/// A component that is ready to be linked.
pub struct Code {
    component: Component,
    image: Option<Arc<Image>>,
    /// Whether the code is mapped from a file.
    mapped: bool,
}

impl Code {
    pub(crate) fn compiled(component: Component, image: Option<Image>) -> Self {
        Self { component, image: image.map(Arc::new), mapped: false }
    }

    pub(crate) fn mapped(component: Component, image: Option<Image>) -> Self {
        Self { component, image: image.map(Arc::new), mapped: true }
    }

    /// The component.
    #[must_use]
    pub fn component(&self) -> &Component {
        &self.component
    }

    /// What the memory of its engine starts with, which whoever instantiates it has to provide ([`tenon_memory::providing`]);
    /// none when the component does so itself.
    #[must_use]
    pub fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref()
    }

    /// Lets go of the memory that the code takes in this process. Code that runs afterwards is mapped again, piece by piece,
    /// from what the system keeps of the file. Nothing happens when the code is not mapped from a file.
    pub fn release(&self) {
        if !self.mapped || tenon_memory::is_portable() {
            return;
        }
        if let Some(image) = &self.image {
            image.release();
        }
        #[cfg(target_os = "linux")]
        self.release_code();
    }

    #[cfg(target_os = "linux")]
    fn release_code(&self) {
        use rustix::mm::{Advice, madvise};

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
