//! Memories where nothing of Linux is relied on: each is made for one instance, with a copy of its image, and unmapped after it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wasmtime::{LinearMemory, MemoryCreator, MemoryType, Result};

use crate::digest::{BLOCK, MemoryDigest, ZEROS};
use crate::image::Image;
use crate::providing::{image, made};
use crate::region::{Region, page_size};

/// Creator of memories that are used once.
pub(crate) struct Once;

// SAFETY: a memory owns its mapping until it is dropped. Addresses from its size up to the end of the reservation and its guard
// cannot be accessed. It never moves. It starts with zeros, except for the image that the caller has provided for the module.
unsafe impl MemoryCreator for Once {
    fn new_memory(
        &self,
        _: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let Plan { image, size, capacity, length } = Plan::of(minimum, maximum, reserved, guard)?;
        let memory = Region::reserve(length).and_then(|region| {
            region.allow(0, size)?;
            if let Some(image) = &image {
                // SAFETY: the image lies within its size, which is accessible, and nobody else has the region.
                let content = unsafe {
                    std::slice::from_raw_parts_mut(region.start().wrapping_add(image.start()), image.length())
                };
                image.read(content)?;
            }
            Ok(Mapping { region, size: AtomicUsize::new(size), image })
        });
        let mapping = Arc::new(memory.map_err(|error| format!("a memory cannot be mapped: {error}"))?);
        if mapping.image.is_some() {
            made(OnceLive(Arc::clone(&mapping)).into());
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

/// A memory's bytes and its initial content. They are unmapped when neither the memory nor its [`OnceLive`] is left.
struct Mapping {
    region: Region,
    size: AtomicUsize,
    image: Option<Arc<Image>>,
}

/// The memory of a live instance. It is never reset.
pub(crate) struct OnceLive(Arc<Mapping>);

impl OnceLive {
    /// Computes the digest. It reads all of the memory, because nothing says which pages were written.
    ///
    /// # Safety
    ///
    /// Nobody writes to the memory during the call.
    pub(crate) unsafe fn digest(&self) -> io::Result<u128> {
        let Mapping { region, size, image } = &*self.0;
        let size = size.load(Ordering::Acquire);
        let mut digest = MemoryDigest::new(size.next_multiple_of(page_size()));
        let mut initial = [0; BLOCK];
        for at in (0..size).step_by(BLOCK) {
            // SAFETY: the block is within the accessible part, because a memory has a multiple of 64 KiB. The caller promises that
            // nobody writes to it.
            let block = unsafe { std::slice::from_raw_parts(region.start().add(at), BLOCK) };
            let unchanged = match image {
                Some(image) if (image.start()..image.start() + image.length()).contains(&at) => {
                    image.read_at(at - image.start(), &mut initial)?;
                    block == initial
                }
                _ => block == ZEROS,
            };
            if !unchanged {
                digest.add(at, block);
            }
        }
        Ok(digest.end())
    }
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
        self.mapping.region.allow(before, size - before)?;
        self.mapping.size.store(size, Ordering::Release);
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.mapping.region.start()
    }
}
