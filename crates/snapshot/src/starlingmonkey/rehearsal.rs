//! Requests that an engine answers before its snapshot is taken.
//!
//! An engine does some work only once, on its first call. It fills tables, and writes to three times as many pages as
//! in later requests. Every fresh instance would repeat this work. So the engine is called while it is built, with a
//! method that runs no code of the user, and the snapshot is taken afterwards.
//!
//! One step must remain for the instance itself. On its first call the engine records the time from which
//! `performance.now()` counts, and marks that it has. [`first_call`] finds the mark's address by trial, and the mark is
//! cleared in the snapshot.

use std::time::Duration;

use wasmtime::{Instance, Memory, Store};

use crate::calls::Calls;
use crate::request::Request;
use crate::starlingmonkey::moment::Moment;
use crate::wasi::World;

/// The bundle that finds the mark.
pub(crate) const HANDLER: &[u8] = b"export const handler = { handle: async () => ({ status: 200, headers: [] }) };";

/// Maximum number of addresses that are tried.
const CANDIDATES: usize = 4096;

/// Times of the trials and rehearsals, in hours since 1970. All differences are distinct.
const FIRST: u64 = 400_001;
const SECOND: u64 = 400_002;
const THIRD: u64 = 400_010;

/// Returns the requests of a rehearsal: one without a body and one with a body.
fn rehearsed() -> [Request; 2] {
    [Request::default(), Request { body: Some("{}") }]
}

/// Calls the engine so that later calls skip its one-time work. False when it does not mark its first call: the engine
/// may then be in any state, as after an error.
pub(crate) fn rehearse(
    store: &mut Store<World>,
    instance: &Instance,
    memory: Memory,
    first_call: usize,
) -> wasmtime::Result<bool> {
    // The same in each build, because the engine keeps it until the next call.
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

/// Finds the address of the byte that is 1 until the engine was called. It is the one byte that, when reset after a
/// call, makes the engine record the time again. None when there is not exactly one.
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
    // The recorded time has moved from the first call to the third. (The engine adds up two clocks.)
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
