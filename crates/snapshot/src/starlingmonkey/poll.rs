//! Timers and waiting without resources of the host.
//!
//! The engine waits for everything through `poll` of `wasi:io`, and each timer is a resource of the host that it polls.
//! An instance that has made resources cannot be restored, and restoring is what makes most requests fast. So a timer
//! is an entry of a table in the instance's own memory. Waiting is a call with a timeout: `wait` of `sdk:core/calls`,
//! which also ends when a call has ended. Handles of the host (bodies of `fetch`) are still polled, together with
//! timers and calls.
//!
//! `glue.ts` waits for calls with a timer that is longer than any other. Its handle stands for the end of a call.

use tenon_rewrite::{Error, Rewrite};

use crate::graft;

const SOURCE: &str = include_str!("poll.wat");

/// The replaced functions: the import's module, the import, and the function of the source.
const REPLACED: [(&str, &str, &str); 4] = [
    ("wasi:clocks/monotonic-clock@", "subscribe-instant", "subscribe-instant"),
    ("wasi:clocks/monotonic-clock@", "subscribe-duration", "subscribe-duration"),
    ("wasi:io/poll@", "[resource-drop]pollable", "drop"),
    ("wasi:io/poll@", "poll", "poll"),
];

/// Keeps timers in memory and waits through `sdk:core/calls`. The engine stays unchanged when it does not import that.
pub(crate) fn wait_for_calls(engine: &mut Rewrite<'_>) -> Result<(), Error> {
    graft::replace(engine, SOURCE, &REPLACED)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use wasmtime::{Caller, Engine, Instance, Linker, Memory, Module, Store, TypedFunc};

    use super::*;

    /// An engine that exports its imports. It allocates after 64 KiB and never frees.
    const ENGINE: &str = r#"(module
      (import "wasi:clocks/monotonic-clock@0.2.10" "now" (func $now (result i64)))
      (import "wasi:clocks/monotonic-clock@0.2.10" "subscribe-instant" (func $instant (param i64) (result i32)))
      (import "wasi:clocks/monotonic-clock@0.2.10" "subscribe-duration" (func $duration (param i64) (result i32)))
      (import "wasi:io/poll@0.2.10" "poll" (func $poll (param i32 i32 i32)))
      (import "wasi:io/poll@0.2.10" "[resource-drop]pollable" (func $drop (param i32)))
      (import "sdk:core/calls@0.1.0" "wait" (func $wait (param i32) (result i32)))
      (memory (export "memory") 4)
      (global $next (mut i32) (i32.const 65536))
      (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
        (if (i32.eqz (local.get 3)) (then
          (memory.fill (local.get 0) (i32.const 0xaa) (local.get 1))
          (return (i32.const 0))))
        (global.get $next)
        (memory.fill (global.get $next) (i32.const 0xaa) (local.get 3))
        (global.set $next (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 7)) (i32.const -8))))
      (func (export "subscribe") (param i64) (result i32) (call $instant (local.get 0)))
      (func (export "after") (param i64) (result i32) (call $duration (local.get 0)))
      (func (export "drop") (param i32) (call $drop (local.get 0)))
      (func (export "poll") (param i32 i32 i32) (call $poll (local.get 0) (local.get 1) (local.get 2))))"#;

    /// The handle that stands for the end of a call.
    const ENDED: u32 = 0x5fff_ffff;

    /// A host whose time passes only while it waits.
    #[derive(Default)]
    struct Host {
        now: u64,
        /// End times of running calls; and whether one has ended and was not taken.
        calls: BTreeSet<u64>,
        waits: Vec<u32>,
        /// Handles of the host: end times of timers, and of others that are ready from then on.
        handles: Vec<Option<u64>>,
        polls: usize,
    }

    impl Host {
        fn wait(&mut self, timeout: u32) -> bool {
            self.waits.push(timeout);
            assert!(self.waits.len() < 100, "it spins");
            let until = if timeout == u32::MAX { u64::MAX } else { self.now + u64::from(timeout) * 1000 };
            match self.calls.first() {
                Some(end) if *end <= until => {
                    self.now = self.now.max(*end);
                    true
                }
                None if timeout == u32::MAX => false,
                _ => {
                    self.now = until;
                    false
                }
            }
        }

        fn subscribe(&mut self, when: u64) -> u32 {
            self.handles.push(Some(when));
            u32::try_from(self.handles.len() - 1).unwrap()
        }

        fn poll(&mut self, handles: &[u32]) -> Vec<u32> {
            self.polls += 1;
            let when = |handle: &u32| self.handles[*handle as usize].expect("a handle that was dropped");
            let first = handles.iter().map(when).min().expect("an empty list traps");
            let now = self.now.max(first);
            let ready: Vec<_> =
                (0..).zip(handles).filter(|(_, handle)| when(handle) <= now).map(|(index, _)| index).collect();
            self.now = now;
            // The engine accepts any order.
            ready.into_iter().rev().collect()
        }

        fn open(&self) -> usize {
            self.handles.iter().flatten().count()
        }
    }

    struct Running {
        store: Store<Host>,
        instance: Instance,
    }

    fn word(memory: &[u8], at: u32) -> u32 {
        u32::from_le_bytes(memory[at as usize..][..4].try_into().unwrap())
    }

    impl Running {
        fn new() -> Self {
            let bytes = wat::parse_str(ENGINE).unwrap();
            let mut rewrite = Rewrite::of(&bytes).unwrap();
            wait_for_calls(&mut rewrite).unwrap();
            let engine = Engine::default();
            let module = Module::new(&engine, rewrite.finish().unwrap()).unwrap();
            let mut linker = Linker::new(&engine);
            let clock = "wasi:clocks/monotonic-clock@0.2.10";
            let host = |caller: Caller<'_, Host>| caller.data().now;
            linker.func_wrap(clock, "now", host).unwrap();
            linker
                .func_wrap(clock, "subscribe-instant", |mut caller: Caller<'_, Host>, when: u64| {
                    caller.data_mut().subscribe(when)
                })
                .unwrap();
            linker.func_wrap(clock, "subscribe-duration", |_: u64| -> u32 { panic!("a timer of the host's") }).unwrap();
            let poll = |mut caller: Caller<'_, Host>, list: u32, count: u32, result: u32| {
                let memory = caller.get_export("memory").unwrap().into_memory().unwrap();
                let handles: Vec<_> = (0..count).map(|index| word(memory.data(&caller), list + 4 * index)).collect();
                let ready = caller.data_mut().poll(&handles);
                let allocate = caller.get_export("cabi_realloc").unwrap().into_func().unwrap();
                let allocate: TypedFunc<(u32, u32, u32, u32), u32> = allocate.typed(&caller).unwrap();
                let size = 4 * u32::try_from(ready.len()).unwrap();
                let at = allocate.call(&mut caller, (0, 0, 4, size)).unwrap();
                let bytes: Vec<_> = ready.iter().flat_map(|index| index.to_le_bytes()).collect();
                memory.write(&mut caller, at as usize, &bytes).unwrap();
                memory.write(&mut caller, result as usize, &at.to_le_bytes()).unwrap();
                memory.write(&mut caller, result as usize + 4, &(size / 4).to_le_bytes()).unwrap();
            };
            linker.func_wrap("wasi:io/poll@0.2.10", "poll", poll).unwrap();
            let drop = |mut caller: Caller<'_, Host>, handle: u32| {
                assert!(caller.data_mut().handles[handle as usize].take().is_some());
            };
            linker.func_wrap("wasi:io/poll@0.2.10", "[resource-drop]pollable", drop).unwrap();
            let wait = |mut caller: Caller<'_, Host>, timeout: u32| u32::from(caller.data_mut().wait(timeout));
            linker.func_wrap("sdk:core/calls@0.1.0", "wait", wait).unwrap();
            let mut store = Store::new(&engine, Host { now: 1_000_000, ..Host::default() });
            let instance = linker.instantiate(&mut store, &module).unwrap();
            Self { store, instance }
        }

        fn host(&mut self) -> &mut Host {
            self.store.data_mut()
        }

        fn subscribe(&mut self, when: u64) -> u32 {
            self.instance.get_typed_func(&mut self.store, "subscribe").unwrap().call(&mut self.store, when).unwrap()
        }

        fn drop(&mut self, handle: u32) {
            self.instance.get_typed_func(&mut self.store, "drop").unwrap().call(&mut self.store, handle).unwrap()
        }

        fn memory(&mut self) -> Memory {
            self.instance.get_memory(&mut self.store, "memory").unwrap()
        }

        fn try_poll(&mut self, handles: &[u32]) -> wasmtime::Result<u32> {
            let memory = self.memory();
            let list: Vec<_> = handles.iter().flat_map(|handle| handle.to_le_bytes()).collect();
            memory.write(&mut self.store, 1024, &list).unwrap();
            let poll: TypedFunc<(u32, u32, u32), ()> = self.instance.get_typed_func(&mut self.store, "poll").unwrap();
            poll.call(&mut self.store, (1024, u32::try_from(handles.len()).unwrap(), 512))?;
            let memory = memory.data(&self.store);
            assert_eq!(word(memory, 516), 1);
            Ok(word(memory, word(memory, 512)))
        }

        fn poll(&mut self, handles: &[u32]) -> u32 {
            self.try_poll(handles).unwrap()
        }
    }

    #[test]
    fn timers_are_places_in_memory_and_the_lowest_that_is_over_is_taken() {
        let mut engine = Running::new();
        let timers = [9_000_000, 3_000_500, 3_000_000].map(|when| engine.subscribe(when));
        assert_eq!(engine.poll(&timers), 2);
        // Rounded up, so that a timer never fires early.
        assert_eq!((engine.host().now, engine.host().waits.clone()), (3_000_000, vec![2000]));
        engine.drop(timers[2]);
        assert_eq!(engine.poll(&timers[..2]), 1);
        assert_eq!(engine.host().now, 3_001_000);
        assert_eq!(engine.poll(&[timers[1], timers[0]]), 0);
        // The first of several that have expired.
        engine.host().now = 10_000_000;
        assert_eq!(engine.poll(&timers[..2]), 0);
        assert_eq!((engine.host().polls, engine.host().open()), (0, 0));
    }

    #[test]
    fn places_are_used_again_and_are_as_many_as_are_wanted() {
        let mut engine = Running::new();
        let first: Vec<_> = (0..100).map(|index| engine.subscribe(5_000_000 + index)).collect();
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 100);
        for handle in [50, 7, 99].map(|index: usize| first[index]) {
            engine.drop(handle);
        }
        let again: Vec<_> = (0..3).map(|_| engine.subscribe(4_000_000)).collect();
        assert_eq!(again, [7, 50, 99].map(|index: usize| first[index]));
        // A time in the past and a duration of zero also take entries.
        assert!(!first.contains(&engine.subscribe(0)) && engine.subscribe(0) != engine.subscribe(0));
        assert_eq!(engine.poll(&first), 7);
    }

    #[test]
    fn a_duration_begins_now() {
        let mut engine = Running::new();
        let after: TypedFunc<u64, u32> = engine.instance.get_typed_func(&mut engine.store, "after").unwrap();
        let handle = after.call(&mut engine.store, 0).unwrap();
        assert_eq!((engine.poll(&[handle]), engine.host().waits.len()), (0, 0));
        let handle = after.call(&mut engine.store, 5_000).unwrap();
        assert_eq!((engine.poll(&[handle]), engine.host().now), (0, 1_005_000));
    }

    #[test]
    fn the_longest_timer_is_the_end_of_a_call() {
        let mut engine = Running::new();
        let longest = engine.subscribe(1_000_000 + ((1 << 31) - 1) * 1_000_000);
        assert_eq!(longest, ENDED);
        let timer = engine.subscribe(8_000_000);
        engine.host().calls.insert(5_000_000);
        assert_eq!((engine.poll(&[timer, longest]), engine.host().now), (1, 5_000_000));
        engine.host().calls.clear();
        engine.host().calls.insert(9_000_000);
        assert_eq!((engine.poll(&[timer, longest]), engine.host().now), (0, 8_000_000));
        engine.drop(timer);
        assert_eq!((engine.poll(&[longest]), engine.host().now), (0, 9_000_000));
        // No call is running. JavaScript has to notice.
        engine.host().calls.clear();
        assert_eq!(engine.poll(&[longest]), 0);
        engine.drop(longest);
        assert_eq!((engine.host().polls, engine.host().open()), (0, 0));
    }

    #[test]
    fn a_call_that_has_ended_is_before_a_timer_of_a_higher_index_and_behind_one_of_a_lower() {
        let mut engine = Running::new();
        let timer = engine.subscribe(500_000);
        engine.host().calls.insert(400_000);
        assert_eq!(engine.poll(&[ENDED, timer]), 0);
        assert_eq!(engine.poll(&[timer, ENDED]), 0);
        engine.host().calls.clear();
        assert_eq!(engine.poll(&[ENDED, timer]), 1);
    }

    #[test]
    fn handles_of_the_host_are_polled_with_timers_and_calls_beside_them() {
        let mut engine = Running::new();
        let (slow, quick) = (engine.host().subscribe(7_000_000), engine.host().subscribe(3_000_000));
        let timer = engine.subscribe(5_000_000);
        assert_eq!((engine.poll(&[slow, timer, quick]), engine.host().now), (2, 3_000_000));
        assert_eq!((engine.poll(&[slow, timer]), engine.host().now), (1, 5_000_000));
        // Both are ready; the lower index wins.
        engine.host().now = 8_000_000;
        assert_eq!((engine.poll(&[timer, slow]), engine.poll(&[slow, timer])), (0, 0));
        engine.host().now = 5_500_000;
        engine.drop(timer);
        // The host gets no timer when there is nothing to look for.
        let made = engine.host().handles.len();
        assert_eq!((engine.poll(&[slow]), engine.host().handles.len()), (0, made));
        engine.host().now = 5_500_000;
        engine.host().calls.insert(6_200_000);
        assert_eq!((engine.poll(&[slow, ENDED]), engine.host().now), (1, 6_500_000));
        assert_eq!(engine.host().open(), 2);
    }

    #[test]
    fn what_nobody_waits_for_does_not_make_it_spin() {
        let mut engine = Running::new();
        let timer = engine.subscribe(5_000_000);
        engine.host().calls.insert(400_000);
        assert_eq!((engine.poll(&[timer]), engine.host().now, engine.host().waits.len()), (0, 5_000_000, 1));
        assert_eq!(engine.host().open(), 0);
        assert!(engine.try_poll(&[]).is_err());
    }

    #[test]
    fn an_engine_without_calls_stays_as_it_is_and_one_that_differs_is_refused() {
        let rewritten = |text: String| {
            let bytes = wat::parse_str(text).unwrap();
            let mut rewrite = Rewrite::of(&bytes).unwrap();
            wait_for_calls(&mut rewrite).and_then(|()| rewrite.finish()).map(|made| made == bytes)
        };
        assert!(rewritten(ENGINE.replace("sdk:core/calls@", "sdk:core/call@")).unwrap());
        let other = ENGINE.replace(r#""wait" (func $wait (param i32)"#, r#""wait" (func $wait (param i64)"#);
        assert!(rewritten(other).is_err());
    }
}
