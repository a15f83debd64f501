//! The content of a memory as one piece that can be mapped.

use tenon_rewrite::State;

/// Alignment of an image, in the file and in the memory: the largest page of systems with this processor.
pub(crate) const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 64 * 1024 };

/// Largest image in bytes; larger content is left to the compiler.
const MOST: u64 = 64 * 1024 * 1024;

/// The initial content of a memory from `offset` on. Both are whole pages of the system.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Image {
    /// Lays out the segments: cuts surrounding zeros off, then widens to whole pages. None when a segment does not fit into the
    /// memory, or the image is too large.
    pub(crate) fn of(state: &State<'_>, page: u64) -> Option<Self> {
        let size = state.size();
        let nonzero = state.segments.iter().filter_map(|segment| {
            let first = segment.data.iter().position(|byte| *byte != 0)? as u64;
            let last = segment.data.iter().rposition(|byte| *byte != 0)? as u64;
            Some((u64::from(segment.offset) + first, u64::from(segment.offset) + last + 1))
        });
        let start = nonzero.clone().map(|(first, _)| first).min().unwrap_or(0) / page * page;
        let end = nonzero.map(|(_, end)| end).max().unwrap_or(0).next_multiple_of(page);
        if end.saturating_sub(start) > MOST {
            return None;
        }
        let mut bytes = vec![0; usize::try_from(end.saturating_sub(start)).ok()?];
        for segment in &state.segments {
            if u64::from(segment.offset) + segment.data.len() as u64 > size {
                return None;
            }
            // A segment's zeros may extend beyond the image on both sides.
            let at = i64::from(segment.offset) - i64::try_from(start).ok()?;
            let skip = usize::try_from((-at).max(0)).ok()?.min(segment.data.len());
            let at = usize::try_from(at.max(0)).ok()?.min(bytes.len());
            let data = &segment.data[skip..];
            let length = data.len().min(bytes.len() - at);
            bytes[at..at + length].copy_from_slice(&data[..length]);
        }
        Some(Self { offset: start, bytes })
    }
}

#[cfg(test)]
mod tests {
    use tenon_rewrite::Segment;

    use super::*;

    fn image(segments: &[(u32, &[u8])]) -> Option<Image> {
        let segments = segments.iter().map(|(offset, data)| Segment { offset: *offset, data }).collect();
        Image::of(&State { pages: 1, segments, ..State::default() }, 16)
    }

    #[test]
    fn segments_become_whole_pages_without_zeros_around() {
        let made = image(&[(3, &[0; 40]), (33, b"\0\0b"), (70, b"c\0\0\0\0\0\0\0\0\0\0\0")]).unwrap();
        assert_eq!((made.offset, made.bytes.len()), (32, 48));
        assert_eq!((made.bytes[3], made.bytes[38]), (b'b', b'c'));
        assert_eq!(image(&[]).unwrap().bytes, b"");
    }

    #[test]
    fn a_segment_outside_the_memory_is_left_to_the_compiler() {
        assert!(image(&[(65_535, b"a")]).is_some());
        assert!(image(&[(65_535, b"aa")]).is_none());
    }
}
