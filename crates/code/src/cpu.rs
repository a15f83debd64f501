//! Processors that WebAssembly can be compiled for, by name.

use std::str::FromStr;

use thiserror::Error;
use wasmtime::{Config, Result};

/// A processor to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu(&'static str);

/// Name of the processor that compiles.
const NATIVE: &str = "native";

/// Names for this architecture, the oldest first, with wasmtime's flags. Each level includes the ones before it. The
/// names are those of the psABI for x86-64, and of the Arm architecture.
#[cfg(target_arch = "x86_64")]
const CPUS: &[(&str, &[&str])] = &[
    ("x86-64", &["x86-64"]),
    ("x86-64-v2", &["x86-64-v2"]),
    ("x86-64-v3", &["x86-64-v3"]),
    ("x86-64-v4", &["x86-64-v4"]),
];
#[cfg(target_arch = "aarch64")]
const CPUS: &[(&str, &[&str])] = &[("armv8-a", &[]), ("armv8.1-a", &["has_lse"])];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const CPUS: &[(&str, &[&str])] = &[];

/// A name that is not known on this architecture.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{name}` is not a known processor; known are {known}")]
pub struct UnknownCpu {
    name: String,
    known: String,
}

impl FromStr for Cpu {
    type Err = UnknownCpu;

    fn from_str(name: &str) -> std::result::Result<Self, UnknownCpu> {
        let known = || std::iter::once(NATIVE).chain(CPUS.iter().map(|(name, _)| *name));
        known()
            .find(|known| *known == name)
            .map(Self)
            .ok_or_else(|| UnknownCpu { name: name.to_string(), known: known().collect::<Vec<_>>().join(", ") })
    }
}

impl Cpu {
    /// Returns the processor that compiles.
    #[must_use]
    pub const fn native() -> Self {
        Self(NATIVE)
    }

    /// Returns the oldest processor of this architecture.
    #[must_use]
    pub fn oldest() -> Self {
        Self(CPUS.first().map_or(NATIVE, |(name, _)| *name))
    }

    /// Returns the processor that shipped machine code is for: servers have had its instructions since 2015. Elsewhere, code is
    /// compiled on the machine.
    #[must_use]
    pub fn shipped() -> Self {
        if cfg!(target_arch = "x86_64") { Self("x86-64-v3") } else { Self::oldest() }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.0
    }

    /// Configures an engine to compile for this processor.
    ///
    /// # Errors
    ///
    /// When wasmtime cannot compile for this architecture.
    pub fn configure(&self, config: &mut Config) -> Result<()> {
        let Some((_, flags)) = CPUS.iter().find(|(name, _)| *name == self.0) else { return Ok(()) };
        // With a named target, wasmtime does not detect the features of the processor that compiles.
        config.target(&target())?;
        for flag in *flags {
            // SAFETY: the flag names instructions of a processor. Wasmtime refuses to load code that needs instructions
            // which its processor lacks.
            unsafe { config.cranelift_flag_enable(flag) };
        }
        Ok(())
    }
}

fn target() -> String {
    format!("{}-unknown-{}", std::env::consts::ARCH, std::env::consts::OS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_of_shipped_code_is_known() {
        assert_eq!(Cpu::shipped().name().parse(), Ok(Cpu::shipped()));
    }

    #[test]
    fn an_unknown_processor_is_refused_with_the_known_names() {
        let refusal = "i386".parse::<Cpu>().unwrap_err().to_string();
        assert!(refusal.starts_with("`i386` is not a known processor"), "{refusal}");
        assert!(refusal.contains(&format!("known are native, {}", Cpu::oldest().name())), "{refusal}");
    }
}
