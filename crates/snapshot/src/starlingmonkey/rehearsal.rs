//! Requests that an engine answers before its snapshot is taken.
//!
//! What an engine does once, when it is first called, it would do again in every fresh instance: it fills tables, and writes
//! to three times as many pages as for any later request. So it is called while it is built, with a method for which nothing
//! of the user's runs, and the snapshot is of an engine that has answered.
//!
//! One thing has to be left for the instance itself: on its first call the engine takes the time from which
//! `performance.now()` counts, and notes that it has. Where it notes that is found out by trying ([`first_call`]), and in the
//! snapshot it has not noted it.

use std::time::Duration;

use wasmtime::{Instance, Memory, Store};

use crate::calls::Calls;
use crate::request::Request;
use crate::starlingmonkey::moment::Moment;
use crate::wasi::World;

/// The bundle that the engine is tried with.
pub(crate) const HANDLER: &[u8] = b"export const handler = { handle: async () => ({ status: 200, headers: [] }) };";

/// How many places are tried, at most.
const CANDIDATES: usize = 4096;

/// When the engine is tried and rehearsed, in hours since 1970. From one to another are different times.
const FIRST: u64 = 400_001;
const SECOND: u64 = 400_002;
const THIRD: u64 = 400_010;

/// The requests that are rehearsed: one without a body and one with it.
fn rehearsed() -> [Request; 2] {
    [Request::default(), Request { body: Some("{}") }]
}

/// Calls the engine so that later calls find done what is done once. False when it does not note that it was called: then it may
/// be in any state, as after an error.
pub(crate) fn rehearse(
    store: &mut Store<World>,
    instance: &Instance,
    memory: Memory,
    first_call: usize,
) -> wasmtime::Result<bool> {
    // The same in each build: the engine keeps it until it is called again.
    store.data_mut().time = Duration::from_hours(FIRST);
    store.data_mut().calls = Some(Calls::default());
    rehearsed().iter().try_for_each(|each| each.send(store, instance, memory))?;
    store.data_mut().calls = None;
    match memory.data_mut(store).get_mut(first_call) {
        Some(noted @ 0) => *noted = 1,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Where the engine notes that it has been called, by a byte that is 1 until then: the one place which, put back after a
/// call, makes the engine take the time anew. None when it is not clear where.
pub(crate) fn first_call(store: &mut Store<World>, instance: &Instance, memory: Memory) -> Option<usize> {
    let call_at = |store: &mut Store<World>, hours: u64| {
        store.data_mut().time = Duration::from_hours(hours);
        Request::default().send(store, instance, memory).is_ok()
    };
    let new = memory.data(&*store).to_vec();
    if !(call_at(store, FIRST) && call_at(store, SECOND)) {
        return None;
    }
    let called = Moment::now(store, instance, memory);
    let word = |memory: &[u8], at: usize| u64::from_le_bytes(memory[at..at + 8].try_into().unwrap_or_default());
    // The time of the first call has become that of the third. (The engine adds up two clocks.)
    let took_time = |memory: &[u8]| {
        let passed = Duration::from_hours(THIRD - FIRST).as_nanos();
        let has_passed = |by: u64| [passed, 2 * passed].contains(&by.into());
        let mut taken = (0..new.len()).step_by(8).filter(|at| word(&new, *at) == 0);
        taken.any(|at| has_passed(word(memory, at).wrapping_sub(word(called.bytes(), at))))
    };
    let candidates = (0..new.len()).filter(|at| new[*at] == 1 && called.bytes()[*at] == 0).take(CANDIDATES);
    let mut found = candidates.filter(|candidate| {
        called.restore(store);
        memory.data_mut(&mut *store)[*candidate] = 1;
        let answered = call_at(store, THIRD);
        let memory = memory.data(&*store);
        answered && memory[*candidate] == 0 && took_time(memory)
    });
    let first = found.next();
    first.filter(|_| found.next().is_none())
}
