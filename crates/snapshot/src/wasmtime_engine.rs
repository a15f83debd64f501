//! The wasmtime engine of builds.

use tenon_code::Cpu;
use wasmtime::Config;

use crate::error::SnapshotError;

/// Makes the wasmtime engine of builds, which serves no requests.
pub(crate) fn configured() -> Result<wasmtime::Engine, SnapshotError> {
    configured_for(None)
}

/// The same engine, compiling for a processor: what it compiles is run by the other one.
pub(crate) fn configured_for(cpu: Option<&Cpu>) -> Result<wasmtime::Engine, SnapshotError> {
    let mut config = Config::new();
    tenon_language::configure(&mut config, false);
    if let Some(cpu) = cpu {
        cpu.configure(&mut config).map_err(SnapshotError::engine)?;
    }
    // No one needs positions in the engine's code. Without the address map, the code is a quarter smaller.
    config.epoch_interruption(true).generate_address_map(false);
    wasmtime::Engine::new(&config).map_err(SnapshotError::engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_have_the_language_of_guests() {
        for engine in [configured(), configured_for(Some(&Cpu::oldest()))] {
            assert_eq!(engine.unwrap().get_wasm_features(), tenon_language::proposals(false));
        }
    }
}
