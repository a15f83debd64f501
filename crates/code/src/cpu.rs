//! Processors that WebAssembly can be compiled for, by name.

use thiserror::Error;
use wasmtime::{Config, Result};

use crate::image::PAGE;
use crate::target::{Target, UnknownTarget};

/// A processor to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    name: &'static str,
    /// None on systems that have no name.
    target: Option<&'static Target>,
}

/// Name of the processor that compiles.
const NATIVE: &str = "native";

/// A name that is not known.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UnknownCpu {
    /// On this architecture.
    #[error("`{name}` is not a known processor; known are {known}")]
    Cpu {
        /// The name.
        name: String,
        /// All names.
        known: String,
    },
    /// The name of a system.
    #[error(transparent)]
    Target(#[from] UnknownTarget),
}

impl Cpu {
    /// Finds a processor. Without a target, it is one of this machine's architecture, by default the one that compiles. With a
    /// target, it is by default the one of [`shipped`](Self::shipped) code, on every machine.
    ///
    /// # Errors
    ///
    /// When a name is not known.
    pub fn named(name: Option<&str>, target: Option<&str>) -> std::result::Result<Self, UnknownCpu> {
        let named = target.map(Target::named).transpose()?;
        let name = name.unwrap_or_else(|| named.map_or(NATIVE, |target| target.shipped));
        let target = named.or_else(Target::host);
        let native = (named.is_none() || named == Target::host()).then_some(NATIVE);
        let levels = target.iter().flat_map(|target| target.levels).map(|(level, _)| *level);
        let known: Vec<_> = native.into_iter().chain(levels).collect();
        match known.iter().find(|known| **known == name) {
            Some(name) => Ok(Self { name, target }),
            None => Err(UnknownCpu::Cpu { name: name.to_string(), known: known.join(", ") }),
        }
    }

    /// Returns the processor that compiles.
    #[must_use]
    pub fn native() -> Self {
        Self { name: NATIVE, target: Target::host() }
    }

    /// Returns the oldest processor of this architecture.
    #[must_use]
    pub fn oldest() -> Self {
        let target = Target::host();
        Self { name: target.and_then(|target| target.levels.first()).map_or(NATIVE, |(name, _)| name), target }
    }

    /// Returns the processor that machine code is shipped for: on x64, servers have had its instructions since 2015. Without a target
    /// it is one of this machine's architecture.
    #[must_use]
    pub fn shipped(target: Option<&'static Target>) -> Self {
        let target = target.or_else(Target::host);
        Self { name: target.map_or(NATIVE, |target| target.shipped), target }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether it runs Windows, whose code needs tables for unwinding.
    #[must_use]
    pub fn is_windows(&self) -> bool {
        self.target.map_or(cfg!(windows), Target::is_windows)
    }

    /// Returns the alignment of an image in a file for it.
    pub(crate) fn page(&self) -> usize {
        self.target.map_or(PAGE, |target| target.page)
    }

    /// Configures an engine to compile for this processor.
    ///
    /// # Errors
    ///
    /// When wasmtime cannot compile for this architecture.
    pub fn configure(&self, config: &mut Config) -> Result<()> {
        let Some(target) = self.target else { return Ok(()) };
        let Some((_, flags)) = target.levels.iter().find(|(name, _)| *name == self.name) else { return Ok(()) };
        // With a named target, wasmtime does not detect the features of the processor that compiles.
        config.target(target.triple())?;
        for flag in *flags {
            // SAFETY: the flag names instructions of a processor. Wasmtime refuses to load code that needs instructions
            // which its processor lacks.
            unsafe { config.cranelift_flag_enable(flag) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_processor_is_refused_with_the_known_names() {
        let refusal = Cpu::named(Some("i386"), None).unwrap_err().to_string();
        assert!(refusal.starts_with("`i386` is not a known processor"), "{refusal}");
        assert!(refusal.contains(&format!("known are native, {}", Cpu::oldest().name())), "{refusal}");
    }

    #[test]
    fn a_processor_belongs_to_its_target() {
        assert_eq!(Cpu::named(None, None), Ok(Cpu::native()));
        assert_eq!(Cpu::named(None, Some("aarch64-linux")).unwrap().name(), "armv8-a");
        assert_eq!(Cpu::named(Some("x86-64"), Some("win32-x64")).unwrap().name(), "x86-64");
        let refusal = Cpu::named(Some("x86-64-v2"), Some("darwin-arm64")).unwrap_err().to_string();
        assert!(refusal.contains("`x86-64-v2` is not a known processor; known are "), "{refusal}");
        assert!(refusal.ends_with("armv8-a, armv8.1-a"), "{refusal}");
    }

    #[test]
    fn every_target_has_a_code_generator() {
        for target in ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"] {
            let (cpu, mut config) = (Cpu::named(None, Some(target)).unwrap(), Config::new());
            cpu.configure(&mut config).unwrap();
            let code = wasmtime::Engine::new(&config).unwrap().precompile_module(b"\0asm\x01\0\0\0").unwrap();
            assert!(code.starts_with(b"\x7fELF"), "{target}");
        }
    }
}
