//! The pages of the file that this code was loaded from: the program, or the addon.

use std::fs;
use std::ops::Range;

use rustix::mm::{Advice, madvise};

use crate::scan;

/// Releases pages of the program that were read and not written. A start maps half of the program, and requests use a fraction of
/// that. The system's cache keeps the pages, and the next access maps them again.
pub fn release_program() {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return };
    for range in program(&maps, (release_program as *const ()).addr()) {
        scan::of_file(range, |run| {
            // SAFETY: nobody can write to the mapping, and the scan leaves out pages that were written before that (by the
            // loader). So the next access finds the same bytes.
            let released =
                unsafe { madvise(std::ptr::with_exposed_provenance_mut(run.start), run.len(), Advice::LinuxDontNeed) };
            if let Err(error) = released {
                tracing::debug!("pages of the program cannot be released: {error}");
            }
        });
    }
}

/// The mappings in a `/proc/self/maps` that nobody can write to, of the file that is mapped at `address`.
fn program(maps: &str, address: usize) -> Vec<Range<usize>> {
    let mappings = || maps.lines().filter_map(mapping);
    let Some((_, _, file)) = mappings().find(|(range, ..)| range.contains(&address)) else { return Vec::new() };
    let is_readable = |permissions: &str| matches!(permissions, "r-xp" | "r--p");
    mappings()
        .filter(|(_, permissions, other)| is_readable(permissions) && *other == file)
        .map(|(range, ..)| range)
        .collect()
}

/// The addresses, the permissions and the file of a line; none for a mapping without a file.
fn mapping(line: &str) -> Option<(Range<usize>, &str, &str)> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (permissions, file) = (fields.next()?, fields.nth(3)?.trim_start());
    file.starts_with('/').then_some((address(start)?..address(end)?, permissions, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
00400000-00500000 r--p 00000000 fe:00 12 /bin/program
00500000-00700000 r-xp 00100000 fe:00 12 /bin/program
00700000-00710000 rw-p 00300000 fe:00 12 /bin/program
00710000-00720000 rw-p 00000000 00:00 0 
7f0000000000-7f0000100000 r-xp 00000000 fe:00 99                  /lib/a library.so
7ffff0000000-7ffff0001000 r-xp 00000000 00:00 0                          [vdso]
";

    #[test]
    fn only_mappings_of_the_file_at_the_address_that_nobody_writes_to_are_found() {
        let all = [0x40_0000..0x50_0000, 0x50_0000..0x70_0000];
        assert_eq!(program(MAPS, 0x60_0000), all);
        assert_eq!(program(MAPS, 0x70_0000), all);
        assert_eq!(program(MAPS, 0x7f00_0000_0010).first(), Some(&(0x7f00_0000_0000..0x7f00_0010_0000)));
        assert_eq!(program(MAPS, 0x71_0000), []);
        assert_eq!(program(MAPS, 0x7fff_f000_0000), []);
    }

    #[test]
    fn the_program_runs_on_after_its_release() {
        release_program();
        assert_eq!(MAPS.lines().filter_map(mapping).count(), 4);
    }
}
