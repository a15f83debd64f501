//! A place for one memory after another.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::content::Pages;
use crate::image::Image;
use crate::region::{PAGE, Region};
use crate::scan::{self, Below};

/// How much of what an instance has written is restored in place, which stays resident for the next one. What has written
/// more is given back as a whole: a greedy request must not be paid for by those after it.
const KEPT: usize = 2 * 1024 * 1024;

/// Every so many resets, pages are compared with the image before they are restored. A page that any request ever wrote stays
/// the slot's own, so a reset alone cannot tell pages that are still written from pages that once were. The number is a prime,
/// so that looks fall on each of two routes that take turns.
const LOOK: u32 = 17;

/// A page that was unchanged in so many looks in a row is given back. A page that one request in ten writes mostly stays, because
/// to give it back and to fault it in again costs more than to restore it.
const QUIET: u8 = 4;

/// A reservation with the longest memory's room, and what is mapped at its start.
pub(crate) struct Slot {
    region: Region,
    image: Option<Arc<Image>>,
    /// What can be accessed, from the start; and how much that was when it was prepared.
    accessible: usize,
    prepared: usize,
    /// How much was restored in place when it was last reset.
    resident: usize,
    resets: u32,
    /// Offsets of pages that the last look found unchanged, in ascending order, each with the number of such looks in a row.
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
            self.quiet.clear();
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

    /// Gives back what stays resident since it was reset. It holds the same afterwards.
    ///
    /// # Safety
    ///
    /// Nobody uses it, and nobody has since it was reset.
    pub(crate) unsafe fn trim(&mut self) -> io::Result<()> {
        if self.resident > 0 {
            // SAFETY: the caller's.
            unsafe { self.region.give_back(0, self.accessible)? };
            self.resident = 0;
            self.quiet.clear();
        }
        Ok(())
    }

    /// Makes its content what it was when it was prepared. Nobody uses it any more.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        self.resets = self.resets.wrapping_add(1);
        let restored = if self.resets.is_multiple_of(LOOK) { self.look() } else { self.restore_all() };
        self.resident = restored.unwrap_or(0);
        if restored.is_none() {
            self.quiet.clear();
            // SAFETY: nobody uses it.
            unsafe { self.region.give_back(0, self.accessible)? };
        }
        Ok(())
    }

    /// Restores every page that was ever written to, and returns their size in bytes. None when they are too many, or cannot be
    /// found or restored.
    fn restore_all(&self) -> Option<usize> {
        self.written(|_, bytes, image| match image {
            Some((image, at)) => image.copy(at, bytes),
            None => {
                bytes.fill(0);
                Ok(())
            }
        })
    }

    /// Restores as [`Slot::restore_all`] does, and gives back pages that nobody writes to any more.
    fn look(&mut self) -> Option<usize> {
        let (mut quiet, mut unused) = (Vec::new(), Vec::<Range<usize>>::new());
        let resident = self.written(|start, bytes, image| {
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
        })?;
        self.quiet = quiet;
        let mut given_back = 0;
        for run in unused {
            // SAFETY: nobody uses it, and it holds what is mapped there.
            unsafe { self.region.give_back(run.start, run.len()) }.ok()?;
            given_back += run.len();
        }
        Some(resident - given_back)
    }

    /// Calls `restore` with the offset and the bytes of each run of pages that are the slot's own, and with the image and the
    /// run's offset in it where the image is. Returns the size of all runs in bytes; None when they are too many, cannot be found
    /// or `restore` fails.
    fn written(
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
                // SAFETY: the run is within what can be accessed, and nobody uses it.
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

/// A page that nobody has written to, where there is no image.
static ZEROS: [u8; PAGE] = [0; PAGE];
