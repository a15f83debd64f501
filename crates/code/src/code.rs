//! A component with its machine code and its memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tenon_memory::Image;
use wasmtime::component::Component;

use crate::machine::Machine;

/// A component that is ready to be linked.
pub struct Code {
    machine: Arc<Machine>,
    image: Option<Arc<Image>>,
    /// True when this component counts as a user of its machine code.
    used: AtomicBool,
}

impl Code {
    pub(crate) fn new(machine: Arc<Machine>, image: Option<Image>) -> Self {
        machine.enter();
        Self { machine, image: image.map(Arc::new), used: AtomicBool::new(true) }
    }

    /// The component. Components that differ only in their memory have the same one.
    #[must_use]
    pub fn component(&self) -> &Component {
        self.machine.component()
    }

    /// Returns the initial content of the engine's memory. The caller that instantiates the component has to provide it
    /// ([`tenon_memory::providing`]). None when the component initializes its memory itself.
    #[must_use]
    pub fn image(&self) -> Option<&Arc<Image>> {
        self.image.as_ref()
    }

    /// Counts the component as a user of its machine code, as a new one is.
    pub fn resume(&self) {
        if !self.used.swap(true, Ordering::Relaxed) {
            self.machine.enter();
        }
    }

    /// Releases the component's resident memory in this process, and that of the machine code unless another component
    /// uses it. Memory that is used afterwards is mapped again, page by page, from the system's cache of the file. Code
    /// that is not mapped from a file stays resident.
    pub fn release(&self) {
        if let Some(image) = &self.image {
            image.release();
        }
        self.leave();
    }

    fn leave(&self) {
        if self.used.swap(false, Ordering::Relaxed) {
            self.machine.leave();
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        self.leave();
    }
}
