//! A slot holds one memory after another.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::KEPT;
use crate::content::Pages;
use crate::digest::{BLOCK, MemoryDigest, ZEROS as ZERO_BLOCK};
use crate::faults::Faults;
use crate::image::Image;
use crate::quiet::Quiet;
use crate::region::{LARGEST_PAGE, Region, page_size};
use crate::scan::{self, Below};

/// Interval of resets that compare pages with the image before they restore them. Every page that was ever written is
/// the slot's own, so a reset alone cannot see which pages are still written. The number is a prime, so that both of
/// two alternating routes meet such a reset.
const LOOK: u32 = 17;

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
    quiet: Quiet,
    written: Written,
}

/// The slot's own pages at the last reset.
#[derive(Default)]
struct Written {
    /// Ascending runs of offsets. Each is within the image or outside of it.
    runs: Vec<Range<usize>>,
    /// The count of page faults before the runs were found. While it stays the same, there are no other pages.
    faults: Option<Faults>,
}

impl Written {
    /// Returns whether all pages of some runs are among these.
    fn contains(&self, runs: &[Range<usize>]) -> bool {
        runs.iter().flat_map(|run| run.clone().step_by(page_size())).all(|page| {
            let behind = self.runs.partition_point(|run| run.start <= page);
            behind.checked_sub(1).is_some_and(|at| self.runs[at].contains(&page))
        })
    }
}

impl Slot {
    pub(crate) fn new(reservation: usize) -> io::Result<Self> {
        let region = Region::reserve(reservation)?;
        Ok(Self {
            region,
            image: None,
            accessible: 0,
            prepared: 0,
            resident: 0,
            resets: 0,
            quiet: Quiet::default(),
            written: Written::default(),
        })
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
        let size = size.next_multiple_of(page_size());
        if size != self.accessible {
            self.written.faults = None;
        }
        if !self.holds(image) {
            let before = self.accessible;
            self.accessible = 0;
            self.image = None;
            self.forget_pages();
            // SAFETY: the caller promises that no memory is in the slot.
            unsafe { self.region.map_zeros(0, before, false)? };
            self.region.allow(0, size)?;
            if let Some(image) = image {
                let (file, offset) = image.file();
                // SAFETY: the caller promises that no memory is in the slot, so nobody uses the pages that the file replaces.
                unsafe { self.region.map_file(image.start(), image.length(), file, offset)? };
            }
            self.image = image.cloned();
        } else if size < self.accessible {
            // SAFETY: the caller promises that no memory is in the slot, so nobody uses the pages that become inaccessible.
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
        let size = size.next_multiple_of(page_size());
        if size > self.accessible {
            // There may be pages of an earlier memory, whose next write is no page fault.
            self.written.faults = None;
            let more = (self.accessible, size - self.accessible);
            if let Err(error) = self.region.allow(more.0, more.1) {
                // A part may be accessible now, which no reset would look at.
                // SAFETY: the guest was not given these pages.
                unsafe { self.region.deny(more.0, more.1) }.unwrap_or_else(|_| std::process::abort());
                return Err(error);
            }
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
            // SAFETY: by the caller's promise nobody uses the slot since its reset, so its pages have the image's content or zeros.
            unsafe { self.region.give_back(0, self.accessible)? };
            self.resident = 0;
            self.forget_pages();
        }
        Ok(())
    }

    /// Forgets what was noted about pages that are gone.
    fn forget_pages(&mut self) {
        self.quiet.clear();
        self.written.faults = None;
    }

    /// Resets its content to the state after `prepare`.
    ///
    /// # Safety
    ///
    /// Nobody uses it during the call.
    pub(crate) unsafe fn reset(&mut self) -> io::Result<()> {
        self.resets = self.resets.wrapping_add(1);
        let looks = self.resets.is_multiple_of(LOOK);
        let restored = if !self.find_written(looks) {
            None
        } else if looks {
            // SAFETY: by the caller's promise nobody uses the slot during the reset.
            unsafe { self.look() }
        } else {
            // SAFETY: by the caller's promise nobody uses the slot during the reset.
            unsafe { self.restore_all() }
        };
        self.resident = restored.unwrap_or(0);
        if restored.is_none() {
            self.forget_pages();
            // SAFETY: the caller promises that nobody uses the slot's pages while they are reset.
            unsafe { self.region.give_back(0, self.accessible)? };
        }
        Ok(())
    }

    /// Computes its digest from the pages that are the slot's own.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    pub(crate) unsafe fn digest(&mut self) -> io::Result<u128> {
        let whole = |slot: &Self| {
            let (at, end) = slot.image_range();
            [0..at, at..end, end..slot.accessible].into_iter().filter(|part| !part.is_empty()).collect()
        };
        let runs: Vec<_> = if self.find_written(false) { self.written.runs.clone() } else { whole(self) };
        let (at, end) = self.image_range();
        let content = self.image.as_ref().map(|image| image.content());
        let mut digest = MemoryDigest::new(self.accessible);
        for run in runs {
            assert!(run.end <= self.accessible);
            for page in run.step_by(BLOCK) {
                // SAFETY: the page is within the accessible part. The caller promises that nobody uses it.
                let bytes = unsafe { std::slice::from_raw_parts(self.start().add(page), BLOCK) };
                let unchanged = match &content {
                    Some(content) if (at..end).contains(&page) => content.equals(page - at, bytes)?,
                    _ => bytes == ZERO_BLOCK,
                };
                if !unchanged {
                    digest.add(page, bytes);
                }
            }
        }
        Ok(digest.end())
    }

    /// Brings the runs of the slot's own pages up to date: by a scan if there may be others than at the last reset, or if `scans`.
    /// False when there are too many, or they cannot be found.
    fn find_written(&mut self, scans: bool) -> bool {
        // Read before the scan: later faults count as new.
        let faults = if self.region.has_small_pages() { Faults::now() } else { None };
        let is_same = faults.is_some() && self.written.faults == faults;
        if is_same && !scans {
            return true;
        }
        let before = std::mem::take(&mut self.written);
        if !self.scan() {
            return false;
        }
        if is_same && !before.contains(&self.written.runs) {
            Faults::distrust();
        } else {
            self.written.faults = faults;
        }
        true
    }

    /// Finds all runs of the slot's own pages. False when there are too many, or they cannot be found.
    fn scan(&mut self) -> bool {
        let start = self.start().addr();
        let (at, end) = self.image_range();
        let runs = &mut self.written.runs;
        let mut left = KEPT;
        [(0..at, Below::Zeros), (at..end, Below::File), (end..self.accessible, Below::Zeros)].into_iter().all(
            |(part, below)| {
                let range = start + part.start..start + part.end;
                let (most, mut found) = (left, 0);
                let is_whole = scan::written(range, below, most, |run| {
                    let run = run.start - start..run.end - start;
                    assert!(part.start <= run.start && run.end <= part.end);
                    found += run.len();
                    runs.push(run);
                });
                left -= found.min(left);
                is_whole
            },
        )
    }

    /// The offsets of the image; an empty range when there is none.
    fn image_range(&self) -> (usize, usize) {
        self.image.as_ref().map_or((0, 0), |image| (image.start(), image.start() + image.length()))
    }

    /// Restores all of the slot's own pages, and returns their size in bytes. None when they cannot be restored.
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
        // SAFETY: by the caller's promise nobody reads or writes these pages meanwhile.
        unsafe { self.each_written(restore) }
    }

    /// Restores pages like [`Slot::restore_all`], and gives back pages that are no longer changed.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    unsafe fn look(&mut self) -> Option<usize> {
        let (mut quiet, mut unused) = (std::mem::take(&mut self.quiet), Vec::<Range<usize>>::new());
        let restore = |start: usize, bytes: &mut [u8], image: Option<(&Pages<'_>, usize)>| -> io::Result<()> {
            for (page, bytes) in (start..).step_by(page_size()).zip(bytes.chunks_exact_mut(page_size())) {
                let at = image.as_ref().map(|(image, at)| (*image, at + page - start));
                let unchanged = match at {
                    Some((image, at)) => image.equals(at, bytes)?,
                    None => bytes == &ZEROS[..page_size()],
                };
                match at {
                    _ if unchanged => match unused.last_mut() {
                        _ if !quiet.note(page) => {}
                        Some(run) if run.end == page => run.end += page_size(),
                        _ => unused.push(page..page + page_size()),
                    },
                    Some((image, at)) => image.copy(at, bytes)?,
                    None => bytes.fill(0),
                }
            }
            Ok(())
        };
        // SAFETY: by the caller's promise nobody reads or writes these pages meanwhile.
        let resident = unsafe { self.each_written(restore) };
        quiet.end_look();
        self.quiet = quiet;
        let mut given_back = 0;
        for run in unused {
            // Restoring would make it the slot's own again.
            self.written.faults = None;
            // SAFETY: the caller promises that nobody uses the pages; they equal the mapping below, so no byte changes.
            unsafe { self.region.give_back(run.start, run.len()) }.ok()?;
            given_back += run.len();
        }
        Some(resident? - given_back)
    }

    /// Calls `restore` with the offset and bytes of each run of the slot's own pages. In the image's range it also gets
    /// the image and the run's offset in it. Returns the size of all runs in bytes. None when `restore` fails.
    ///
    /// # Safety
    ///
    /// As for [`Slot::reset`].
    unsafe fn each_written(
        &self,
        mut restore: impl FnMut(usize, &mut [u8], Option<(&Pages<'_>, usize)>) -> io::Result<()>,
    ) -> Option<usize> {
        let (at, end) = self.image_range();
        let content = self.image.as_ref().map(|image| image.content());
        let mut resident = 0;
        for run in &self.written.runs {
            assert!(run.end <= self.accessible);
            resident += run.len();
            // SAFETY: the run is within the accessible part. The caller promises that nobody uses it.
            let bytes = unsafe { std::slice::from_raw_parts_mut(self.start().add(run.start), run.len()) };
            let image = content.as_ref().filter(|_| (at..end).contains(&run.start));
            restore(run.start, bytes, image.map(|content| (content, run.start - at))).ok()?;
        }
        Some(resident)
    }
}

/// The content of an unwritten page outside the image.
static ZEROS: [u8; LARGEST_PAGE] = [0; LARGEST_PAGE];

#[cfg(test)]
mod tests;
