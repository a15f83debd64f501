//! What an engine for weval imports from it: marks for the specializer, which do nothing while the engine interprets.

use wasmtime::{Linker, Module, Result};

const WEVAL: &str = "weval";

/// Marks with a value give their first operand back.
const VALUES: [&str; 3] = ["specialize.value", "assume.const.memory", "assume.const.memory.transitive"];

/// Defines the marks that an interpreting engine meets. The others are for functions that are only ever specialized.
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
