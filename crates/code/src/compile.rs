//! Compiles a component.

use sha2::{Digest, Sha256};
use tenon_rewrite::{EngineModule, Global, RESTORE, State, StateError, with_restore};
use wasmtime::{Engine, Result};

use crate::artifact;
use crate::trailer::MachineTrailer;
use crate::validate::{features, validate};

/// Code of a component.
pub(crate) struct Compiled {
    /// The compiler's output when it takes a state; ready to load otherwise.
    pub(crate) code: Vec<u8>,
    /// True when the code serves components with other states, after a state is put in.
    pub(crate) takes_state: bool,
}

/// A component that was taken apart.
pub(crate) struct TakenApart<'a> {
    /// Number of its engine among the core modules.
    pub(crate) module: u32,
    pub(crate) state: State<'a>,
    /// Digest of everything but the state.
    pub(crate) rest: [u8; 32],
}

impl<'a> TakenApart<'a> {
    pub(crate) fn of(component: &'a [u8]) -> Result<Self, StateError> {
        let found = EngineModule::find(component)?;
        let (state, rest) = found.take_apart()?;
        Ok(Self { module: found.module, state, rest })
    }

    /// Returns the digest that identifies code with the values of its mutable globals.
    pub(crate) fn group(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.rest);
        for (index, value) in &self.state.globals {
            let (kind, bits) = match value {
                Global::I32(value) => (0, u64::from(value.cast_unsigned())),
                Global::I64(value) => (1, value.cast_unsigned()),
                Global::F32(bits) => (2, u64::from(*bits)),
                Global::F64(bits) => (3, *bits),
            };
            digest.update(index.to_le_bytes());
            digest.update([kind]);
            digest.update(bits.to_le_bytes());
        }
        digest.finalize().into()
    }
}

impl Compiled {
    /// Returns the code with the component's own state (portable mode).
    pub(crate) fn whole(self, apart: &TakenApart<'_>) -> Result<Vec<u8>> {
        if !self.takes_state {
            return Ok(self.code);
        }
        artifact::with_state(&self.code, apart.module, &apart.state).ok_or_else(unfit)
    }

    /// Returns the code for all states with the component's globals.
    pub(crate) fn shared(&self, apart: &TakenApart<'_>) -> Result<Vec<u8>> {
        let mut code = artifact::without_image(&self.code, apart.module, &apart.state).ok_or_else(unfit)?;
        MachineTrailer { declared: apart.state.size() }.append(&mut code);
        Ok(code)
    }
}

pub(crate) fn unfit() -> wasmtime::Error {
    wasmtime::format_err!("the compiled code does not take the component's state")
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
    let prepare = if tenon_memory::is_portable() { artifact::with_state } else { artifact::without_image };
    matches!(found.names_fixed_data_only(), Ok(true))
        && artifact::reproduces(compiled, found.module, &state)
        && prepare(compiled, found.module, &state).is_some()
}
