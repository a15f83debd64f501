//! The memories of an engine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::{Config, LinearMemory, MemoryCreator, MemoryType, Result};

use crate::Usage;
use crate::image::Image;
use crate::providing::{made, take};
use crate::slot::Slot;
use crate::stacks::Stacks;

/// Makes the memories of an engine's instances, and keeps some of those that were dropped for the next ones.
#[derive(Clone)]
pub struct Memories {
    pool: Arc<Pool>,
}

/// Slots that wait, those that were used last at the end.
struct Pool {
    waiting: Mutex<Vec<Slot>>,
    kept: usize,
    used: AtomicUsize,
}

/// Has an engine use memories and stacks, unless it is to do without ([`crate::is_portable`]).
pub fn configure(config: &mut Config, memories: &Memories, stacks: &Stacks) {
    if !crate::is_portable() {
        config.with_host_memory(Arc::new(memories.clone())).with_host_stack(Arc::new(stacks.clone()));
    }
}

impl Memories {
    /// `kept` is how many slots wait for the next memory at most; each keeps up to two megabytes resident.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self { pool: Arc::new(Pool { waiting: Mutex::default(), kept, used: AtomicUsize::new(0) }) }
    }

    /// Lets go of pages that waiting slots share with an image; they are there again when they are wanted.
    pub fn release(&self, image: &Arc<Image>) {
        for slot in self.pool.waiting().iter().filter(|slot| slot.holds(Some(image))) {
            // SAFETY: nobody uses a slot that waits.
            unsafe { slot.release() };
        }
    }

    /// Unmaps the waiting slots that hold an image.
    pub fn forget(&self, image: &Arc<Image>) {
        let mut waiting = self.pool.waiting();
        let forgotten: Vec<_> = waiting.extract_if(.., |slot| slot.holds(Some(image))).collect();
        drop(waiting);
        drop(forgotten);
    }

    /// Gives back what stays resident in waiting slots. The next instances in them take longer.
    pub fn trim(&self) {
        for slot in self.pool.waiting().iter_mut() {
            // SAFETY: nobody uses a slot that waits, and it was reset before.
            if let Err(error) = unsafe { slot.trim() } {
                tracing::debug!("a waiting memory is not given back: {error}");
            }
        }
    }

    /// What memories there are at the moment.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let waiting = self.pool.waiting();
        let resident = waiting.iter().map(Slot::resident).sum();
        Usage { used: self.pool.used.load(Ordering::Relaxed), waiting: waiting.len(), resident }
    }
}

// SAFETY: a memory is a part of a reservation that is its own until it is dropped. What lies behind its size, up to the end of
// the reservation and of the guard after it, cannot be accessed; it never moves; and it starts with zeros, but for the image
// that whoever instantiates a module has said is the module's.
unsafe impl MemoryCreator for Memories {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        _: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let capacity = reserved.unwrap_or(minimum).max(minimum);
        let length = capacity.checked_add(guard).ok_or("the memory is too large")?;
        let image = take(minimum);
        let slot = self.pool.take(image.as_ref(), length, minimum);
        let slot = slot.map_err(|error| format!("no memory could be mapped: {error}"))?;
        let slot = Arc::new(Mutex::new(Some(slot)));
        if image.is_some() {
            made(Live { slot: Arc::clone(&slot) });
        }
        Ok(Box::new(Memory { slot, size: minimum, capacity, pool: Arc::clone(&self.pool) }))
    }
}

impl Pool {
    fn waiting(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot of this length that is a memory of `size` bytes: one that holds the image already, one that holds another, or
    /// a new one.
    fn take(&self, image: Option<&Arc<Image>>, length: usize, size: usize) -> std::io::Result<Slot> {
        let found = {
            let mut waiting = self.waiting();
            let fitting = waiting.iter().rposition(|slot| slot.length() == length && slot.holds(image));
            // Another image's slot is taken over once there are enough of them.
            let other = || {
                let full = waiting.len() >= self.kept;
                waiting.iter().position(|slot| full && slot.length() == length)
            };
            fitting.or_else(other).map(|index| waiting.remove(index))
        };
        let mut slot = match found {
            Some(slot) => slot,
            None => Slot::new(length)?,
        };
        slot.prepare(image, size)?;
        self.used.fetch_add(1, Ordering::Relaxed);
        Ok(slot)
    }

    fn give(&self, mut slot: Slot) {
        self.used.fetch_sub(1, Ordering::Relaxed);
        if let Err(error) = slot.reset() {
            tracing::warn!("a memory could not be reset, and is unmapped: {error}");
            return;
        }
        let mut waiting = self.waiting();
        waiting.push(slot);
        // The one that has waited longest.
        let surplus = (waiting.len() > self.kept).then(|| waiting.remove(0));
        drop(waiting);
        drop(surplus);
    }
}

/// The memory of an instance that lives.
pub struct Live {
    slot: Shared,
}

impl Live {
    /// Makes the memory what it was when its instance was made. False when it cannot be: it has grown since.
    ///
    /// # Safety
    ///
    /// Nothing runs in the instance, and nobody reads or writes the memory meanwhile.
    #[must_use]
    pub unsafe fn restore(&self) -> bool {
        match &mut *locked(&self.slot) {
            Some(slot) if !slot.has_grown() => slot.reset().is_ok(),
            _ => false,
        }
    }

    /// Lets go of pages that the memory shares with its image; they are there again when they are wanted.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    pub unsafe fn release(&self) {
        if let Some(slot) = &*locked(&self.slot) {
            // SAFETY: the caller's.
            unsafe { slot.release() };
        }
    }
}

/// A slot that a memory has until it is dropped.
type Shared = Arc<Mutex<Option<Slot>>>;

fn locked(slot: &Shared) -> MutexGuard<'_, Option<Slot>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A memory in its slot.
struct Memory {
    slot: Shared,
    size: usize,
    capacity: usize,
    pool: Arc<Pool>,
}

// SAFETY: see `Memories`.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, size: usize) -> Result<()> {
        wasmtime::ensure!(size <= self.capacity, "the memory cannot grow to {size} bytes");
        if let Some(slot) = &mut *locked(&self.slot) {
            slot.grow(size)?;
        }
        self.size = size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        locked(&self.slot).as_ref().map_or(std::ptr::null_mut(), Slot::start)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let slot = locked(&self.slot).take();
        if let Some(slot) = slot {
            self.pool.give(slot);
        }
    }
}
