//! The comparison of a module's instances with a fresh one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, ExternRef, Result, Store, Val};

use super::store::{self, Layout, State, Value};
use crate::instance::call::{Blueprint, Instance};
use crate::instance::caller::Caller;
use crate::instance::host::{self, Host};
use crate::module::engine::SharedEngine;

/// A page, as restoring counts them.
const PAGE: usize = 4096;

/// As many differences are described.
const DESCRIBED: usize = 20;

/// Something that is left out when an instance is restored, so that the comparison can be seen to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    /// A page of the first memory.
    Page(usize),
    /// A global, by its place among all.
    Global(usize),
    /// A field of the host's: the request that log lines belong to.
    Field,
    /// An object of the collector.
    Object,
}

/// The part that was left out.
pub(crate) enum LeftOut {
    Page(usize, Vec<u8>),
    Global(usize, Val),
    Object,
}

/// Compares the instances of a module with the one that was made first.
pub(crate) struct Probe {
    layout: Layout,
    fresh: State,
    used: [usize; 2],
    fuel: usize,
    kinds: [bool; 3],
    leave: Option<Leave>,
    asked: AtomicU64,
    restored: AtomicU64,
    made: AtomicU64,
    differences: Mutex<Vec<String>>,
}

impl Probe {
    /// Makes an instance of the module in the product's own way, and keeps its state.
    pub(super) async fn new(blueprint: Blueprint<'_>, engine: &SharedEngine, leave: Option<Leave>) -> Result<Self> {
        let layout = Layout::of(blueprint.entry.component())?;
        let caller = Caller::host("fresh", &blueprint.shared_state.limits);
        let slot = engine.slots.take().await;
        let made = Instance::new(blueprint, caller, slot).await;
        let mut instance = made.map_err(|failure| wasmtime::format_err!("no instance: {failure:?}"))?;
        let (store, _, kinds) = instance.observed();
        let number = store::number(store)?;
        let fresh = State::of(&layout, number, store);
        let (fuel, used) = (store.hostcall_fuel(), store.data_mut().observed(Instant::now()).1);
        let [asked, restored, made] = [(); 3].map(|()| AtomicU64::new(0));
        Ok(Self { layout, fresh, used, fuel, kinds, leave, asked, restored, made, differences: Mutex::default() })
    }

    /// Checks that the fresh instance equals wasmtime's own instance of the component: without Tenon's memories, and
    /// without Tenon's additions to the component, which are globals at an instance's end, and an instance at the end.
    pub(super) async fn check_fresh(&self, blueprint: Blueprint<'_>, bytes: &[u8]) -> Result<()> {
        let engine = Engine::default();
        let component = Component::new(&engine, bytes)?;
        let layout = Layout::of(&component)?;
        let mut linker = Linker::new(&engine);
        host::link(&mut linker)?;
        let caller = Caller::host("plain", &blueprint.shared_state.limits);
        let mut store = Store::new(&engine, Host::new(blueprint.shared_state, blueprint.info, caller));
        linker.instantiate_async(&mut store, &component).await?;
        let number = store::number(&mut store)?;
        let plain = State::of(&layout, number, &mut store);
        for (name, memory) in &plain.memories {
            let fresh = self.fresh.memories.iter().find(|(other, _)| other == name).map(|(_, memory)| memory);
            wasmtime::ensure!(fresh == Some(memory), "{name} differs from the one without Tenon");
        }
        for (name, value) in plain.globals.iter().filter(|(name, _)| name.starts_with("global")) {
            let fresh = self.fresh.globals.iter().find(|(other, _)| other == name).map(|(_, value)| value);
            wasmtime::ensure!(
                fresh.is_some_and(|fresh| is_like(fresh, value)),
                "{name} differs from the one without Tenon"
            );
        }
        for (name, elements) in &plain.tables {
            let fresh = self.fresh.tables.iter().find(|(other, _)| other == name);
            let fresh = fresh.map_or(&[][..], |(_, elements)| elements);
            let alike =
                fresh.len() == elements.len() && fresh.iter().zip(elements).all(|(one, other)| is_like(one, other));
            wasmtime::ensure!(alike, "{name} differs from the one without Tenon");
        }
        Ok(())
    }

    /// Checks that the first memory equals the component's data, read without wasmtime.
    pub(super) fn check_memory(&self, bytes: &[u8]) -> Result<()> {
        let state = tenon_code::EngineModule::find(bytes)?.take_apart()?.state;
        let mut expected = vec![0; usize::try_from(state.pages)? * 65_536];
        for segment in state.segments {
            let at = segment.offset as usize;
            expected[at..at + segment.data.len()].copy_from_slice(segment.data);
        }
        wasmtime::ensure!(
            self.fresh.memories.iter().any(|(_, memory)| *memory == expected),
            "no memory equals the component's data"
        );
        Ok(())
    }

    /// Counts a request that asks for an instance.
    pub(crate) fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Compares an instance that is about to serve a request which came at `began`.
    pub(crate) fn look(&self, instance: &mut Instance, blueprint: Blueprint<'_>, caller: Caller, began: Instant) {
        let count = if instance.uses() > 0 { &self.restored } else { &self.made };
        count.fetch_add(1, Ordering::Relaxed);
        let (store, seen, kinds) = instance.observed();
        let number = match seen.number {
            Some(number) => number,
            None => *seen.number.insert(store::number(store).expect("a store can have another global")),
        };
        if let (Some(Leave::Field), Some(before)) = (self.leave, &seen.request_id) {
            store.data().log.begin(&Caller { request_id: Arc::clone(before), ..caller.clone() });
        }
        seen.request_id = Some(Arc::clone(&caller.request_id));

        let mut found = self.fresh.differences(&self.layout, number, store);
        let mut host = Host::new(blueprint.shared_state, blueprint.info, caller);
        let expected = host.observed(began).0;
        let (is, used) = store.data_mut().observed(began);
        if is != expected {
            found.push(format!("the host has {is:?} and not {expected:?}"));
        }
        if (used, store.hostcall_fuel(), kinds) != (self.used, self.fuel, self.kinds) {
            found.push(format!("the instance uses {used:?}, {} fuel, {kinds:?}", store.hostcall_fuel()));
        }
        let mut differences = self.differences.lock().unwrap_or_else(PoisonError::into_inner);
        for found in found {
            if differences.len() < DESCRIBED {
                let how = if instance.uses() > 0 { "restored" } else { "made" };
                differences.push(format!("{}, an instance that was {how}: {found}", blueprint.info.name));
            }
        }
    }

    /// Records the part to leave out, before an instance is restored.
    pub(crate) fn leave_out(&self, instance: &mut Instance) -> Option<LeftOut> {
        let (store, seen, _) = instance.observed();
        match self.leave? {
            Leave::Page(page) => {
                let memory = store::memory(&self.layout, seen.number?, 0)?.data(&*store);
                Some(LeftOut::Page(page, memory.get(page * PAGE..(page + 1) * PAGE)?.to_vec()))
            }
            Leave::Global(index) => {
                let global = store::global(&self.layout, seen.number?, index)?;
                Some(LeftOut::Global(index, global.get(store)))
            }
            Leave::Object => Some(LeftOut::Object),
            Leave::Field => None,
        }
    }

    /// Makes an instance that was restored what it is when that was left out.
    pub(crate) fn put_back(&self, instance: &mut Instance, left_out: LeftOut) {
        let (store, seen, _) = instance.observed();
        let number = seen.number.expect("it was looked at");
        match left_out {
            LeftOut::Page(page, bytes) => {
                let memory = store::memory(&self.layout, number, 0).expect("it was there");
                memory.write(store, page * PAGE, &bytes).expect("the memory is as large as it was");
            }
            LeftOut::Global(index, value) => {
                let global = store::global(&self.layout, number, index).expect("it was there");
                global.set(store, value).expect("the global is one that can be set");
            }
            LeftOut::Object => drop(ExternRef::new(store, ()).expect("the heap has room for it")),
        }
    }

    /// Requests that asked for an instance.
    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// The numbers of compared restored and new instances, and the differences.
    pub(super) fn outcome(&self) -> (u64, u64, Vec<String>) {
        let differences = self.differences.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.restored.load(Ordering::Relaxed), self.made.load(Ordering::Relaxed), differences)
    }
}

/// Reports whether values of two engines are equal, as far as functions can be compared.
fn is_like(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Function { instance, .. }, Value::Function { instance: other, .. }) => instance == other,
        (one, other) => one == other,
    }
}
