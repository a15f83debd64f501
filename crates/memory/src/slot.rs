//! A slot holds one memory after another.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::content::Pages;
use crate::image::Image;
use crate::region::{PAGE, Region};
use crate::scan::{self, Below};

/// Maximum bytes that a reset restores in place and keeps resident. A slot with more written bytes is given back as a
/// whole, so that later requests do not pay for a greedy one.
const KEPT: usize = 2 * 1024 * 1024;

/// Interval of resets that compare pages with the image before they restore them. Every page that was ever written is
/// the slot's own, so a reset alone cannot see which pages are still written. The number is a prime, so that both of
/// two alternating routes meet such a reset.
const LOOK: u32 = 17;

/// Number of looks in a row after which an unchanged page is given back. A page that one request in ten writes mostly
/// stays, because giving it back and faulting it in again costs more than restoring it.
const QUIET: u8 = 4;

/// A reservation for the longest memory, and the mapping at its start.
pub(crate) struct Slot {
    region: Region,
    image: Option<Arc<Image>>,
    /// Accessible bytes from the start, now and when the slot was prepared.
    accessible: usize,
    prepared: usize,
    /// Bytes that the last reset restored in place.
    resident: usize,
    resets: u32,
    /// Ascending offsets of pages that the last look found unchanged, each with the number of such looks in a row.
    quiet: Vec<(usize, u8)>,
}

impl Slot {
    pub(crate) fn new(reservation: usize) -> io::Result<Self> {
        let region = Region::reserve(reservation)?;
        Ok(Self { region, image: None, accessible: 0, prepared: 0, resident: 0, resets: 0, quiet: Vec::new() })
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

    /// Returns whether it holds this image; None stands for no image.
    pub(crate) fn holds(&self, image: Option<&Arc<Image>>) -> bool {
        match (&self.image, image) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => true,
            _ => false,
        }
    }

    /// Turns it into a memory of `size` bytes with an image, and zeros elsewhere.
    ///
    /// # Safety
    ///
    /// No memory is in the slot, which is new or was reset after its last use.
    pub(crate) unsafe fn prepare(&mut self, image: Option<&Arc<Image>>, size: usize) -> io::Result<()> {
        let size = size.next_multiple_of(PAGE);
        if !self.holds(image) {
            let before = self.accessible;
            self.accessible = 0;
            self.image = None;
            self.quiet.clear();
            // SAFETY: the caller promises that no memory is in the slot.
            unsafe { self.region.map_zeros(0, before, false)? };
            self.region.allow(0, size)?;
            if let Some(image) = image {
                let (file, offset) = image.file();
                // SAFETY: as above.
                unsafe { self.region.map_file(image.start(), image.length(), file, offset)? };
            }
            self.image = image.cloned();
        } else if size < self.accessible {
            // SAFETY: as above.
            unsafe { self.region.deny(size, self.accessible - size)? };
        } else {
            self.region.allow(self.accessible, size - self.accessible)?;
        }
        self.accessible = size;
        self.prepared = size;
        Ok(())
    }

    /// Returns whether the memory has grown since it was prepared.
    pub(crate) fn has_grown(&self) -> bool {
        self.accessible != self.prepared
    }

    /// Makes more of it accessible, filled with zeros.
    pub(crate) fn grow(&mut self, size: usize) -> io::Result<()> {
        let size = size.next_multiple_of(PAGE);
        if size > self.accessible {
            self.region.allow(self.accessible, size - self.accessible)?;
            self.accessible = size;
        }
        Ok(())
    }

    /// Releases pages that were read and not written; they are mapped again on their next use.
    ///
    /// # Safety
    ///
    /// Nobody uses it during the call.
    pub(crate) unsafe fn release(&self) {
        let start = self.start().addr();
        scan::of_file(start..start + self.accessible, |run| {
            // SAFETY: the pages are the file's, and the next access maps them again.
            if let Err(error) = unsafe { self.region.give_back(run.start - start, run.len()) } {
                tracing::debug!("pages that were only read cannot be released: {error}");
            }
        });
    }

    /// Gives pages back that are resident since the reset. The content stays the same.
    ///
    /// # Safety
    ///
    /// Nobody uses it, and nobody has since it was reset.
    pub(crate) unsafe fn trim(&mut self) -> io::Result<()> {
        if self.resident > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.region.give_back(0, self.accessible)? };
            self.resident = 0;
            self.quiet.clear();
        }
        Ok(())
    }

    /// Resets its content to the state after `prepare`.
    ///
    /// # Safety
    ///
    /// Nobody uses it during the call.
    pub(crate) unsafe fn reset(&mut self) -> io::Result<()> {
        self.resets = self.resets.wrapping_add(1);
        // SAFETY: the caller's promise.
        let restored = unsafe { if self.resets.is_multiple_of(LOOK) { self.look() } else { self.restore_all() } };
        self.resident = restored.unwrap_or(0);
        if restored.is_none() {
            self.quiet.clear();
            // SAFETY: as above.
            unsafe { self.region.give_back(0, self.accessible)? };
        }
        Ok(())
    }

    /// Restores every page that was ever written, and returns their size in bytes. None when there are too many, or
    /// they cannot be found or restored.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    unsafe fn restore_all(&self) -> Option<usize> {
        let restore = |_, bytes: &mut [u8], image: Option<(&Pages<'_>, usize)>| match image {
            Some((image, at)) => image.copy(at, bytes),
            None => {
                bytes.fill(0);
                Ok(())
            }
        };
        // SAFETY: the caller's promise.
        unsafe { self.written(restore) }
    }

    /// Restores pages like [`Slot::restore_all`], and gives back pages that are no longer written.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    unsafe fn look(&mut self) -> Option<usize> {
        let (mut quiet, mut unused) = (Vec::new(), Vec::<Range<usize>>::new());
        let restore = |start: usize, bytes: &mut [u8], image: Option<(&Pages<'_>, usize)>| -> io::Result<()> {
            for (page, bytes) in (start..).step_by(PAGE).zip(bytes.chunks_exact_mut(PAGE)) {
                let at = image.as_ref().map(|(image, at)| (*image, at + page - start));
                let unchanged = match at {
                    Some((image, at)) => image.equals(at, bytes)?,
                    None => *bytes == ZEROS,
                };
                match at {
                    _ if unchanged => {
                        let before = self.quiet.binary_search_by_key(&page, |(page, _)| *page);
                        let looks = 1 + before.map_or(0, |index| self.quiet[index].1);
                        match unused.last_mut() {
                            _ if looks < QUIET => quiet.push((page, looks)),
                            Some(run) if run.end == page => run.end += PAGE,
                            _ => unused.push(page..page + PAGE),
                        }
                    }
                    Some((image, at)) => image.copy(at, bytes)?,
                    None => bytes.fill(0),
                }
            }
            Ok(())
        };
        // SAFETY: the caller's promise.
        let resident = unsafe { self.written(restore) }?;
        self.quiet = quiet;
        let mut given_back = 0;
        for run in unused {
            // SAFETY: as above, and the pages equal the mapping below.
            unsafe { self.region.give_back(run.start, run.len()) }.ok()?;
            given_back += run.len();
        }
        Some(resident - given_back)
    }

    /// Calls `restore` with the offset and bytes of each run of the slot's own pages. In the image's range it also gets
    /// the image and the run's offset in it. Returns the size of all runs in bytes. None when there are too many, they
    /// cannot be found, or `restore` fails.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    unsafe fn written(
        &self,
        mut restore: impl FnMut(usize, &mut [u8], Option<(&Pages<'_>, usize)>) -> io::Result<()>,
    ) -> Option<usize> {
        let start = self.start().addr();
        let image = self.image.as_ref().map(|image| (image.content(), image.start()));
        let (at, end) = image.as_ref().map_or((0, 0), |(content, at)| (*at, at + content.len()));
        let mut resident = 0;
        let mut restored = Ok(());
        for (part, below) in [(0..at, Below::Zeros), (at..end, Below::File), (end..self.accessible, Below::Zeros)] {
            let left = KEPT - resident;
            let scanned = scan::written(start + part.start..start + part.end, below, left, |run| {
                resident += run.len();
                let run = run.start - start..run.end - start;
                assert!(part.start <= run.start && run.end <= part.end);
                // SAFETY: the run is within the accessible part. The caller promises that nobody uses it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(self.start().add(run.start), run.len()) };
                if restored.is_ok() {
                    let image = image.as_ref().filter(|_| below == Below::File);
                    restored = restore(run.start, bytes, image.map(|(image, at)| (image, run.start - at)));
                }
            });
            if !scanned || restored.is_err() {
                return None;
            }
        }
        Some(resident)
    }
}

/// The content of an unwritten page outside the image.
static ZEROS: [u8; PAGE] = [0; PAGE];
