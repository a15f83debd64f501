//! Memories where nothing of Linux is relied on: each is made for one instance, with a copy of its image, and unmapped behind it.

use std::sync::Arc;

use wasmtime::{LinearMemory, MemoryCreator, MemoryType, Result};

use crate::image::Image;
use crate::providing::image;
use crate::region::Region;

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
        let made = Region::reserve(length).and_then(|region| {
            region.allow(0, size)?;
            if let Some(image) = image {
                // SAFETY: the image lies within its size, which is accessible, and nobody else has the region.
                let content = unsafe {
                    std::slice::from_raw_parts_mut(region.start().wrapping_add(image.start()), image.length())
                };
                image.read(content)?;
            }
            Ok(Memory { region, size, capacity })
        });
        Ok(Box::new(made.map_err(|error| format!("a memory cannot be mapped: {error}"))?))
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

struct Memory {
    region: Region,
    size: usize,
    capacity: usize,
}

// SAFETY: see `Once`.
unsafe impl LinearMemory for Memory {
    fn byte_size(&self) -> usize {
        self.size
    }

    fn byte_capacity(&self) -> usize {
        self.capacity
    }

    fn grow_to(&mut self, size: usize) -> Result<()> {
        wasmtime::ensure!(size <= self.capacity, "the memory cannot grow to {size} bytes");
        self.region.allow(self.size, size - self.size)?;
        self.size = size;
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.region.start()
    }
}
