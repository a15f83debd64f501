//! Memory that the engine has freed and not overwritten: a quarter of its content after a top level. Zeros take no room
//! in a component, and an instance need not copy their pages when it first writes there.
//!
//! Small free blocks scatter later allocations. The allocator hands out the smallest free block that fits. So a
//! request's allocations would spread over the heap, each on a page of its own. So small free blocks are allocated and
//! never used before the snapshot ([`scattered`]). Large ones remain, in which allocations are contiguous. The small
//! ones are some 150 KiB together.
//!
//! The engine offers no list of free memory, so this reads two of its structures: the heap of its allocator, and the
//! region where its collector puts young objects. Each is recognized by several relations that hold at once. Where one
//! does not hold, as with another allocator or collector, nothing is cleared.

use std::cmp::Reverse;
use std::iter::from_fn;
use std::ops::Range;

/// Alignment of dlmalloc's allocations, and minimum size of a block.
const ALIGNMENT: usize = 16;

/// Bits of a block's size: whether the block before it, and the block itself, are in use.
const BEFORE_IN_USE: usize = 1;
const IN_USE: usize = 2;

/// Minimum size of a free block that is a tree node, whose links take more room.
const LEAST_TREE_BLOCK: usize = 256;

/// Maximum number of bytes that dlmalloc reserves at the end of the heap.
const END_OF_HEAP: usize = 64;

/// Size and alignment of the regions that SpiderMonkey's collector takes from the allocator.
const REGION: usize = 1024 * 1024;

/// Granularity of the limit for young objects.
const REGION_STEP: usize = 4096;

/// Minimum size of a free block that is not scattered.
const LARGE: usize = 8 * 1024;

/// Zeroes the free parts of a memory.
pub(crate) fn clear(memory: &mut [u8]) {
    let blocks = heap(memory);
    let free = blocks.iter().filter(|block| !block.in_use && is_listed(memory, block)).map(Block::unused);
    let unused: Vec<_> = free.chain(young(memory, &blocks)).collect();
    for range in unused {
        memory[range].fill(0);
    }
}

/// Returns allocation sizes that use up small free blocks, so that a request allocates contiguously. Largest first,
/// because each is then the smallest that fits.
pub(crate) fn scattered(memory: &[u8]) -> Vec<i32> {
    let mut blocks = heap(memory);
    // The last block is the unallocated end of the heap.
    blocks.pop();
    let free = blocks.iter().filter(|block| !block.in_use && block.size < LARGE);
    let mut sizes = free.filter_map(|block| i32::try_from(block.content().len()).ok()).collect::<Vec<_>>();
    sizes.sort_unstable_by_key(|size| Reverse(*size));
    sizes
}

/// A block of dlmalloc. It starts with the size of the block before it, if that is free, and its own size.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: usize,
    size: usize,
    in_use: bool,
    before_in_use: bool,
}

impl Block {
    /// Reads the block at an address. None when there can be none.
    fn at(memory: &[u8], start: usize) -> Option<Self> {
        let head = word(memory, start + 4)?;
        let size = head & !7;
        let fits = size >= ALIGNMENT && size.is_multiple_of(ALIGNMENT) && start + size <= memory.len();
        fits.then_some(Self { start, size, in_use: head & IN_USE != 0, before_in_use: head & BEFORE_IN_USE != 0 })
    }

    fn end(&self) -> usize {
        self.start + self.size
    }

    /// Range of the allocation.
    fn content(&self) -> Range<usize> {
        self.start + 8..self.end() + 4
    }

    /// Range of a free block without dlmalloc's links.
    fn unused(&self) -> Range<usize> {
        let links = if self.size < LEAST_TREE_BLOCK { 16 } else { 32 };
        self.start + links..self.end()
    }
}

/// Returns the blocks of the heap, from the first free one to the end of the memory.
fn heap(memory: &[u8]) -> Vec<Block> {
    let places = (ALIGNMENT - 8..memory.len()).step_by(ALIGNMENT);
    let mut free = places.filter_map(|start| Block::at(memory, start)).filter(|block| is_listed(memory, block));
    free.find_map(|first| blocks_from(memory, first)).unwrap_or_default()
}

/// Returns the blocks from `first` on. None unless they fill the memory, and each knows if the one before it is in use.
fn blocks_from(memory: &[u8], first: Block) -> Option<Vec<Block>> {
    let mut next = Some(first);
    let blocks: Vec<_> = from_fn(|| {
        let block = next?;
        let after = Block::at(memory, block.end());
        next = after.filter(|after| after.before_in_use == block.in_use);
        Some(block)
    })
    .collect();
    let end = blocks.last().map_or(0, Block::end);
    (memory.len() - end <= END_OF_HEAP).then_some(blocks)
}

/// Returns whether a block is free and in one of dlmalloc's lists. The lists are rings, so its neighbors link back to
/// it.
fn is_listed(memory: &[u8], block: &Block) -> bool {
    let (start, end) = (block.start, block.end());
    let next = |at: usize| word(memory, at.checked_add(8)?);
    let previous = |at: usize| word(memory, at.checked_add(12)?);
    // Two free blocks are never adjacent, because dlmalloc merges them.
    let is_free = !block.in_use && block.before_in_use && word(memory, end) == Some(block.size);
    is_free && next(start).and_then(previous) == Some(start) && previous(start).and_then(next) == Some(start)
}

/// Returns the range of future young objects, which held objects that the collector has moved or dropped. Each region
/// starts with two addresses. The second is the collector's, whose block may precede the first free one. The collector
/// stores the first free address next to the end of the range.
fn young(memory: &[u8], blocks: &[Block]) -> Option<Range<usize>> {
    let is_region = |block: &&Block| {
        let Range { start, end } = block.content();
        block.in_use && start.is_multiple_of(REGION) && (start + REGION..start + REGION + ALIGNMENT).contains(&end)
    };
    let mut found = blocks.iter().filter(is_region).filter_map(|region| {
        let region = region.content().start..region.content().start + REGION;
        let collector = word(memory, region.start + 4)?;
        let owner = Block::at(memory, collector.checked_sub(8)?).filter(|owner| owner.in_use)?;
        blocks_from(memory, owner)?;
        let mut limits = (collector..owner.end() - 4).step_by(4).filter_map(|at| {
            let (place, end) = (word(memory, at)?, word(memory, at + 4)?);
            let fits = region.start < place && place <= end && end <= region.end && end.is_multiple_of(REGION_STEP);
            fits.then_some(place..end)
        });
        limits.next().filter(|_| limits.next().is_none())
    });
    found.next().filter(|_| found.next().is_none())
}

/// Reads four bytes, little-endian.
fn word(memory: &[u8], at: usize) -> Option<usize> {
    let bytes = memory.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 65_536;
    /// Address of the heap.
    const HEAP: usize = PAGE + 8;

    /// Builds a memory whose heap has blocks of these sizes, in use or free, and ends with a free block that is in no
    /// list.
    fn memory(blocks: &[(usize, bool)]) -> (Vec<u8>, Vec<usize>) {
        let length = (HEAP + 4_096 + blocks.iter().map(|(size, _)| size).sum::<usize>()).next_multiple_of(PAGE);
        let mut memory = vec![0xab; length];
        let mut starts = Vec::new();
        let (mut at, mut before) = (HEAP, true);
        let rest = length - HEAP - 56 - blocks.iter().map(|(size, _)| size).sum::<usize>();
        for &(size, in_use) in blocks.iter().chain([&(rest, false)]) {
            let flags = if before { BEFORE_IN_USE } else { 0 } | if in_use { IN_USE } else { 0 };
            put(&mut memory, at + 4, size | flags);
            starts.push(at);
            at += size;
            if !in_use {
                put(&mut memory, at, size);
            }
            before = in_use;
        }
        put(&mut memory, at + 4, 56);
        (memory, starts)
    }

    fn put(memory: &mut [u8], at: usize, value: usize) {
        memory[at..at + 4].copy_from_slice(&u32::try_from(value).unwrap().to_le_bytes());
    }

    /// Puts free blocks into one list.
    fn link(memory: &mut [u8], ring: &[usize]) {
        for (at, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
            put(memory, at + 8, *next);
            put(memory, next + 12, *at);
        }
    }

    /// Clears a memory, and returns the ranges that changed.
    fn cleared(memory: &[u8]) -> Vec<Range<usize>> {
        let mut after = memory.to_vec();
        clear(&mut after);
        let mut found: Vec<Range<usize>> = Vec::new();
        for at in (0..memory.len()).filter(|at| memory[*at] != after[*at]) {
            assert_eq!(after[at], 0);
            match found.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => found.push(at..at + 1),
            }
        }
        found
    }

    #[test]
    fn what_is_in_a_free_list_becomes_zero() {
        let blocks = [(64, true), (512, false), (32, true), (128, false), (96, true), (512, false), (48, true)];
        let (mut memory, at) = memory(&blocks);
        link(&mut memory, &[at[1], at[5]]);
        link(&mut memory, &[at[3]]);
        // Links, the size before the next block, and blocks in use stay.
        assert_eq!(cleared(&memory), [at[1] + 32..at[2], at[3] + 16..at[4], at[5] + 32..at[6]]);
    }

    #[test]
    fn small_free_blocks_are_in_the_way() {
        let blocks = [(64, true), (512, false), (32, true), (16, false), (96, true), (LARGE, false), (48, true)];
        let (mut memory, at) = memory(&blocks);
        // The second one is in no list: the allocator keeps the remainder of its last split apart.
        link(&mut memory, &[at[1], at[5]]);
        assert_eq!(scattered(&memory), [508, 12]);
        assert!(scattered(&vec![0xab; 4_096]).is_empty());
    }

    #[test]
    fn what_only_looks_free_stays() {
        let (mut memory, at) = memory(&[(64, true), (512, false), (1_024, true), (128, false), (96, true)]);
        link(&mut memory, &[at[1]]);
        // A ring of two, one of which does not link back.
        put(&mut memory, at[3] + 8, at[1]);
        put(&mut memory, at[3] + 12, at[1]);
        // Looks like a free block, inside a block that is in use.
        let inside = at[2] + 64;
        put(&mut memory, inside + 4, 256 | BEFORE_IN_USE);
        put(&mut memory, inside + 256, 256);
        link(&mut memory, &[inside]);
        assert_eq!(cleared(&memory), std::slice::from_ref(&(at[1] + 32..at[2])));
    }

    #[test]
    fn a_heap_that_is_not_understood_stays() {
        let (mut memory, at) = memory(&[(64, true), (512, false), (1_024, true), (48, true)]);
        link(&mut memory, &[at[1]]);
        put(&mut memory, at[2] + 4, 1_016 | IN_USE);
        assert_eq!(cleared(&memory), []);
        for length in [0, 3, 8, 64] {
            assert_eq!(cleared(&vec![0xab; length]), []);
        }
    }

    /// Builds a heap with one region, whose collector is the first block; `limits` are its words.
    fn with_region(limits: &[usize]) -> Vec<u8> {
        let between = REGION - HEAP - 8 - 4_096 - 32;
        let (mut memory, at) =
            memory(&[(4_096, true), (32, false), (between, true), (REGION + 16, true), (32, false), (16, true)]);
        link(&mut memory, &[at[1], at[4]]);
        let collector = at[0] + 8;
        assert_eq!(at[3] + 8, REGION);
        put(&mut memory, REGION + 4, collector);
        for (index, limit) in limits.iter().enumerate() {
            put(&mut memory, collector + 1_000 + 4 * index, *limit);
        }
        memory
    }

    #[test]
    fn where_young_objects_will_be_becomes_zero() {
        let (place, end) = (2 * REGION - 8_192 + 24, 2 * REGION - 4_096);
        assert!(cleared(&with_region(&[place, end])).contains(&(place..end)));
    }

    #[test]
    fn young_objects_stay_where_it_is_not_clear_which_live() {
        for limits in [
            // Two valid pairs, none, one outside the region, one in the wrong order.
            &[REGION + 64, REGION + 4_096, 0, REGION + 128, REGION + 8_192][..],
            &[],
            &[REGION + 64, 2 * REGION + 4_096],
            &[REGION + 8_192, REGION + 4_096],
            &[REGION + 64, REGION + 4_100],
        ] {
            let changed = cleared(&with_region(limits));
            assert!(changed.iter().all(|range| !(REGION..2 * REGION).contains(&range.start)), "{limits:?}");
        }
    }
}
