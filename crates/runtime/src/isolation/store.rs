//! All that a guest has in a store: memories, globals and tables of all core instances, and the flags of component
//! instances.
//!
//! Wasmtime hands out only a component's exports. But its handles are plain numbers whose layout is fixed for its C
//! API, and each access checks them. So the harness makes handles of unexported items.

use std::mem::transmute;

use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection};
use wasmtime::component::Component;
use wasmtime::{Global, GlobalType, Memory, Mutability, Ref, Result, Store, Table, Val, ValType};
use wasmtime_environ::component::{ComponentArtifacts, GlobalInitializer, InstantiateModule};
use wasmtime_environ::obj::ELF_WASMTIME_INFO;

use crate::instance::host::Host;

/// `wasmtime_memory` and `wasmtime_table` of wasmtime's C API.
#[repr(C)]
#[derive(Clone, Copy)]
struct Item {
    instance: InstanceId,
    index: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct InstanceId {
    store: u64,
    number: u32,
}

/// `wasmtime_global` of wasmtime's C API.
#[repr(C)]
#[derive(Clone, Copy)]
struct GlobalItem {
    store: u64,
    instance: u32,
    kind: u32,
    index: u32,
}

/// Kinds of globals: of core instances, and the flags of component instances.
const OF_INSTANCE: u32 = 1;
const FLAGS: u32 = 2;

/// Wasmtime puts an empty instance of its own first into each store.
const FIRST: u32 = 1;

/// How much of everything there is in a store with an instance of some component.
pub(super) struct Layout {
    instances: Vec<Counts>,
    flags: u32,
}

struct Counts {
    memories: u32,
    tables: u32,
    globals: u32,
}

impl Layout {
    /// Reads it from wasmtime's metadata of the component's code.
    pub(super) fn of(component: &Component) -> Result<Self> {
        let code = component.serialize()?;
        let file = ElfFile64::<LittleEndian>::parse(&*code)?;
        let info = file.section_by_name(ELF_WASMTIME_INFO);
        let info = info.ok_or_else(|| wasmtime::format_err!("the code has no description"))?;
        let artifacts: ComponentArtifacts = postcard::from_bytes(info.data()?)?;
        let component = &artifacts.info.component;
        let mut instances = Vec::new();
        for initializer in &component.initializers {
            match initializer {
                GlobalInitializer::InstantiateModule(InstantiateModule::Static(module, _), _) => {
                    let module = &artifacts.static_modules[*module].module;
                    instances.push(Counts {
                        memories: u32::try_from(module.num_defined_memories())?,
                        tables: u32::try_from(module.num_defined_tables())?,
                        globals: u32::try_from(module.num_defined_globals())?,
                    });
                }
                GlobalInitializer::InstantiateModule(..) => wasmtime::bail!("the component imports a module"),
                _ => {}
            }
        }
        Ok(Self { instances, flags: component.num_runtime_component_instances })
    }

    fn each(&self, count: impl Fn(&Counts) -> u32) -> impl Iterator<Item = (u32, u32)> {
        let counts: Vec<_> = (FIRST..).zip(self.instances.iter().map(count)).collect();
        counts.into_iter().flat_map(|(instance, count)| (0..count).map(move |index| (instance, index)))
    }

    fn memories(&self, store: u64) -> impl Iterator<Item = (String, Memory)> {
        self.each(|counts| counts.memories).map(move |(number, index)| {
            let item = Item { instance: InstanceId { store, number }, index };
            // SAFETY: this is the handle's layout; its numbers are those of a memory that the store has.
            (format!("memory {index} of instance {number}"), unsafe { transmute::<Item, Memory>(item) })
        })
    }

    fn tables(&self, store: u64) -> impl Iterator<Item = (String, Table)> {
        self.each(|counts| counts.tables).map(move |(number, index)| {
            let item = Item { instance: InstanceId { store, number }, index };
            // SAFETY: a table's handle has this layout, too; its numbers are those of a table that the store has.
            (format!("table {index} of instance {number}"), unsafe { transmute::<Item, Table>(item) })
        })
    }

    fn globals(&self, store: u64) -> impl Iterator<Item = (String, Global)> {
        let of_instances = self.each(|counts| counts.globals).map(move |(instance, index)| {
            let name = format!("global {index} of instance {instance}");
            (name, GlobalItem { store, instance, kind: OF_INSTANCE, index })
        });
        let flags = (0..self.flags).map(move |index| {
            (format!("flags of component instance {index}"), GlobalItem { store, instance: 0, kind: FLAGS, index })
        });
        // SAFETY: this is the layout of a global's handle; its numbers are those of a global or of flags that the store has.
        of_instances.chain(flags).map(|(name, item)| (name, unsafe { transmute::<GlobalItem, Global>(item) }))
    }
}

/// A store's number, with which all of its handles begin.
pub(super) fn number(store: &mut Store<Host>) -> Result<u64> {
    let own = Global::new(store, GlobalType::new(ValType::I32, Mutability::Const), Val::I32(0))?;
    // SAFETY: this is the handle's layout.
    let GlobalItem { store, .. } = unsafe { transmute::<Global, GlobalItem>(own) };
    Ok(store)
}

/// A value of a global or a table, comparable between stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Bits(u128),
    Null,
    /// An object of the collector: no fresh instance has one.
    Object,
    Function {
        code: [usize; 2],
        ty: u32,
        instance: usize,
    },
}

/// Numbers instances in the order in which they are met: their addresses differ from store to store.
#[derive(Default)]
struct Numbered(Vec<usize>);

impl Numbered {
    fn number(&mut self, address: usize) -> usize {
        self.0.iter().position(|known| *known == address).unwrap_or_else(|| {
            self.0.push(address);
            self.0.len() - 1
        })
    }

    fn value(&mut self, store: &mut Store<Host>, value: Val) -> Value {
        match value {
            Val::I32(value) => Value::Bits(value.cast_unsigned().into()),
            Val::I64(value) => Value::Bits(value.cast_unsigned().into()),
            Val::F32(bits) => Value::Bits(bits.into()),
            Val::F64(bits) => Value::Bits(bits.into()),
            Val::V128(value) => Value::Bits(value.as_u128()),
            Val::FuncRef(None) | Val::ExternRef(None) | Val::ExnRef(None) => Value::Null,
            Val::ExternRef(Some(_)) | Val::ExnRef(Some(_)) => Value::Object,
            Val::FuncRef(Some(function)) => {
                let words = function.to_raw(store).cast::<[usize; 4]>();
                // SAFETY: a reference to a function is two addresses of code, the number of its type, and the address of its
                // instance (wasmtime_environ's `VMFuncRef`); it lives as long as the store.
                let [array, wasm, ty, instance] = unsafe { *words };
                let ty = (ty & 0xffff_ffff) as u32;
                Value::Function { code: [array, wasm], ty, instance: self.number(instance) }
            }
            // Not in the language of guests (`tenon-language`).
            Val::AnyRef(_) | Val::ContRef(_) => panic!("a guest has {value:?}"),
        }
    }
}

/// The state of a guest.
pub(super) struct State {
    pub(super) memories: Vec<(String, Vec<u8>)>,
    pub(super) globals: Vec<(String, Value)>,
    pub(super) tables: Vec<(String, Vec<Value>)>,
    /// The size of the collector's heap: 0 until a guest makes its first object.
    collector: usize,
}

impl State {
    /// Copies everything.
    pub(super) fn of(layout: &Layout, number: u64, store: &mut Store<Host>) -> Self {
        let memories = layout.memories(number).map(|(name, memory)| (name, memory.data(&*store).to_vec())).collect();
        let mut numbered = Numbered::default();
        let mut globals = Vec::new();
        for (name, global) in layout.globals(number) {
            let value = global.get(&mut *store);
            globals.push((name, numbered.value(store, value)));
        }
        let mut tables = Vec::new();
        for (name, table) in layout.tables(number) {
            tables.push((name, elements(&mut numbered, store, table)));
        }
        Self { memories, globals, tables, collector: store.gc_heap_capacity() }
    }

    /// The differences of a store: none, or the first one of each kind.
    pub(super) fn differences(&self, layout: &Layout, number: u64, store: &mut Store<Host>) -> Vec<String> {
        let mut found = Vec::new();
        for ((name, expected), (_, memory)) in self.memories.iter().zip(layout.memories(number)) {
            let is = memory.data(&*store);
            if is.len() != expected.len() {
                found.push(format!("{name} has {} bytes and not {}", is.len(), expected.len()));
            } else if is != expected {
                let at = is.iter().zip(expected).position(|(is, expected)| is != expected).unwrap_or(0);
                let count = is.iter().zip(expected).filter(|(is, expected)| is != expected).count();
                found.push(format!(
                    "{name}: {count} bytes differ, the first at {at}: {} and not {}",
                    is[at], expected[at]
                ));
            }
        }
        let mut numbered = Numbered::default();
        for ((name, expected), (_, global)) in self.globals.iter().zip(layout.globals(number)) {
            let is = global.get(&mut *store);
            let is = numbered.value(store, is);
            if is != *expected {
                found.push(format!("{name} is {is:?} and not {expected:?}"));
            }
        }
        for ((name, expected), (_, table)) in self.tables.iter().zip(layout.tables(number)) {
            let is = elements(&mut numbered, store, table);
            if is != *expected {
                let at = is.iter().zip(expected).position(|(is, expected)| is != expected);
                found.push(format!("{name} differs, with {} elements, at {at:?}", is.len()));
            }
        }
        let is = store.gc_heap_capacity();
        if is != self.collector {
            found.push(format!("the collector's heap has {is} bytes and not {}", self.collector));
        }
        found
    }
}

fn elements(numbered: &mut Numbered, store: &mut Store<Host>, table: Table) -> Vec<Value> {
    let size = table.size(&*store);
    (0..size)
        .map(|index| match table.get(&mut *store, index) {
            Some(Ref::Func(function)) => numbered.value(store, Val::FuncRef(function)),
            Some(Ref::Extern(None) | Ref::Exn(None)) => Value::Null,
            Some(Ref::Extern(Some(_)) | Ref::Exn(Some(_))) => Value::Object,
            other => panic!("element {index} of a table is {other:?}"),
        })
        .collect()
}

/// The memory of a store with this place among all, to write to.
pub(super) fn memory(layout: &Layout, number: u64, index: usize) -> Option<Memory> {
    layout.memories(number).nth(index).map(|(_, memory)| memory)
}

/// The global of a store with this place among all.
pub(super) fn global(layout: &Layout, number: u64, index: usize) -> Option<Global> {
    layout.globals(number).nth(index).map(|(_, global)| global)
}
