//! Bounds of an instance's memories, tables and time on a thread.

use wasmtime::{ResourceLimiter, Result};

use crate::config::{Limits, size};
use crate::metering::meter::{Meter, MeterLimit};

/// Limits of a component's parts. One that Tenon composes has about a dozen core instances, two memories (engine and
/// bridge) and a handful of tables, besides those of the modules that its handler imports. Foreign ones get the same
/// limits, and one more instance, which restores their globals.
const CORE_INSTANCES: usize = 25 + LINKED;
pub(crate) const MEMORIES: usize = 4 + LINKED;
pub(crate) const TABLES: usize = 8 + LINKED;

/// The most modules and memories that a build links (`tenon_link`), and as many tables.
const LINKED: usize = 8;

/// Number of epochs before the first yield, so that a clock tick does not interrupt a short call, which would make
/// others need an instance of their own.
pub(crate) const FIRST_YIELD: u64 = 2;

/// The bounds of one store: all memories together, and all tables together. Growth beyond fails in the guest.
pub(crate) struct Bounds {
    memory: Budget,
    table: Budget,
    denied: Option<&'static str>,
    /// That of the request.
    pub(crate) meter: Option<Meter>,
}

/// An amount that several memories or tables share.
///
/// The engine reports a growth before it makes it. A growth that it then fails to make stays counted: the engine
/// reports this failure like that of a growth that it never requested, so subtracting would let a guest shrink the sum
/// at will.
struct Budget {
    name: &'static str,
    most: usize,
    used: usize,
}

impl Budget {
    fn new(name: &'static str, most: u64) -> Self {
        Self { name, most: size(most), used: 0 }
    }

    /// Counts growth from one size to another; false beyond the budget.
    fn grow(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> bool {
        if maximum.is_some_and(|maximum| desired > maximum) {
            // The engine refuses it by the type's own maximum.
            return true;
        }
        match self.used.checked_add(desired.saturating_sub(current)) {
            Some(used) if used <= self.most => {
                self.used = used;
                true
            }
            _ => false,
        }
    }
}

impl Bounds {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory: Budget::new("memory_limit_bytes", limits.memory_limit_bytes),
            table: Budget::new("max_table_elements", limits.max_table_elements),
            denied: None,
            meter: None,
        }
    }

    /// Counts bytes with which a new memory starts beyond its declared size. Wasmtime reports the declared size only.
    pub(crate) fn count_image(&mut self, beyond: usize) {
        self.memory.used = self.memory.used.saturating_add(beyond);
    }

    /// The size of all memories in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.memory.used
    }

    /// Notes that the guest has run into a limit.
    pub(crate) fn deny(&mut self, limit: &'static str) -> bool {
        self.denied = Some(limit);
        false
    }

    /// Starts with another request.
    pub(crate) fn begin(&mut self, meter: Option<Meter>) {
        if let Some(meter) = &meter {
            meter.note_memory(self.memory.used);
        }
        self.meter = meter;
    }

    /// Ends a metered request that has reached a limit: the guest traps.
    fn end(&self) -> Result<()> {
        match &self.meter {
            Some(meter) => {
                meter.reach(MeterLimit::Memory);
                meter.check()
            }
            None => Ok(()),
        }
    }

    /// The whole state, for a comparison with a fresh instance: the budgets with their used amounts, and the limit.
    #[cfg(test)]
    pub(crate) fn observed(&self) -> ([(usize, usize); 2], Option<&'static str>) {
        // The meter is the request's own.
        let Self { memory, table, denied, meter: _ } = self;
        let budgets = [memory, table].map(|Budget { name: _, most, used }| (*most, *used));
        (budgets, *denied)
    }

    /// The name of the limit that the guest has reached. A later failure is most likely its consequence.
    pub(crate) fn denied(&self) -> Option<&'static str> {
        self.denied
    }
}

impl ResourceLimiter for Bounds {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let grows = self.memory.grow(current, desired, maximum);
        match &self.meter {
            Some(meter) if grows => meter.note_memory(self.memory.used),
            Some(_) => self.end()?,
            None => {}
        }
        Ok(grows || self.deny(self.memory.name))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let grows = self.table.grow(current, desired, maximum);
        if !grows && self.meter.is_some() {
            self.end()?;
        }
        Ok(grows || self.deny(self.table.name))
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }

    fn tables(&self) -> usize {
        TABLES
    }
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Module, Store};

    use super::*;

    const PAGE: u64 = 64 * 1024;

    /// An instance of a module, with a budget of ten pages and of ten table elements.
    fn instance(text: &str) -> wasmtime::Result<(Store<Bounds>, Instance)> {
        let limits = Limits { memory_limit_bytes: 10 * PAGE, max_table_elements: 10, ..Limits::default() };
        let engine = Engine::default();
        let mut store = Store::new(&engine, Bounds::new(&limits));
        store.limiter(|bounds| bounds);
        let module = Module::new(&engine, wat::parse_str(text)?)?;
        let instance = Instance::new(&mut store, &module, &[])?;
        Ok((store, instance))
    }

    fn grow(store: &mut Store<Bounds>, instance: &Instance, which: &str, by: i32) -> i32 {
        instance.get_typed_func::<i32, i32>(&mut *store, which).unwrap().call(store, by).unwrap()
    }

    #[test]
    fn four_memories_have_one_bound_together() {
        let text = r#"(module (memory 1) (memory 2) (memory 1) (memory 1 5)
          (func (export "0") (param i32) (result i32) (memory.grow 0 (local.get 0)))
          (func (export "3") (param i32) (result i32) (memory.grow 3 (local.get 0))))"#;
        let (mut store, instance) = instance(text).unwrap();
        assert_eq!(store.data().memory() as u64, 5 * PAGE);
        assert_eq!(grow(&mut store, &instance, "0", 3), 1);
        assert_eq!(grow(&mut store, &instance, "3", 3), -1);
        assert_eq!(store.data().denied(), Some("memory_limit_bytes"));
        assert_eq!(grow(&mut store, &instance, "3", 2), 1);
        assert_eq!(grow(&mut store, &instance, "0", 1), -1);
        assert_eq!(store.data().memory() as u64, 10 * PAGE);
    }

    /// Wasmtime reports the declared size of a memory whose image is larger.
    #[test]
    fn a_memory_counts_with_the_size_of_its_image() {
        let limits = Limits { memory_limit_bytes: 10 * PAGE, ..Limits::default() };
        let page = usize::try_from(PAGE).unwrap();
        let mut bounds = Bounds::new(&limits);
        bounds.count_image(3 * page);
        assert!(bounds.memory_growing(0, 2 * page, None).unwrap());
        assert_eq!(bounds.memory(), 5 * page);
        // From the true size on.
        assert!(bounds.memory_growing(5 * page, 10 * page, None).unwrap());
        assert!(!bounds.memory_growing(10 * page, 11 * page, None).unwrap());
        let mut beyond = Bounds::new(&limits);
        beyond.count_image(usize::MAX);
        assert!(!beyond.memory_growing(0, page, None).unwrap());
    }

    #[test]
    fn memories_that_start_beyond_the_bound_together_make_no_instance() {
        assert!(instance("(module (memory 4) (memory 4) (memory 2))").is_ok());
        assert!(instance("(module (memory 4) (memory 4) (memory 3))").is_err());
    }

    /// The engine reports some failures without having asked: they must not give anything back.
    #[test]
    fn growth_that_fails_gives_a_guest_no_more_room() {
        let text = r#"(module (memory 1) (memory 1 2) (table 1 funcref)
          (func (export "0") (param i32) (result i32) (memory.grow 0 (local.get 0)))
          (func (export "1") (param i32) (result i32) (memory.grow 1 (local.get 0)))
          (func (export "table") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))"#;
        let (mut store, instance) = instance(text).unwrap();
        for page in 1..9 {
            assert_eq!(grow(&mut store, &instance, "0", 1), page);
            // Beyond four gigabytes, and beyond the type's maximum.
            assert_eq!(grow(&mut store, &instance, "0", -1), -1);
            assert_eq!(grow(&mut store, &instance, "1", 7), -1);
            assert_eq!(grow(&mut store, &instance, "table", 1), page);
            assert_eq!(grow(&mut store, &instance, "table", -1), -1);
        }
        assert_eq!(grow(&mut store, &instance, "0", 1), -1);
        assert_eq!(grow(&mut store, &instance, "table", 1), 9);
        assert_eq!(grow(&mut store, &instance, "table", 1), -1);
        assert_eq!(store.data().memory() as u64, 10 * PAGE);
    }

    #[test]
    fn tables_have_one_bound_together() {
        assert!(instance("(module (table 5 funcref) (table 5 funcref))").is_ok());
        assert!(instance("(module (table 5 funcref) (table 6 funcref))").is_err());
    }
}
