//! Trailers: records at the end of a file, behind the bytes that they describe.
//!
//! ```text
//!  shared code          ELF, zeros up to a page, MachineTrailer
//!  state of a component image of its memory, StateTrailer
//!  compiled ahead       shared code, image, StateTrailer
//! ```

use crate::image::PAGE;

/// First bytes of the trailer of shared code.
const MACHINE: &[u8; 8] = b"tenoncod";

/// First bytes of the trailer of a state.
const STATE: &[u8; 8] = b"tenonimg";

/// Description of shared machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MachineTrailer {
    /// Initial memory size in bytes that the code declares. It serves memories of this size and larger ones.
    pub(crate) declared: u64,
}

impl MachineTrailer {
    /// Length of a trailer.
    const LENGTH: usize = 16;

    /// Appends the trailer to code, so that an image may follow.
    pub(crate) fn append(self, code: &mut Vec<u8>) {
        code.resize((code.len() + Self::LENGTH).next_multiple_of(PAGE) - Self::LENGTH, 0);
        code.extend_from_slice(MACHINE);
        code.extend(self.declared.to_le_bytes());
    }

    /// Parses the trailer of shared code, if it has one.
    pub(crate) fn of(code: &[u8]) -> Option<Self> {
        let (magic, declared) = code.last_chunk::<{ Self::LENGTH }>()?.split_first_chunk()?;
        (magic == MACHINE).then_some(Self { declared: u64::from_le_bytes(declared.try_into().ok()?) })
    }
}

/// Description of a component's state: its memory's image, and the code that it belongs to. All numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateTrailer {
    /// Position of the image in the file, and its length.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Address of the image in the memory, and initial size of the memory.
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Digest that identifies the shared code (`TakenApart::group`).
    pub(crate) group: [u8; 32],
}

impl StateTrailer {
    /// Length of a trailer.
    pub(crate) const LENGTH: usize = 72;

    pub(crate) fn encode(&self) -> [u8; Self::LENGTH] {
        let mut trailer = [0; Self::LENGTH];
        let words = [u64::from_le_bytes(*STATE), self.offset, self.length, self.start, self.size];
        let (numbers, group) = trailer.split_at_mut(40);
        for (bytes, word) in numbers.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        group.copy_from_slice(&self.group);
        trailer
    }

    /// Parses the trailer of a file, if it has one.
    pub(crate) fn of(trailer: &[u8; Self::LENGTH]) -> Option<Self> {
        let (numbers, group) = trailer.split_first_chunk::<40>()?;
        let (words, _) = numbers.as_chunks::<8>();
        let number = |index: usize| words.get(index).map(|bytes| u64::from_le_bytes(*bytes));
        let group = group.try_into().ok()?;
        let trailer = Self { offset: number(1)?, length: number(2)?, start: number(3)?, size: number(4)?, group };
        (words.first() == Some(STATE)).then_some(trailer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_as_it_was_written() {
        let trailer = StateTrailer { offset: 1, length: 2, start: 3, size: u64::MAX, group: [7; 32] };
        assert_eq!(StateTrailer::of(&trailer.encode()), Some(trailer));
        assert_eq!(StateTrailer::of(&[0; StateTrailer::LENGTH]), None);
        for length in [0, 1, PAGE - 16, PAGE - 15, PAGE] {
            let mut code = vec![1; length];
            MachineTrailer { declared: 65_536 }.append(&mut code);
            assert!(code.len().is_multiple_of(PAGE) && code.len() < length + PAGE + 16, "{length}");
            assert_eq!(MachineTrailer::of(&code), Some(MachineTrailer { declared: 65_536 }));
            assert_eq!(MachineTrailer::of(&code[..code.len() - 1]), None);
        }
        assert_eq!(MachineTrailer::of(b""), None);
    }
}
