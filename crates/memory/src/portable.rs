//! Memories where nothing of Linux is relied on: each belongs to one instance, and starts with a copy of its image.
//!
//! A reset compares the whole memory with its initial content, and copies back the blocks that differ, because nothing reports the
//! written pages here.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use wasmtime::{LinearMemory, MemoryCreator, MemoryType, Result};

use crate::KEPT;
use crate::digest::{BLOCK, MemoryDigest, ZEROS};
use crate::image::Image;
use crate::providing::{image, made};
use crate::region::{Region, page_size};

/// Maximum size in bytes of a memory that is reset. An idle instance keeps its whole memory resident, also the pages that Linux
/// would share with the image.
const MAX_SIZE: usize = 16 * 1024 * 1024;

/// Creator of memories that start with a copy of their image.
#[derive(Clone, Default)]
pub(crate) struct PortableMemories {
    used: Arc<AtomicUsize>,
}

impl PortableMemories {
    /// Returns the number of memories that exist.
    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

// SAFETY: a memory owns its mapping until it is dropped. Addresses from its size up to the end of the reservation and its guard
// cannot be accessed. It never moves. It starts with zeros, except for the image that the caller has provided for the module.
unsafe impl MemoryCreator for PortableMemories {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let Plan { image, size, capacity, length } = Plan::of(minimum, maximum, reserved, guard)?;
        let region = Region::reserve(length).and_then(|region| {
            region.allow(0, size)?;
            if let Some(image) = &image {
                // SAFETY: the image lies within its size, which is accessible, and nobody else has the region.
                let content = unsafe {
                    std::slice::from_raw_parts_mut(region.start().wrapping_add(image.start()), image.length())
                };
                image.read(content)?;
            }
            Ok(region)
        });
        let region = region.map_err(|error| format!("a memory cannot be mapped: {error}"))?;
        self.used.fetch_add(1, Ordering::Relaxed);
        let (size, has_grown, used) = (AtomicUsize::new(size), AtomicBool::new(false), Arc::clone(&self.used));
        let mapping = Arc::new(Mapping { region, size, has_grown, used });
        if let Some(image) = image {
            made(PortableLive { mapping: Arc::clone(&mapping), image }.into());
        }
        Ok(Box::new(Memory { mapping, capacity }))
    }
}

/// A memory that is to be made.
pub(crate) struct Plan {
    pub(crate) image: Option<Arc<Image>>,
    /// Bytes that it starts with. Modules that share code start with memories of different sizes, which wasmtime takes from
    /// `byte_size`.
    pub(crate) size: usize,
    /// Bytes that it may have.
    pub(crate) capacity: usize,
    /// Bytes of its reservation.
    pub(crate) length: usize,
}

impl Plan {
    /// Takes the arguments of [`MemoryCreator::new_memory`].
    pub(crate) fn of(
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Self, String> {
        let image = image(minimum);
        let size = image.as_ref().map_or(minimum, |image| image.size());
        if maximum.is_some_and(|maximum| size > maximum) {
            return Err("the memory's image is larger than the memory may become".into());
        }
        let capacity = reserved.unwrap_or(size).max(size);
        let length = capacity.checked_add(guard).ok_or("the memory is too large")?;
        Ok(Self { image, size, capacity, length })
    }
}

/// A memory's bytes. They are unmapped when neither the memory nor its [`PortableLive`] is left.
struct Mapping {
    region: Region,
    size: AtomicUsize,
    /// True once the memory has begun to grow, even if that failed.
    has_grown: AtomicBool,
    /// The number of memories.
    used: Arc<AtomicUsize>,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.used.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The memory of a live instance.
pub(crate) struct PortableLive {
    mapping: Arc<Mapping>,
    image: Arc<Image>,
}

impl PortableLive {
    /// Resets the memory to its initial content. False when it has grown, or is too large to stay resident while it is idle.
    ///
    /// # Safety
    ///
    /// Nobody reads or writes the memory during the call.
    pub(crate) unsafe fn restore(&self) -> io::Result<bool> {
        if self.mapping.has_grown.load(Ordering::Acquire) || !stays(self.image.size(), self.image.length()) {
            return Ok(false);
        }
        // SAFETY: the caller's promise is the same.
        unsafe { self.each_changed(|_, block, initial| block.copy_from_slice(initial))? };
        Ok(true)
    }

    /// Computes the digest. It reads all of the memory, because nothing says which pages were written.
    ///
    /// # Safety
    ///
    /// As for [`PortableLive::restore`].
    pub(crate) unsafe fn digest(&self) -> io::Result<u128> {
        let mut digest = MemoryDigest::new(self.size().next_multiple_of(page_size()));
        // SAFETY: the caller's promise is the same.
        unsafe { self.each_changed(|at, block, _| digest.add(at, block))? };
        Ok(digest.end())
    }

    fn size(&self) -> usize {
        self.mapping.size.load(Ordering::Acquire)
    }

    /// Calls `changed` for each block that differs from its initial content: with its offset, its bytes and that content.
    ///
    /// # Safety
    ///
    /// As for [`PortableLive::restore`].
    unsafe fn each_changed(&self, mut changed: impl FnMut(usize, &mut [u8], &[u8])) -> io::Result<()> {
        let (start, content) = (self.image.start(), self.image.bytes()?);
        for at in (0..self.size()).step_by(BLOCK) {
            // SAFETY: the block is within the accessible part, because a memory has a multiple of 64 KiB. The caller promises that
            // nobody else uses it.
            let block = unsafe { std::slice::from_raw_parts_mut(self.mapping.region.start().add(at), BLOCK) };
            let within = at.checked_sub(start).and_then(|at| content.get(at..at + BLOCK));
            let initial = within.unwrap_or(&ZEROS);
            if block != initial {
                changed(at, block, initial);
            }
        }
        Ok(())
    }
}

/// Returns whether an idle instance may keep a memory of `size` bytes, of which its image has `length`. Outside of the image, Linux
/// keeps as many bytes resident.
fn stays(size: usize, length: usize) -> bool {
    size <= MAX_SIZE && size - length <= KEPT
}

struct Memory {
    mapping: Arc<Mapping>,
    capacity: usize,
}

// SAFETY: the region belongs to the memory until it is dropped, and never moves. Only its first `size` bytes can be accessed: growing
// makes more of the reservation accessible, up to `capacity`, and nothing of the guard.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.mapping.size.load(Ordering::Relaxed)
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, size: usize) -> Result<()> {
        wasmtime::ensure!(size <= self.capacity, "the memory cannot grow to {size} bytes");
        let before = self.byte_size();
        // A failure may leave pages accessible, which no reset would look at.
        self.mapping.has_grown.store(true, Ordering::Release);
        self.mapping.region.allow(before, size - before)?;
        self.mapping.size.store(size, Ordering::Release);
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.mapping.region.start()
    }
}

#[cfg(test)]
mod tests;
