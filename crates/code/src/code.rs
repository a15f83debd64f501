//! A component with its machine code and the code's memory.

use std::sync::Arc;

use tenon_memory::Image;
use wasmtime::component::Component;

/// A component that is ready to be linked.
pub struct Code {
    component: Component,
    image: Option<Arc<Image>>,
    /// True when the code is mapped from a file.
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

    /// Returns the initial content of the engine's memory. The caller that instantiates the component has to provide it
    /// ([`tenon_memory::providing`]). None when the component initializes its memory itself.
    #[must_use]
    pub fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref()
    }

    /// Releases the code's resident memory in this process. Code that runs afterwards is mapped again, page by page,
    /// from the system's cache of the file. Does nothing unless the code is mapped from a file.
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
        // SAFETY: this is a private mapping of a whole file, so it starts at a page. wasmtime accepts no code that
        // needs relocation, writes nothing to it and makes it read-only. So no page differs from the file's. The file
        // does not change, because files here are replaced and never written to. A read of a dropped page finds the
        // same bytes.
        let released = unsafe { madvise(image.start.cast_mut().cast(), length, Advice::LinuxDontNeed) };
        if let Err(error) = released {
            tracing::debug!("the memory of compiled code cannot be released: {error}");
        }
    }
}
