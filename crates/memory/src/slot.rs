//! A place for one memory after another.

use std::io;
use std::sync::Arc;

use crate::image::Image;
use crate::region::{PAGE, Region};
use crate::scan::{self, Below};

/// How much of what an instance has written is restored in place, which stays resident for the next one. What has written
/// more is given back as a whole: a greedy request must not be paid for by those after it.
const KEPT: usize = 2 * 1024 * 1024;

/// A reservation with the longest memory's room, and what is mapped at its start.
pub(crate) struct Slot {
    region: Region,
    image: Option<Arc<Image>>,
    /// What can be accessed, from the start; and how much that was when it was prepared.
    accessible: usize,
    prepared: usize,
    /// How much was restored in place when it was last reset.
    resident: usize,
}

impl Slot {
    pub(crate) fn new(reservation: usize) -> io::Result<Self> {
        Ok(Self { region: Region::reserve(reservation)?, image: None, accessible: 0, prepared: 0, resident: 0 })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.region.start()
    }

    pub(crate) fn length(&self) -> usize {
        self.region.length()
    }

    pub(crate) fn resident(&self) -> usize {
        self.resident
    }

    /// Whether it holds an image, or that it holds none.
    pub(crate) fn holds(&self, image: Option<&Arc<Image>>) -> bool {
        match (&self.image, image) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Makes it a memory of `size` bytes that holds an image, and zeros besides. It was reset when it was last used.
    pub(crate) fn prepare(&mut self, image: Option<&Arc<Image>>, size: usize) -> io::Result<()> {
        let size = size.next_multiple_of(PAGE);
        if !self.holds(image) {
            let before = self.accessible;
            self.accessible = 0;
            self.image = None;
            // SAFETY: no memory stands in a slot that is prepared.
            unsafe { self.region.map_zeros(0, before, false)? };
            self.region.protect(0, size, true)?;
            if let Some(image) = image {
                let (file, offset) = image.file();
                // SAFETY: as above.
                unsafe { self.region.map_file(image.start(), image.length(), file, offset)? };
            }
            self.image = image.cloned();
        } else if size < self.accessible {
            self.region.protect(size, self.accessible - size, false)?;
        } else {
            self.region.protect(self.accessible, size - self.accessible, true)?;
        }
        self.accessible = size;
        self.prepared = size;
        Ok(())
    }

    /// Whether it is a larger memory than it was when it was prepared.
    pub(crate) fn has_grown(&self) -> bool {
        self.accessible != self.prepared
    }

    /// Makes more of it accessible: zeros.
    pub(crate) fn grow(&mut self, size: usize) -> io::Result<()> {
        let size = size.next_multiple_of(PAGE);
        if size > self.accessible {
            self.region.protect(self.accessible, size - self.accessible, true)?;
            self.accessible = size;
        }
        Ok(())
    }

    /// Lets go of what nobody has written to since it was mapped: it is mapped again when it is wanted.
    ///
    /// # Safety
    ///
    /// Nobody uses it meanwhile.
    pub(crate) unsafe fn release(&self) {
        let start = self.start().addr();
        scan::of_file(start..start + self.accessible, |run| {
            // SAFETY: what is given back is the file's, which is what is found there afterwards.
            if let Err(error) = unsafe { self.region.give_back(run.start - start, run.len()) } {
                tracing::debug!("pages that were read are not released: {error}");
            }
        });
    }

    /// Makes its content what it was when it was prepared. Nobody uses it any more.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        let restored = self.restore_written();
        self.resident = restored.unwrap_or(0);
        if restored.is_none() {
            // SAFETY: nobody uses it.
            unsafe { self.region.give_back(0, self.accessible)? };
        }
        Ok(())
    }

    /// Restores what was written to in place, and gives how many bytes of pages that were. None when they are too many, or cannot
    /// be found or restored.
    fn restore_written(&self) -> Option<usize> {
        let start = self.start().addr();
        let image = self.image.as_ref().map(|image| (image.content(), image.start()));
        let (at, end) = image.as_ref().map_or((0, 0), |(content, at)| (*at, at + content.len()));
        let mut resident = 0;
        let mut copied = Ok(());
        for (part, below) in [(0..at, Below::Zeros), (at..end, Below::File), (end..self.accessible, Below::Zeros)] {
            let left = KEPT - resident;
            let scanned = scan::written(start + part.start..start + part.end, below, left, |run| {
                resident += run.len();
                let run = run.start - start..run.end - start;
                assert!(part.start <= run.start && run.end <= part.end);
                // SAFETY: the run is within what can be accessed, and nobody uses it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(self.start().add(run.start), run.len()) };
                match &image {
                    Some((image, at)) if below == Below::File && copied.is_ok() => {
                        copied = image.copy(run.start - at..run.end - at, bytes);
                    }
                    _ => bytes.fill(0),
                }
            });
            if !scanned || copied.is_err() {
                return None;
            }
        }
        Some(resident)
    }
}
