//! Compiles a component.

use tenon_rewrite::{EngineModule, RESTORE, State, StateError, with_restore};
use wasmtime::{Engine, Result};

use crate::artifact;
use crate::validate::{features, validate};

/// Code of a component.
pub(crate) struct Compiled {
    /// The compiler's output when it takes a state; ready to load otherwise.
    pub(crate) code: Vec<u8>,
    /// True when the code serves components with other states, after a state is put in.
    pub(crate) takes_state: bool,
}

/// Takes a component apart: the number of its engine among the core modules, its state, and the digest of the rest.
pub(crate) fn taken_apart(component: &[u8]) -> Result<(u32, State<'_>, [u8; 32]), StateError> {
    let found = EngineModule::find(component)?;
    let (state, digest) = found.take_apart()?;
    Ok((found.module, state, digest))
}

/// Validates and compiles a component that was screened. Time and memory depend on the component; `Compiler` limits
/// both.
pub(crate) fn compile(engine: &Engine, component: &[u8]) -> Result<Compiled> {
    validate(engine, component)?;
    // Tasks of the async ABI may wait on the host while nothing runs, so such instances are never restored.
    let restorable = (!engine.get_concurrency_support()).then(|| with_restore(component, features(engine)));
    let restorable =
        restorable.and_then(|made| made.map_err(|reason| tracing::debug!("instances are not restored: {reason}")).ok());
    let compiled = match restorable.map(|restorable| engine.precompile_component(&restorable)) {
        Some(Ok(compiled)) => compiled,
        // Recompiles the original so that errors cite the user's offsets.
        _ => {
            let compiled = engine.precompile_component(component)?;
            // The name is reserved: an export with this name is trusted to restore the globals.
            wasmtime::ensure!(!artifact::is_restorable(&compiled), "it exports {RESTORE}, a name that Tenon reserves");
            compiled
        }
    };
    if takes_state(component, &compiled) {
        return Ok(Compiled { code: compiled, takes_state: true });
    }
    let whole = artifact::without_images(&compiled);
    let code = whole.ok_or_else(|| wasmtime::format_err!("the compiled code has an unknown format"))?;
    Ok(Compiled { code, takes_state: false })
}

/// Returns whether the code serves components that differ in their state only.
fn takes_state(component: &[u8], compiled: &[u8]) -> bool {
    let Ok(found) = EngineModule::find(component) else { return false };
    let Ok((state, _)) = found.take_apart() else { return false };
    matches!(found.names_fixed_data_only(), Ok(true))
        && artifact::reproduces(compiled, found.module, &state)
        && artifact::with_state(compiled, found.module, &state).is_some()
}
