//! The memories of an engine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::{Config, LinearMemory, MemoryCreator, MemoryType, Result};

use crate::Usage;
use crate::image::Image;
use crate::portable::{Plan, PortableLive, PortableMemories};
use crate::providing::made;
use crate::slot::Slot;
use crate::stacks::Stacks;

/// Creator of the memories of an engine's instances. It keeps some dropped ones for the next instances.
#[derive(Clone)]
pub struct Memories {
    pool: Arc<Pool>,
    /// Those of an engine that does without the pool ([`crate::is_portable`]).
    portable: PortableMemories,
}

/// Idle slots, most recently used last.
struct Pool {
    waiting: Mutex<Vec<Slot>>,
    kept: usize,
    used: AtomicUsize,
}

/// Has an engine use memories and stacks, or memories that are copies of their image ([`crate::is_portable`]).
pub fn configure(config: &mut Config, memories: &Memories, stacks: &Stacks) {
    if crate::is_portable() {
        config.with_host_memory(Arc::new(memories.portable.clone()));
    } else {
        config.with_host_memory(Arc::new(memories.clone())).with_host_stack(Arc::new(stacks.clone()));
    }
}

impl Memories {
    /// Makes a pool with at most `kept` idle slots. Each keeps up to two megabytes resident.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        let pool = Arc::new(Pool { waiting: Mutex::default(), kept, used: AtomicUsize::new(0) });
        Self { pool, portable: PortableMemories::default() }
    }

    /// Releases pages that idle slots share with an image. They are mapped again on their next use.
    pub fn release(&self, image: &Arc<Image>) {
        for slot in self.pool.waiting().iter().filter(|slot| slot.holds(Some(image))) {
            // SAFETY: nobody uses an idle slot.
            unsafe { slot.release() };
        }
    }

    /// Unmaps the idle slots that hold an image.
    pub fn forget(&self, image: &Arc<Image>) {
        let mut waiting = self.pool.waiting();
        let forgotten: Vec<_> = waiting.extract_if(.., |slot| slot.holds(Some(image))).collect();
        drop(waiting);
        drop(forgotten);
    }

    /// Gives resident pages of idle slots back to the system. The next instances in them take longer.
    pub fn trim(&self) {
        for slot in self.pool.waiting().iter_mut() {
            // SAFETY: nobody uses an idle slot, and it was reset before.
            if let Err(error) = unsafe { slot.trim() } {
                tracing::debug!("an idle memory cannot be given back: {error}");
            }
        }
    }

    /// Returns the current numbers of memories.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let waiting = self.pool.waiting();
        let resident = waiting.iter().map(Slot::resident).sum();
        let used = self.pool.used.load(Ordering::Relaxed) + self.portable.used();
        Usage { used, waiting: waiting.len(), resident }
    }
}

// SAFETY: a memory owns a part of a reservation until it is dropped. Addresses from its size up to the end of the
// reservation and its guard cannot be accessed. It never moves. It starts with zeros, except for the image that the
// caller has provided for the module.
unsafe impl MemoryCreator for Memories {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let Plan { image, size, capacity, length } = Plan::of(minimum, maximum, reserved, guard)?;
        let slot = self.pool.take(image.as_ref(), length, size);
        let slot = slot.map_err(|error| format!("a memory cannot be mapped: {error}"))?;
        let slot = Arc::new(Mutex::new(Some(slot)));
        if image.is_some() {
            made(Live(Kind::Kept(Arc::clone(&slot))));
        }
        Ok(Box::new(Memory { slot, size, capacity, pool: Arc::clone(&self.pool) }))
    }
}

impl Pool {
    fn waiting(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a slot of this length and prepares it as a memory of `size` bytes. Prefers one that holds the image, then
    /// one that holds another, then a new one.
    fn take(&self, image: Option<&Arc<Image>>, length: usize, size: usize) -> std::io::Result<Slot> {
        let found = {
            let mut waiting = self.waiting();
            let fitting = waiting.iter().rposition(|slot| slot.length() == length && slot.holds(image));
            // A slot with another image is taken over only when the pool is full.
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
        // SAFETY: the slot is new, or it was idle and so reset.
        unsafe { slot.prepare(image, size)? };
        self.used.fetch_add(1, Ordering::Relaxed);
        Ok(slot)
    }

    fn give(&self, mut slot: Slot) {
        self.used.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: its memory is dropped.
        if let Err(error) = unsafe { slot.reset() } {
            tracing::warn!("a memory cannot be reset and is unmapped: {error}");
            return;
        }
        let mut waiting = self.waiting();
        waiting.push(slot);
        // The one that has been idle longest.
        let surplus = (waiting.len() > self.kept).then(|| waiting.remove(0));
        drop(waiting);
        drop(surplus);
    }
}

/// The memory of a live instance.
pub struct Live(Kind);

enum Kind {
    /// It is in a slot, which serves the next memory.
    Kept(Shared),
    /// It belongs to its instance.
    Portable(PortableLive),
}

impl From<PortableLive> for Live {
    fn from(memory: PortableLive) -> Self {
        Self(Kind::Portable(memory))
    }
}

impl Live {
    /// Resets the memory to its initial state. False when it cannot be reset, because it has grown or, as a copy, is too large.
    ///
    /// # Safety
    ///
    /// Nothing runs in the instance, and nobody reads or writes the memory during the call.
    #[must_use]
    pub unsafe fn restore(&self) -> bool {
        let slot = match &self.0 {
            Kind::Kept(slot) => slot,
            // SAFETY: by the caller's promise nobody uses the memory during the call.
            Kind::Portable(memory) => return unsafe { memory.restore() }.unwrap_or(false),
        };
        match &mut *locked(slot) {
            Some(slot) if !slot.has_grown() => {
                // SAFETY: by the caller's promise nothing runs in the instance, so nobody uses the slot.
                let reset = unsafe { slot.reset() };
                reset.is_ok()
            }
            _ => false,
        }
    }

    /// Computes a digest of the memory. It is the same for equal memories with the same image, on every machine. None when it cannot
    /// be read.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    #[must_use]
    pub unsafe fn digest(&self) -> Option<u128> {
        let digest = match &self.0 {
            // SAFETY: by the caller's promise nobody writes to the slot while it is read.
            Kind::Kept(slot) => unsafe { locked(slot).as_mut()?.digest() },
            // SAFETY: by the caller's promise nobody uses the memory while it is read.
            Kind::Portable(memory) => unsafe { memory.digest() },
        };
        digest.ok()
    }

    /// Releases pages that the memory shares with its image. They are mapped again on their next use.
    ///
    /// # Safety
    ///
    /// As for [`Live::restore`].
    pub unsafe fn release(&self) {
        if let Kind::Kept(slot) = &self.0
            && let Some(slot) = &*locked(slot)
        {
            // SAFETY: by the caller's promise nobody uses the pages while they are unmapped.
            unsafe { slot.release() };
        }
    }
}

/// A slot that belongs to a memory until the memory is dropped.
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

// SAFETY: the slot belongs to the memory until it is dropped, and never moves. Only its first `size` bytes can be accessed: growing
// makes more of the reservation accessible, up to `capacity`, and nothing of the guard.
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
