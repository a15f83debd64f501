//! The host of `sdk:core/calls` during a build, in rehearsals only. It answers every request with the same response.
//! The engine waits for timers only then; each expires at once. The environment is empty.
//!
//! The SDK then makes calls, so the snapshot is of an engine that has made some (`ts-sdk/src/rehearse.ts`).

use wasmtime::{Caller, Error, Linker, Module, Result};

use crate::starlingmonkey::arguments::REALLOC;
use crate::wasi::{World, write_to};

const CALLS: &str = "sdk:core/calls@0.1.0";

/// The length of a method that stands for a call to a linked module (`linked.wat`).
const MODULE: i32 = -1;

/// Handle of every timer.
const TIMER: i32 = 1;

/// A call outside of a rehearsal: the function and its interface.
#[derive(Debug, thiserror::Error)]
#[error("the top level calls {0} of {1}")]
pub(crate) struct TopLevelCall(pub(crate) &'static str, pub(crate) String);

/// Counters of the calls of a rehearsal.
#[derive(Default)]
pub(crate) struct Calls {
    started: u32,
    taken: u32,
}

/// The response. It has the members of the SQL sidecar's responses and of others.
pub(crate) const HEADERS: [[&str; 2]; 2] = [["content-type", "application/json"], ["etag", "\"1\""]];
pub(crate) const BODY: &str =
    r#"{"rows":[{"a":1,"b":"x"}],"columns":["a","b"],"rows_affected":1,"results":[],"keys":[],"next":null}"#;

pub(crate) fn define(linker: &mut Linker<World>, module: &Module) -> Result<()> {
    linker.func_wrap(
        CALLS,
        "start",
        |mut guest: Caller<'_, World>,
         _: i32,
         method_length: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32,
         _: i32| {
            if method_length == MODULE {
                return Err(Error::new(TopLevelCall("a WebAssembly module", "the handler".to_owned())));
            }
            let calls = calls(&mut guest)?;
            calls.started += 1;
            Ok(calls.started)
        },
    )?;
    linker.func_wrap(CALLS, "wait", |mut guest: Caller<'_, World>, _: i32| {
        let calls = calls(&mut guest)?;
        Ok(i32::from(calls.taken < calls.started))
    })?;
    linker.func_wrap(CALLS, "cancel", |mut guest: Caller<'_, World>, _: i32| calls(&mut guest).map(drop))?;
    linker.func_wrap(CALLS, "take", take)?;
    for import in module.imports() {
        let interface = import.module().to_owned();
        let refused = move |name| Error::new(TopLevelCall(name, interface.clone()));
        match (import.module().split('@').next(), import.name()) {
            (Some("wasi:clocks/monotonic-clock"), "now") => {
                linker.func_wrap(import.module(), "now", move |guest: Caller<'_, World>| match guest.data() {
                    World { calls: Some(_), time, .. } => Ok(u64::try_from(time.as_nanos())?),
                    _ => Err(refused("now")),
                })?;
            }
            (Some("wasi:clocks/monotonic-clock"), name @ ("subscribe-instant" | "subscribe-duration")) => {
                linker.func_wrap(import.module(), name, move |guest: Caller<'_, World>, _: i64| {
                    guest.data().calls.as_ref().map(|_| TIMER).ok_or_else(|| refused("subscribe-instant"))
                })?;
            }
            (Some("wasi:cli/environment"), "get-environment") => {
                linker.func_wrap(
                    import.module(),
                    "get-environment",
                    move |mut guest: Caller<'_, World>, at: u32| match guest.data().calls {
                        // An empty list.
                        Some(_) => write_to(&mut guest, at, [4_u32, 0].map(u32::to_le_bytes).as_flattened()),
                        None => Err(refused("get-environment")),
                    },
                )?;
            }
            (Some("wasi:io/poll"), "[resource-drop]pollable") => {
                linker.func_wrap(import.module(), import.name(), |_: i32| ())?;
            }
            (Some("wasi:io/poll"), "poll") => {
                linker.func_wrap(
                    import.module(),
                    "poll",
                    move |mut guest: Caller<'_, World>, _: i32, _: i32, at: u32| {
                        if guest.data().calls.is_none() {
                            return Err(refused("poll"));
                        }
                        // A list with one index: the first handle is ready.
                        let list = put(&mut guest, &[0; 4], 4)?;
                        write_to(&mut guest, at, [list, 1].map(u32::to_le_bytes).as_flattened())
                    },
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn calls<'a>(guest: &'a mut Caller<'_, World>) -> Result<&'a mut Calls> {
    guest.data_mut().calls.as_mut().ok_or_else(|| Error::new(TopLevelCall("start", CALLS.to_owned())))
}

/// Writes an `option<tuple<u32, result<response, failure>>>` (Canonical ABI).
fn take(mut guest: Caller<'_, World>, at: u32) -> Result<()> {
    let calls = calls(&mut guest)?;
    if calls.taken == calls.started {
        return write_to(&mut guest, at, &[0]);
    }
    calls.taken += 1;
    let number = calls.taken;
    // The same layout as in the engine that serves (`taken.rs`).
    let texts = HEADERS.as_flattened();
    let size = texts.iter().map(|text| text.len()).sum::<usize>() + 4 * texts.len() + 4;
    let lengths = [size].into_iter().chain(texts.iter().map(|text| text.len()));
    let mut block = lengths.flat_map(|length| (length as u32).to_le_bytes()).collect::<Vec<_>>();
    block.extend(texts.concat().as_bytes());
    let headers = put(&mut guest, &block, 4)?;
    let body = put(&mut guest, BODY.as_bytes(), 1)?;
    // Some, the number, a response and its parts.
    let record = [1, number, 0, 200, headers, u32::try_from(HEADERS.len())?, body, u32::try_from(BODY.len())?];
    let record = record.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    write_to(&mut guest, at, &record)
}

/// Copies bytes into memory that the guest allocates.
fn put(guest: &mut Caller<'_, World>, bytes: &[u8], alignment: i32) -> Result<u32> {
    let realloc = guest.get_export(REALLOC).and_then(wasmtime::Extern::into_func);
    let realloc = realloc.ok_or_else(|| Error::msg("the engine does not export cabi_realloc"))?;
    let realloc = realloc.typed::<(i32, i32, i32, i32), u32>(&mut *guest)?;
    let at = realloc.call(&mut *guest, (0, 0, alignment, i32::try_from(bytes.len())?))?;
    write_to(guest, at, bytes)?;
    Ok(at)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wasmtime::{Engine, Instance, Store, StoreLimits};

    use super::*;
    use crate::random::Random;
    use crate::wasi;

    /// An engine that makes two calls, waits for a timer, and takes results at 64, 128 and 192.
    const ENGINE: &str = r#"(module
      (import "sdk:core/calls@0.1.0" "start"
        (func $start (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
      (import "sdk:core/calls@0.1.0" "wait" (func $wait (param i32) (result i32)))
      (import "sdk:core/calls@0.1.0" "take" (func $take (param i32)))
      (import "wasi:clocks/monotonic-clock@0.2.10" "subscribe-instant" (func $timer (param i64) (result i32)))
      (import "wasi:io/poll@0.2.10" "poll" (func $poll (param i32 i32 i32)))
      (memory (export "memory") 1)
      (global $next (mut i32) (i32.const 1024))
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (global.get $next)
        (global.set $next (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 7)) (i32.const -8))))
      (func $call
        (drop (call $start (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
          (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))))
      (func (export "run") (result i32)
        (call $call)
        (call $call)
        (i32.store (i32.const 32) (call $timer (i64.const 1)))
        (call $poll (i32.const 32) (i32.const 1) (i32.const 40))
        (call $take (i32.const 64))
        (call $take (i32.const 128))
        (call $take (i32.const 192))
        (call $wait (i32.const 0))))"#;

    fn started(calls: Option<Calls>) -> (Store<World>, Instance) {
        let engine = Engine::default();
        let module = Module::new(&engine, ENGINE).unwrap();
        let random = Random::from_bundle(b"");
        let mut world =
            World::new(String::new(), Vec::new(), Vec::new(), random, StoreLimits::default(), Duration::ZERO);
        world.calls = calls;
        let mut store = Store::new(&engine, world);
        let mut linker = Linker::new(&engine);
        wasi::define(&mut linker, &module).unwrap();
        let instance = linker.instantiate(&mut store, &module).unwrap();
        (store, instance)
    }

    #[test]
    fn calls_of_a_rehearsal_have_a_response_each() {
        let (mut store, instance) = started(Some(Calls::default()));
        let run = instance.get_typed_func::<(), i32>(&mut store, "run").unwrap();
        assert_eq!(run.call(&mut store, ()).unwrap(), 0, "nothing is left to take");
        let memory = instance.get_memory(&mut store, "memory").unwrap();
        let word = |at: usize| u32::from_le_bytes(memory.data(&store)[at..at + 4].try_into().unwrap());
        assert_eq!(word(44), 1, "one timer is over");
        for (number, at) in [(1, 64), (2, 128)] {
            assert_eq!([0, 4, 8, 12].map(|offset| word(at + offset)), [1, number, 0, 200]);
            let [block, count, body, length] = [16, 20, 24, 28].map(|offset| word(at + offset) as usize);
            assert_eq!(count, HEADERS.len());
            assert!(memory.data(&store)[block..block + word(block) as usize].ends_with(b"etag\"1\""));
            assert_eq!(&memory.data(&store)[body..body + length], BODY.as_bytes());
        }
        assert_eq!(memory.data(&store)[192], 0);
    }

    #[test]
    fn calls_of_a_top_level_end_it() {
        let (mut store, instance) = started(None);
        let run = instance.get_typed_func::<(), i32>(&mut store, "run").unwrap();
        let error = run.call(&mut store, ()).unwrap_err();
        let TopLevelCall(function, interface) = error.downcast_ref().unwrap();
        assert_eq!((*function, &**interface), ("start", "sdk:core/calls@0.1.0"));
    }
}
