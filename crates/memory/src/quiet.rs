//! Pages that were written once, and that requests do not change any more.

/// Number of looks in a row after which an unchanged page is given back. A page that one request in ten writes mostly
/// stays, because giving it back and faulting it in again costs more than restoring it.
const QUIET: u8 = 4;

/// Maximum number of doublings of [`QUIET`].
const DOUBLINGS: u8 = 5;

/// Maximum number of pages whose returns are counted. All begin anew beyond it.
const MAX_RETURNED: usize = 4096;

/// Counts the looks that found a page unchanged.
///
/// A request may write to a page what stands there already. Such a page looks unused, and returns with the next request. So the
/// number of looks doubles with each time that a page was given back.
#[derive(Default)]
pub(crate) struct Quiet {
    /// Ascending offsets of pages that the last look found unchanged, each with the number of such looks in a row.
    looks: Vec<(usize, u8)>,
    /// The same for the look that goes on.
    next: Vec<(usize, u8)>,
    /// Ascending offsets of pages that were given back, each with the number of times.
    returned: Vec<(usize, u8)>,
}

impl Quiet {
    /// Notes that the look found a page unchanged, and returns whether it is to be given back. Offsets ascend.
    pub(crate) fn note(&mut self, page: usize) -> bool {
        let looks = 1 + find(&self.looks, page).map_or(0, |index| self.looks[index].1);
        let before = find(&self.returned, page);
        let times = before.map_or(0, |index| self.returned[index].1);
        if looks < QUIET << times.min(DOUBLINGS) {
            self.next.push((page, looks));
            return false;
        }
        match before {
            Ok(index) => self.returned[index].1 = times.saturating_add(1),
            Err(_) if self.returned.len() >= MAX_RETURNED => self.returned.clear(),
            Err(index) => self.returned.insert(index, (page, 1)),
        }
        true
    }

    /// Ends a look. The pages that it did not note have changed.
    pub(crate) fn end_look(&mut self) {
        std::mem::swap(&mut self.looks, &mut self.next);
        self.next.clear();
    }

    /// Forgets all pages.
    pub(crate) fn clear(&mut self) {
        self.looks.clear();
        self.next.clear();
        self.returned.clear();
    }
}

/// The index of a page, or the one where it would be inserted.
fn find(pages: &[(usize, u8)], page: usize) -> Result<usize, usize> {
    pages.binary_search_by_key(&page, |(page, _)| *page)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of looks until the page is given back.
    fn looks(quiet: &mut Quiet, page: usize) -> usize {
        let mut count = 0;
        loop {
            count += 1;
            let is_given_back = quiet.note(page);
            quiet.end_look();
            if is_given_back {
                return count;
            }
        }
    }

    #[test]
    fn a_page_that_returns_stays_for_twice_as_many_looks() {
        let mut quiet = Quiet::default();
        assert_eq!([0; 7].map(|_| looks(&mut quiet, 4096)), [4, 8, 16, 32, 64, 128, 128]);
        assert_eq!(looks(&mut quiet, 0), 4);
        quiet.clear();
        assert_eq!(looks(&mut quiet, 4096), 4);
    }

    #[test]
    fn a_page_that_changes_begins_anew() {
        let mut quiet = Quiet::default();
        for _ in 0..3 {
            assert!(!quiet.note(0));
            quiet.end_look();
        }
        quiet.end_look();
        assert_eq!(looks(&mut quiet, 0), 4);
    }
}
