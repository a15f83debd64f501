//! Takes the state out of compiled code, or puts another one in.
//!
//! Compiled code does not depend on the content of a module's memory or on the values of its mutable globals. wasmtime
//! records both beside the code (`wasmtime-environ`, the crate that its compiler and its runtime share). The memory may
//! only grow, because the compiler may have omitted bounds checks below its initial size.
//!
//! wasmtime would map the engine's memory in its own pool only. So shared code has no content for that memory: it is an
//! image in another file. The caller that instantiates the component provides it (`tenon-memory`). The memories of other
//! modules are initialized by copying, as wasmtime does where it cannot map. In portable mode no memory is mapped, so
//! each component's code gets its own state.
//!
//! Each compiled component is checked for this. Its code serves other states only after [`reproduces`] has put its own
//! state into it and has got the compiler's output, byte for byte.

use tenon_rewrite::{Global, RESTORE, State};
use wasmtime_environ::component::{ComponentArtifacts, GlobalInitializer, InstantiateModule};
use wasmtime_environ::{
    EntityRef, GlobalConstValue, MemoryIndex, MemoryInitialization, Module, ModuleStartup, StaticModuleIndex, obj,
};

use crate::elf::{self, Section};
use crate::image::Image;

/// The parts of compiled code that change.
struct Parts {
    info: Vec<u8>,
    data: Vec<u8>,
}

/// Puts a state into the compiled code of a component with the same digest. `module` is the number of the engine among
/// the core modules. None when the state does not fit.
pub(crate) fn with_state(code: &[u8], module: u32, state: &State<'_>) -> Option<Vec<u8>> {
    with_parts(code, module, state, false)
}

/// Takes the content of the engine's memory out of the compiled code of a component, whose state is given. The code
/// then serves all states with the same globals and a memory that is not smaller. None when no image can back the
/// memory.
pub(crate) fn without_image(code: &[u8], module: u32, state: &State<'_>) -> Option<Vec<u8>> {
    with_parts(code, module, state, true)
}

fn with_parts(code: &[u8], module: u32, state: &State<'_>, apart: bool) -> Option<Vec<u8>> {
    let (info, data) = located(code)?;
    let parts = parts(code, &info, &data, module, state, apart)?;
    elf::with_contents(code, &[(&data, &parts.data), (&info, &parts.info)])
}

/// Puts other values of the mutable globals into the result of [`without_image`].
pub(crate) fn with_globals(code: &[u8], module: u32, globals: &[(u32, Global)]) -> Option<Vec<u8>> {
    let (info, _) = located(code)?;
    let mut artifacts: ComponentArtifacts = postcard::from_bytes(code.get(info.content.clone())?).ok()?;
    let restorable = exports_restore(&artifacts);
    let entered = &mut artifacts.static_modules.get_mut(StaticModuleIndex::from_u32(module))?.module;
    if !enter_globals(entered, globals, restorable)? {
        return None;
    }
    elf::with_contents(code, &[(&info, &postcard::to_allocvec(&artifacts).ok()?)])
}

/// Returns whether putting the code's own state into it again gives what the compiler wrote.
pub(crate) fn reproduces(code: &[u8], module: u32, state: &State<'_>) -> bool {
    let Some((info, data)) = located(code) else { return false };
    parts(code, &info, &data, module, state, false)
        .is_some_and(|parts| parts.info == code[info.content] && parts.data == code[data.content])
}

/// Returns the code with all memories initialized by copying.
pub(crate) fn without_images(code: &[u8]) -> Option<Vec<u8>> {
    let (info, _) = located(code)?;
    let mut artifacts: ComponentArtifacts = postcard::from_bytes(code.get(info.content.clone())?).ok()?;
    for (_, info) in &mut artifacts.static_modules {
        info.module.memory_initialization = MemoryInitialization::Segmented;
    }
    elf::with_contents(code, &[(&info, &postcard::to_allocvec(&artifacts).ok()?)])
}

/// Returns whether compiled code exports [`RESTORE`].
pub(crate) fn is_restorable(code: &[u8]) -> bool {
    let artifacts = located(code).and_then(|(info, _)| postcard::from_bytes(code.get(info.content)?).ok());
    artifacts.is_some_and(|artifacts| exports_restore(&artifacts))
}

fn exports_restore(artifacts: &ComponentArtifacts) -> bool {
    artifacts.info.component.exports.raw_iter().any(|(name, _)| name.as_str() == RESTORE)
}

fn located(code: &[u8]) -> Option<(Section, Section)> {
    Some((elf::section(code, obj::ELF_WASMTIME_INFO)?, elf::section(code, obj::ELF_WASM_DATA)?))
}

/// Builds the parts with a state put in. The image is left out when it stands `apart`.
fn parts(code: &[u8], info: &Section, data: &Section, module: u32, state: &State<'_>, apart: bool) -> Option<Parts> {
    let page = data.alignment;
    let mut artifacts: ComponentArtifacts = postcard::from_bytes(code.get(info.content.clone())?).ok()?;
    let old = code.get(data.content.clone())?;
    let image = Image::of(state, page)?;
    let engine = StaticModuleIndex::from_u32(module);
    let restorable = exports_restore(&artifacts);
    let entered = &mut artifacts.static_modules.get_mut(engine)?.module;
    if !enter(entered, state, &image) || !enter_globals(entered, &state.globals, restorable)? {
        return None;
    }
    if apart && !is_alone(&artifacts, engine, state.pages) {
        return None;
    }
    let mut laid_out = Vec::new();
    for (index, info) in &mut artifacts.static_modules {
        let module = &mut info.module;
        // Mapped data starts a page; copied data is packed.
        let alignment = if module.memory_initialization.is_segmented() { 1 } else { usize::try_from(page).ok()? };
        laid_out.resize(laid_out.len().next_multiple_of(alignment), 0);
        for (piece, range) in module.runtime_data.values_mut().enumerate() {
            let bytes = match (index == engine && piece == 0, apart) {
                // The module itself has nothing to copy.
                (true, true) => &[],
                (true, false) => &image.bytes[..],
                (false, _) => old.get(range.start as usize..range.end as usize)?,
            };
            let start = u32::try_from(laid_out.len()).ok()?;
            laid_out.extend_from_slice(bytes);
            *range = start..u32::try_from(laid_out.len()).ok()?;
        }
        if apart {
            module.memory_initialization = MemoryInitialization::Segmented;
            // A module with nothing to copy needs no start function. But wasmtime's instance layout depends on it, and
            // the records of passive data (`memory.init`, `data.drop`) follow it. Without it, code would read and write
            // outside the instance.
            let image_alone = module.runtime_data.len() == 1;
            if index == engine && image_alone && matches!(module.startup, ModuleStartup::IfMemoriesNeedInit(_)) {
                module.startup = ModuleStartup::None;
            }
        }
    }
    Some(Parts { info: postcard::to_allocvec(&artifacts).ok()?, data: laid_out })
}

/// Returns whether the engine is instantiated once, and no other module defines a memory of as many pages. An image
/// backs the first memory of its size only.
fn is_alone(artifacts: &ComponentArtifacts, engine: StaticModuleIndex, pages: u64) -> bool {
    let instances = artifacts.info.component.initializers.iter().filter(|initializer| match initializer {
        GlobalInitializer::InstantiateModule(InstantiateModule::Static(module, _), _) => *module == engine,
        _ => false,
    });
    let others = artifacts.static_modules.iter().filter(|(index, _)| *index != engine);
    let mut made = others.flat_map(|(_, info)| {
        let imported = info.module.num_imported_memories;
        info.module.memories.values().skip(imported)
    });
    instances.count() == 1 && made.all(|memory| memory.limits.min != pages)
}

/// Returns the values of the mutable globals and of their twins, which follow all others in the same order
/// (`with_restore`).
fn twice(module: &Module, globals: &[(u32, Global)]) -> Option<Vec<(u32, Global)>> {
    let own = module.globals.len().checked_sub(module.num_imported_globals)?.checked_sub(globals.len())?;
    let twins = (u32::try_from(own).ok()?..).zip(globals).map(|(twin, (_, value))| (twin, *value));
    Some(globals.iter().copied().chain(twins).collect())
}

/// Writes the memory of a state into the records of a module. False when the module is of another kind.
fn enter(module: &mut Module, state: &State<'_>, image: &Image) -> bool {
    let memory = MemoryIndex::new(0);
    let Some(plan) = module.memories.get_mut(memory) else { return false };
    if state.pages < plan.limits.min || plan.limits.max.is_some_and(|most| state.pages > most) {
        return false;
    }
    plan.limits.min = state.pages;
    let MemoryInitialization::Static { map } = &mut module.memory_initialization else { return false };
    // The image is the first piece of the module's data. Code without one has no record to change.
    match map.get_mut(memory) {
        Some(Some((offset, piece))) if piece.index() == 0 && !image.bytes.is_empty() => *offset = image.offset,
        _ => return false,
    }
    true
}

/// Writes the values of mutable globals into the records of a module, and those of their twins if it is `restorable`.
/// False when the module is of another kind.
fn enter_globals(module: &mut Module, globals: &[(u32, Global)], restorable: bool) -> Option<bool> {
    let globals = if restorable { twice(module, globals)? } else { globals.to_vec() };
    let entered = globals.iter().all(|(index, value)| {
        let noted = module.global_initializers.iter_mut().find(|(noted, _)| noted.index() == *index as usize);
        let Some((_, noted)) = noted else { return false };
        match (&noted, value) {
            (GlobalConstValue::I32(_), Global::I32(value)) => *noted = GlobalConstValue::I32(*value),
            (GlobalConstValue::I64(_), Global::I64(value)) => *noted = GlobalConstValue::I64(*value),
            (GlobalConstValue::F32(_), Global::F32(value)) => *noted = GlobalConstValue::F32(*value),
            (GlobalConstValue::F64(_), Global::F64(value)) => *noted = GlobalConstValue::F64(*value),
            _ => return false,
        }
        true
    });
    Some(entered)
}

#[cfg(test)]
mod tests {
    use tenon_rewrite::{EngineModule, Segment};
    use wasmtime::Engine;

    use super::*;
    use crate::fixture::{snapshot, with};

    /// Code with the second component's state put in equals the code that is compiled from that component.
    #[test]
    fn a_state_that_is_put_in_is_noted_as_the_compiler_notes_it() {
        // Offset and bytes.
        type Data<'a> = &'a [(u32, &'a [u8])];
        let engine = Engine::default();
        let states: [(u32, i32, Data<'_>); 4] = [
            (1, 7, &[(5_000, b"a")]),
            (1, 70_000, &[(1_024, b"a"), (20_000, b"b")]),
            (9, -1, &[(300_000, b"abc"), (300_001, b"B")]),
            (1, 0, &[(0, &[1; 65_536])]),
        ];
        let first = engine.precompile_component(&snapshot(1, 7, &[(5_000, b"a")])).unwrap();
        for (pages, global, data) in states {
            let bytes = snapshot(pages, global, data);
            let found = EngineModule::find(&bytes).unwrap();
            let (state, _) = found.take_apart().unwrap();
            let compiled = engine.precompile_component(&bytes).unwrap();
            assert!(reproduces(&compiled, found.module, &state));
            let (info, data) = located(&first).unwrap();
            let made = parts(&first, &info, &data, found.module, &state, false).unwrap();
            let (info, data) = located(&compiled).unwrap();
            assert_eq!(made.data, compiled[data.content]);
            let decode = |bytes: &[u8]| postcard::from_bytes::<ComponentArtifacts>(bytes).unwrap();
            let (made, compiled) = (decode(&made.info), decode(&compiled[info.content]));
            for (made, compiled) in made.static_modules.values().zip(compiled.static_modules.values()) {
                assert_eq!(format!("{:?}", made.module), format!("{:?}", compiled.module));
            }
        }
    }

    /// Returns whether a file has these bytes somewhere.
    fn has(file: &[u8], bytes: &[u8]) -> bool {
        file.windows(bytes.len()).any(|window| window == bytes)
    }

    #[test]
    fn shared_code_has_no_content_of_the_memory() {
        let engine = Engine::default();
        let bytes = snapshot(2, 7, &[(5_000, b"a memory's content"), (20_000, b"d")]);
        let code = engine.precompile_component(&bytes).unwrap();
        let found = EngineModule::find(&bytes).unwrap();
        let (state, _) = found.take_apart().unwrap();
        let made = without_image(&code, found.module, &state).unwrap();
        assert!(has(&code, b"a memory's content") && !has(&made, b"a memory's content"));
        for made in [made, without_images(&code).unwrap()] {
            let (info, _) = located(&made).unwrap();
            let artifacts: ComponentArtifacts = postcard::from_bytes(&made[info.content]).unwrap();
            let segmented = |module: &Module| module.memory_initialization.is_segmented();
            assert!(artifacts.static_modules.values().all(|module| segmented(&module.module)));
        }
        assert!(without_images(b"no code").is_none());
    }

    /// Shared code of components with equal globals is described alike, and that of others after a change of the globals.
    /// Only the start function, which has nothing to copy, has the address of the first component's image.
    #[test]
    fn shared_code_differs_in_globals_only() {
        let engine = Engine::default();
        let shared = |pages, global, data: &[(u32, &[u8])]| {
            let bytes = snapshot(pages, global, data);
            let found = EngineModule::find(&bytes).unwrap();
            let (state, _) = found.take_apart().unwrap();
            let code = engine.precompile_component(&bytes).unwrap();
            let made = without_image(&code, found.module, &state).unwrap();
            (made, found.module, state.globals)
        };
        let described = |code: &[u8]| {
            let (info, data) = located(code).unwrap();
            [code[info.content].to_vec(), code[data.content].to_vec()]
        };
        let (one, module, _) = shared(2, 7, &[(5_000, b"a")]);
        assert!(described(&one) == described(&shared(2, 7, &[(9_000, b"b"), (70_000, b"c")]).0));
        let (other, _, globals) = shared(2, 8, &[(5_000, b"a")]);
        assert!(described(&one) != described(&other));
        assert!(with_globals(&one, module, &globals).unwrap() == other);
        for wrong in [vec![(9, Global::I32(1))], vec![(1, Global::I64(1))]] {
            assert!(with_globals(&one, module, &wrong).is_none(), "{wrong:?}");
        }
        assert!(with_globals(b"no code", module, &globals).is_none());
    }

    #[test]
    fn components_that_differ_in_more_than_their_state_have_different_digests() {
        let digest = |bytes: &[u8]| EngineModule::find(bytes).unwrap().take_apart().unwrap().1;
        let one = digest(&snapshot(1, 7, &[(5_000, b"a")]));
        assert_eq!(one, digest(&snapshot(5, 8, &[(6_000, b"b"), (7_000, b"c")])));
        for more in [
            "(global i32 (i32.const 1))",
            "(func (drop (i32.const 1)))",
            r#"(data "passive")"#,
            r#"(export "more" (global $fixed))"#,
            "(table 1 funcref)",
        ] {
            assert_ne!(one, digest(&with(more, 1, 7, &[(5_000, b"a")])), "{more}");
        }
    }

    #[test]
    fn a_component_that_computes_its_data_is_left_to_the_compiler() {
        let more = r#"(data (offset (global.get $fixed)) "x")"#;
        let bytes = with(more, 1, 7, &[]);
        assert!(EngineModule::find(&bytes).unwrap().take_apart().is_err());
        assert!(EngineModule::find(&tenon_fixtures::core_module()).is_err());
    }

    #[test]
    fn a_state_that_does_not_fit_is_refused() {
        let engine = Engine::default();
        let bytes = snapshot(2, 7, &[(5_000, b"a")]);
        let code = engine.precompile_component(&bytes).unwrap();
        let found = EngineModule::find(&bytes).unwrap();
        let (state, _) = found.take_apart().unwrap();
        let smaller = State { pages: 1, ..state.clone() };
        let beyond = State { segments: vec![Segment { offset: 131_071, data: b"aa" }], ..state.clone() };
        let other = State { globals: vec![(1, Global::I64(1))], ..state.clone() };
        let none = State { segments: Vec::new(), ..state };
        for state in [smaller, beyond, other, none] {
            for put in [with_state, without_image] {
                assert!(put(&code, found.module, &state).is_none(), "{state:?}");
            }
        }
        assert!(with_state(b"no code", 0, &State::default()).is_none());
    }
}
