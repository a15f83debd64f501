//! The record at the end of a file with a component's state, after the bytes that it describes.
//!
//! ```text
//!  state of a component image of its memory, StateTrailer
//!  compiled ahead       shared code, zeros up to a page, image, StateTrailer
//! ```

/// Its first bytes.
const STATE: &[u8; 8] = b"tenonimg";

/// Description of a component's state: its memory's image, and the code that it belongs to. All numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateTrailer {
    /// Position of the image in the file, and its length.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Address of the image in the memory, initial size of the memory, and the one that the code declares.
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) declared: u64,
    /// Digest that identifies the shared code (`Snapshot::group`).
    pub(crate) group: [u8; 32],
}

impl StateTrailer {
    /// Length of a trailer.
    pub(crate) const LENGTH: usize = 80;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let mut trailer = [0; Self::LENGTH];
        let words = [u64::from_le_bytes(*STATE), self.offset, self.length, self.start, self.size, self.declared];
        let (numbers, group) = trailer.split_at_mut(48);
        for (bytes, word) in numbers.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        group.copy_from_slice(&self.group);
        trailer
    }

    /// Parses the trailer of a file, if it has one.
    pub(crate) fn of(trailer: &[u8; Self::LENGTH]) -> Option<Self> {
        let (numbers, group) = trailer.split_first_chunk::<48>()?;
        let (words, _) = numbers.as_chunks::<8>();
        let number = |index: usize| words.get(index).map(|bytes| u64::from_le_bytes(*bytes));
        let trailer = Self {
            offset: number(1)?,
            length: number(2)?,
            start: number(3)?,
            size: number(4)?,
            declared: number(5)?,
            group: group.try_into().ok()?,
        };
        (words.first() == Some(STATE)).then_some(trailer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_as_it_was_written() {
        let trailer = StateTrailer { offset: 1, length: 2, start: 3, size: u64::MAX, declared: 5, group: [7; 32] };
        assert_eq!(StateTrailer::of(&trailer.encode()), Some(trailer));
        assert_eq!(StateTrailer::of(&[0; StateTrailer::LENGTH]), None);
    }
}
