//! Shared code that was compiled on another machine.

use std::path::Path;

use wasmtime::{Config, Engine, Result};

use crate::compile::Snapshot;
use crate::compiler::Compiler;
use crate::cpu::Cpu;
use crate::image::PAGE;
use crate::store::{Store, checked};

/// Compiles the code that all components with the engine of this one share, for a processor and with an engine of this
/// configuration. Returns it for [`install_shared`], after the digest that identifies it.
///
/// # Errors
///
/// As for [`compile`](crate::compile); and when the code cannot be shared.
pub fn compile_shared(mut config: Config, cpu: &Cpu, component: &[u8], compiler: &Compiler) -> Result<Vec<u8>> {
    cpu.configure(&mut config)?;
    let component = &*checked(component)?;
    let snapshot = taken_apart(component, cpu.page())?;
    let code = snapshot.compiled(&Engine::new(&config)?, component, compiler)?;
    Ok([&snapshot.group[..], &code].concat())
}

/// Stores code of [`compile_shared`] in a folder, as if this machine had compiled it. The caller trusts it.
///
/// # Errors
///
/// When this engine refuses the code, or it is not the component's. When the folder cannot be written, nothing is stored.
pub fn install_shared(engine: &Engine, component: &[u8], code: &[u8], folder: &Path) -> Result<()> {
    let snapshot = taken_apart(&checked(component)?, PAGE)?;
    let Some(code) = code.strip_prefix(&snapshot.group) else {
        return Err(wasmtime::Error::msg("it is not the component's code"));
    };
    Store::open(engine, Some(folder), 1).install(&snapshot, code)
}

fn taken_apart(component: &[u8], page: usize) -> Result<Snapshot> {
    Snapshot::of(component, page).ok_or_else(|| wasmtime::Error::msg("the component's code cannot be shared"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::compiler::tests::here;
    use crate::fixture::snapshot;

    /// A compiler that fails.
    fn none() -> Compiler {
        Compiler { command: vec!["/nowhere/compiler".into()], ..here() }
    }

    #[test]
    fn installed_code_serves_components_that_differ_in_their_memory() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().unwrap());
        let template = snapshot(1, 7, &[(5_000, &[1])]);
        let code = compile_shared(Config::new(), &Cpu::oldest(), &template, &here()).unwrap();
        install_shared(&engine, &template, &code, folder.path()).unwrap();
        let other = snapshot(3, 7, &[(5_000, &[2])]);
        crate::compile(&engine, &other, Some(folder.path()), &none()).unwrap();
    }

    #[test]
    fn foreign_code_is_refused() {
        let (engine, folder) = (Engine::default(), tempfile::tempdir().unwrap());
        let [template, other] = [snapshot(1, 7, &[(5_000, &[1])]), snapshot(1, 8, &[(5_000, &[1])])];
        let code = compile_shared(Config::new(), &Cpu::oldest(), &other, &here()).unwrap();
        for code in [code, b"no code".to_vec()] {
            assert!(install_shared(&engine, &template, &code, folder.path()).is_err());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let alone = tenon_fixtures::echo(200);
        assert!(compile_shared(Config::new(), &Cpu::oldest(), &alone[..8], &here()).is_err());
    }
}
