//! Stacks of guests.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::{Error, StackCreator, StackMemory};

use crate::region::{Region, page_size};

/// Creator of the stacks of an engine's instances. It keeps some for the next instances.
#[derive(Clone)]
pub struct Stacks {
    pool: Arc<Pool>,
}

struct Pool {
    waiting: Mutex<Vec<Region>>,
    kept: usize,
    used: AtomicUsize,
}

impl Stacks {
    /// Makes a pool with at most `kept` idle stacks. The used part of each stays resident.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self { pool: Arc::new(Pool { waiting: Mutex::default(), kept, used: AtomicUsize::new(0) }) }
    }

    /// Returns the number of stacks that guests use.
    #[must_use]
    pub fn used(&self) -> usize {
        self.pool.used.load(Ordering::Relaxed)
    }
}

// SAFETY: a stack owns its mapping until it is dropped, and has an inaccessible page below it.
unsafe impl StackCreator for Stacks {
    fn new_stack(&self, size: usize, zeroed: bool) -> Result<Box<dyn StackMemory>, Error> {
        let length = size.next_multiple_of(page_size()) + page_size();
        let waiting = || self.pool.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        // Guests cannot read the leftovers of other guests on a stack. A caller that asks for zeros gets a new one.
        let kept = if zeroed { None } else { waiting().filter(|region| region.length() == length) };
        let region = match kept {
            Some(region) => region,
            None => {
                let region = Region::reserve(length)?;
                region.allow(page_size(), length - page_size())?;
                region
            }
        };
        self.pool.used.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Stack { region: Some(region), pool: Arc::clone(&self.pool) }))
    }
}

struct Stack {
    /// None after the drop.
    region: Option<Region>,
    pool: Arc<Pool>,
}

impl Stack {
    fn start(&self) -> *mut u8 {
        self.region.as_ref().map_or(std::ptr::null_mut(), Region::start)
    }

    fn length(&self) -> usize {
        self.region.as_ref().map_or(0, Region::length)
    }
}

// SAFETY: the region is mapped until the stack is dropped. The stack grows down from its end, and the lowest page, the guard, is never
// made accessible.
unsafe impl StackMemory for Stack {
    fn top(&self) -> *mut u8 {
        self.start().wrapping_add(self.length())
    }

    fn range(&self) -> Range<usize> {
        self.start().addr() + page_size()..self.start().addr() + self.length()
    }

    fn guard_range(&self) -> Range<*mut u8> {
        self.start()..self.start().wrapping_add(page_size())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let Some(region) = self.region.take() else { return };
        self.pool.used.fetch_sub(1, Ordering::Relaxed);
        let mut waiting = self.pool.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < self.pool.kept {
            waiting.push(region);
        }
    }
}
