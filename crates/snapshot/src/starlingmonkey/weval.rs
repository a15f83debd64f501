//! The imports of an engine for weval: markers for the specializer, which do nothing while the engine interprets.

use wasmtime::{Linker, Module, Result};

const WEVAL: &str = "weval";

/// Markers with a value, which return their first operand.
const VALUES: [&str; 3] = ["specialize.value", "assume.const.memory", "assume.const.memory.transitive"];

/// Defines the markers that an interpreting engine calls. The others are only in functions that are always specialized.
pub(crate) fn define<T: 'static>(linker: &mut Linker<T>, module: &Module) -> Result<()> {
    for import in module.imports().filter(|import| import.module() == WEVAL) {
        let Some(ty) = import.ty().func().cloned() else { continue };
        if ty.results().len() == 0 {
            linker.func_new(WEVAL, import.name(), ty, |_, _, _| Ok(()))?;
        } else if VALUES.contains(&import.name()) {
            linker.func_new(WEVAL, import.name(), ty, |_, operands, results| {
                results.clone_from_slice(&operands[..results.len()]);
                Ok(())
            })?;
        }
    }
    Ok(())
}
