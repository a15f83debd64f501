//! The functions that the engine calls, during a build.
//!
//! A top level can print and read the time of day, which stands still. Everything else ends the build, because it exists
//! only while a request is answered. A rehearsal gets an empty environment, a clock, and one response to every call.
//! Neither gets random values: they would be the same in all instances. Only the engine itself draws one number as it
//! starts, the seed of its hash tables, which follows from the bundle.

use std::time::Duration;

use wasmtime::{AsContextMut, Caller, Error, Extern, Instance, Linker, Ref, ResourceLimiter, Result, Store};

const CALLS: &str = "sdk:core/calls@0.1.0";
const LOG: &str = "sdk:core/log@0.1.0";
const MONOTONIC: &str = "wasi:clocks/monotonic-clock@0.2.10";
const WALL: &str = "wasi:clocks/wall-clock@0.2.10";
const RANDOM: &str = "wasi:random/random@0.2.10";
const ENVIRONMENT: &str = "wasi:cli/environment@0.2.10";

/// The case `end` of `piece`.
const END: u8 = 2;

/// The engine's function that allocates memory for results (Canonical ABI).
pub(crate) const REALLOC: &str = "cabi_realloc";

/// The response to every call of a rehearsal. It has the members of the SQL sidecar's responses and of others.
const HEADERS: [[&str; 2]; 2] = [["content-type", "application/json"], ["etag", "\"1\""]];
const BODY: &str =
    r#"{"rows":[{"a":1,"b":"x"}],"columns":["a","b"],"rows_affected":1,"results":[],"keys":[],"next":null}"#;

/// A call outside of a rehearsal: the function and its interface.
#[derive(Debug, thiserror::Error)]
#[error("the top level calls {0} of {1}")]
pub(crate) struct TopLevelCall(pub(crate) &'static str, pub(crate) String);

/// The limit of the engine's memory. Growth beyond it ends the run with [`MemoryExceeded`].
pub(crate) struct MemoryLimit(pub(crate) usize);

/// The engine asked for more memory than a top level may have.
#[derive(Debug, thiserror::Error)]
#[error("the memory must not grow to {0} bytes")]
pub(crate) struct MemoryExceeded(usize);

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        if desired > maximum.unwrap_or(usize::MAX).min(self.0) { Err(MemoryExceeded(desired).into()) } else { Ok(true) }
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        Err(error)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        Ok(maximum.is_none_or(|maximum| desired <= maximum))
    }
}

/// The state of one run.
pub(crate) struct Host {
    pub(crate) limits: MemoryLimit,
    /// The output of the top level.
    pub(crate) printed: Vec<u8>,
    /// None outside of a rehearsal.
    pub(crate) rehearsal: Option<Rehearsal>,
    /// The time of day, since 1970.
    pub(crate) time: Duration,
    /// The seed of hash tables, until it is drawn.
    pub(crate) seed: Option<u64>,
}

/// The state of a rehearsal.
#[derive(Default)]
pub(crate) struct Rehearsal {
    started: u32,
    taken: u32,
    /// The monotonic clock, in nanoseconds. It moves only when the engine waits.
    clock: u64,
}

type Guest<'a> = Caller<'a, Host>;

/// The places of functions in the engine's table (`crates/engine/places.mjs`).
const PLACES: &str = include_str!("../../engine/places.txt");

/// The engine's table.
const TABLE: &str = "__indirect_function_table";

/// Puts all functions into their places. The bridge and the adapter have no others, and nothing calls them.
pub(crate) fn plug(store: &mut Store<Host>, instance: &Instance) -> Result<()> {
    let mut linker = Linker::new(store.engine());
    define(&mut linker)?;
    let table =
        instance.get_table(&mut *store, TABLE).ok_or_else(|| Error::msg("the engine does not export its table"))?;
    for (place, module, name) in places() {
        let function = linker.get(&mut *store, module, name)?.into_func();
        let function = function.ok_or_else(|| Error::msg(format!("a build has no {name} of {module}")))?;
        table.set(&mut *store, place, Ref::Func(Some(function)))?;
    }
    Ok(())
}

/// Lists the functions that the engine calls, with their places.
pub(crate) fn places() -> impl Iterator<Item = (u64, &'static str, &'static str)> {
    (2..).zip(PLACES.lines().skip(1)).filter_map(|(place, line)| {
        let (module, name) = line.strip_prefix("engine ")?.split_once(' ')?;
        Some((place, module, name))
    })
}

fn define(linker: &mut Linker<Host>) -> Result<()> {
    linker.func_wrap(
        CALLS,
        "start",
        // Method, URL, headers, an optional body, timeout, limit, and how bodies are passed on.
        |mut guest: Guest<'_>,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32,
         _: u32| {
            let rehearsal = rehearsal(&mut guest, "start", CALLS)?;
            rehearsal.started += 1;
            Ok(rehearsal.started)
        },
    )?;
    linker.func_wrap(CALLS, "wait", |mut guest: Guest<'_>, timeout: u32| {
        let rehearsal = rehearsal(&mut guest, "wait", CALLS)?;
        let has_ended = rehearsal.taken < rehearsal.started;
        if !has_ended {
            rehearsal.clock += 1_000 * u64::from(timeout);
        }
        Ok(u32::from(has_ended))
    })?;
    linker.func_wrap(CALLS, "take", take)?;
    // A streamed response is whole when it is taken, and all of a request is accepted.
    linker.func_wrap(CALLS, "ready", |mut guest: Guest<'_>, at: u32| write(&mut guest, at, &[0]))?;
    linker.func_wrap(CALLS, "read", |mut guest: Guest<'_>, _: u32, at: u32| write(&mut guest, at, &[END]))?;
    linker.func_wrap(CALLS, "write", |mut guest: Guest<'_>, _: u32, _: u32, _: u32, length: u32, at: u32| {
        write(&mut guest, at, &words([1, length]))
    })?;
    // After a rehearsal, too: the engine ends what it has left open.
    linker.func_wrap(CALLS, "cancel", |_: Guest<'_>, _: u32| {})?;
    linker.func_wrap(LOG, "write", |mut guest: Guest<'_>, _: u32, at: u32, length: u32| {
        let (memory, host) = memory(&mut guest)?;
        let text = memory.get(at as usize..).and_then(|rest| rest.get(..length as usize));
        host.printed.extend_from_slice(text.ok_or_else(outside)?);
        Ok(())
    })?;
    linker.func_wrap(MONOTONIC, "now", |mut guest: Guest<'_>| Ok(rehearsal(&mut guest, "now", MONOTONIC)?.clock))?;
    linker.func_wrap(WALL, "now", |mut guest: Guest<'_>, at: u32| {
        let time = guest.data().time;
        let mut record = time.as_secs().to_le_bytes().to_vec();
        record.extend(time.subsec_nanos().to_le_bytes());
        write(&mut guest, at, &record)
    })?;
    linker.func_wrap(ENVIRONMENT, "get-environment", |mut guest: Guest<'_>, at: u32| {
        rehearsal(&mut guest, "get-environment", ENVIRONMENT)?;
        write(&mut guest, at, &words([4, 0]))
    })?;
    linker.func_wrap(RANDOM, "get-random-bytes", |_: u64, _: u32| -> Result<()> {
        Err(refused("get-random-bytes", RANDOM))
    })?;
    linker.func_wrap(RANDOM, "get-random-u64", |mut guest: Guest<'_>| {
        guest.data_mut().seed.take().ok_or_else(|| refused("get-random-u64", RANDOM))
    })?;
    Ok(())
}

fn refused(function: &'static str, interface: &str) -> Error {
    Error::new(TopLevelCall(function, interface.to_owned()))
}

fn rehearsal<'a>(guest: &'a mut Guest<'_>, function: &'static str, interface: &str) -> Result<&'a mut Rehearsal> {
    guest.data_mut().rehearsal.as_mut().ok_or_else(|| refused(function, interface))
}

/// Writes an `option<tuple<u32, result<response, failure>>>` (Canonical ABI).
fn take(mut guest: Guest<'_>, at: u32) -> Result<()> {
    let rehearsal = rehearsal(&mut guest, "take", CALLS)?;
    if rehearsal.taken == rehearsal.started {
        return write(&mut guest, at, &[0]);
    }
    rehearsal.taken += 1;
    let number = rehearsal.taken;
    let mut list = Vec::new();
    for text in HEADERS.as_flattened() {
        list.extend(put(&mut guest, text.as_bytes(), 1)?);
    }
    let [headers, _] = put(&mut guest, &words(list), 4)?;
    let [body, length] = put(&mut guest, BODY.as_bytes(), 1)?;
    // Some, the number, a response and its parts.
    write(&mut guest, at, &words([1, number, 0, 200, headers, u32::try_from(HEADERS.len())?, body, length]))
}

fn words(words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Returns the guest's memory.
fn memory<'a>(guest: &'a mut Guest<'_>) -> Result<(&'a mut [u8], &'a mut Host)> {
    let memory = guest.get_export("memory").and_then(Extern::into_memory);
    Ok(memory.ok_or_else(|| Error::msg("the engine does not export its memory"))?.data_and_store_mut(guest))
}

fn outside() -> Error {
    Error::msg("the engine names an address outside its memory")
}

fn write(guest: &mut Guest<'_>, at: u32, bytes: &[u8]) -> Result<()> {
    let (memory, _) = memory(guest)?;
    let part = memory.get_mut(at as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
    part.ok_or_else(outside)?.copy_from_slice(bytes);
    Ok(())
}

/// Copies bytes into memory that the guest allocates. Returns their address and length.
fn put(guest: &mut Guest<'_>, bytes: &[u8], alignment: u32) -> Result<[u32; 2]> {
    let length = u32::try_from(bytes.len())?;
    let realloc = guest.get_export(REALLOC).and_then(Extern::into_func);
    let realloc = realloc.ok_or_else(|| Error::msg("the engine does not export cabi_realloc"))?;
    let realloc = realloc.typed::<(u32, u32, u32, u32), u32>(&mut *guest)?;
    let at = realloc.call(&mut *guest, (0, 0, alignment, length))?;
    write(guest, at, bytes)?;
    Ok([at, length])
}

/// Allocates memory in the guest, outside of a call.
pub(crate) fn allocate(
    mut store: impl AsContextMut<Data = Host>,
    instance: &Instance,
    alignment: u32,
    length: u32,
) -> Result<u32> {
    let realloc = instance.get_typed_func::<(u32, u32, u32, u32), u32>(&mut store, REALLOC)?;
    realloc.call(&mut store, (0, 0, alignment, length))
}
