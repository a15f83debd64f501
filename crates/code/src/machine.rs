//! Machine code, and the modules of this process that use it.
//!
//! Components that differ only in their memory have the same code. A process maps that code once, as one component of
//! wasmtime's. Each module brings its own image, from which its memories start (`tenon-memory`). The component is
//! immutable, so a module cannot reach another through it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use wasmtime::Engine;
use wasmtime::component::Component;

/// Machine code that is ready to be linked.
pub(crate) struct Machine {
    component: Component,
    /// True when the code is mapped from a file, so that its pages can be released.
    mapped: bool,
    /// Modules that use the code and are not idle.
    users: AtomicUsize,
}

impl Machine {
    /// Wraps code that was loaded.
    pub(crate) fn new(component: Component, mapped: bool) -> Self {
        Self { component, mapped, users: AtomicUsize::new(0) }
    }

    pub(crate) fn component(&self) -> &Component {
        &self.component
    }

    /// Counts a module that uses the code.
    pub(crate) fn enter(&self) {
        self.users.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a module that no longer uses it, and releases the code's resident memory after the last one. A call that
    /// comes meanwhile only maps the pages again.
    pub(crate) fn leave(&self) {
        if self.users.fetch_sub(1, Ordering::Relaxed) == 1 && self.mapped {
            #[cfg(target_os = "linux")]
            self.release();
        }
    }

    #[cfg(target_os = "linux")]
    fn release(&self) {
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

/// The code of one name, in every engine of this process.
type Known = Arc<Mutex<Vec<Weak<Machine>>>>;

/// A name under which code is shared. Whoever holds its lock loads the code; others wait and use it.
pub(crate) struct Entry(Known);

/// Finds or makes the entry of a name, which is the path of its file where it has one.
pub(crate) fn entry(name: PathBuf) -> Entry {
    static ENTRIES: LazyLock<Mutex<HashMap<PathBuf, Known>>> = LazyLock::new(Mutex::default);
    let mut entries = ENTRIES.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody waits for the lock of an entry that only the map has.
    entries.retain(|_, known| {
        Arc::strong_count(known) > 1 || locked(known).iter().any(|machine| machine.strong_count() > 0)
    });
    Entry(Arc::clone(entries.entry(name).or_default()))
}

fn locked(known: &Known) -> MutexGuard<'_, Vec<Weak<Machine>>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Entry {
    pub(crate) fn lock(&self) -> Machines<'_> {
        Machines(locked(&self.0))
    }
}

/// The loaded code of a name.
pub(crate) struct Machines<'a>(MutexGuard<'a, Vec<Weak<Machine>>>);

impl Machines<'_> {
    /// Finds code of an engine.
    pub(crate) fn find(&self, engine: &Engine) -> Option<Arc<Machine>> {
        self.0.iter().filter_map(Weak::upgrade).find(|machine| Engine::same(machine.component.engine(), engine))
    }

    /// Adds code that was loaded.
    pub(crate) fn add(&mut self, machine: Machine) -> Arc<Machine> {
        let machine = Arc::new(machine);
        self.0.retain(|other| other.strong_count() > 0);
        self.0.push(Arc::downgrade(&machine));
        machine
    }
}
