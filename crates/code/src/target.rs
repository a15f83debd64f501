//! Systems that machine code can be compiled for, by name.

use thiserror::Error;

/// Levels of an architecture's processors, the oldest first, with wasmtime's flags. Each level includes the ones before it.
type Levels = &'static [(&'static str, &'static [&'static str])];

/// The names are those of the psABI.
const X64: Levels = &[
    ("x86-64", &["x86-64"]),
    ("x86-64-v2", &["x86-64-v2"]),
    ("x86-64-v3", &["x86-64-v3"]),
    ("x86-64-v4", &["x86-64-v4"]),
];

/// The names are those of the Arm architecture.
const ARM64: Levels = &[("armv8-a", &[]), ("armv8.1-a", &["has_lse"])];

/// A system on an architecture. Its C library does not matter to compiled code.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// `process.platform` and `process.arch` of Node.
    name: &'static str,
    triple: &'static str,
    /// As the standard library names them.
    system: (&'static str, &'static str),
    pub(crate) levels: Levels,
    /// The level that shipped code is for.
    pub(crate) shipped: &'static str,
    /// The largest page of such systems.
    pub(crate) page: usize,
}

const LARGEST: usize = 64 * 1024;

static TARGETS: [Target; 5] = [
    Target {
        name: "linux-x64",
        triple: "x86_64-unknown-linux",
        system: ("linux", "x86_64"),
        levels: X64,
        shipped: "x86-64-v3",
        page: 4096,
    },
    Target {
        name: "linux-arm64",
        triple: "aarch64-unknown-linux",
        system: ("linux", "aarch64"),
        levels: ARM64,
        shipped: "armv8-a",
        page: LARGEST,
    },
    Target {
        name: "darwin-x64",
        triple: "x86_64-unknown-darwin",
        system: ("macos", "x86_64"),
        levels: X64,
        shipped: "x86-64-v3",
        page: 4096,
    },
    Target {
        name: "darwin-arm64",
        triple: "aarch64-unknown-darwin",
        system: ("macos", "aarch64"),
        levels: ARM64,
        shipped: "armv8-a",
        page: LARGEST,
    },
    Target {
        name: "win32-x64",
        triple: "x86_64-unknown-windows",
        system: ("windows", "x86_64"),
        levels: X64,
        shipped: "x86-64-v3",
        page: 4096,
    },
];

/// A name that is not known.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("the target `{name}` must be one of {known}")]
pub struct UnknownTarget {
    name: String,
    known: String,
}

impl Target {
    /// Returns the system that compiles; None when it has no name here.
    #[must_use]
    pub fn host() -> Option<&'static Self> {
        let system = (std::env::consts::OS, std::env::consts::ARCH);
        TARGETS.iter().find(|target| target.system == system)
    }

    /// Finds a target. Names in the order and spelling of Rust and of container images are known, too: `aarch64-linux`,
    /// `aarch64-unknown-linux-musl`, `linux/arm64`.
    ///
    /// # Errors
    ///
    /// When there is none of this name.
    pub fn named(name: &str) -> Result<&'static Self, UnknownTarget> {
        let (mut system, mut architecture) = (None, None);
        for part in name.split(['-', '/']) {
            match part {
                "linux" => system = Some("linux"),
                "darwin" | "macos" => system = Some("macos"),
                "win32" | "windows" => system = Some("windows"),
                "x64" | "x86_64" | "amd64" => architecture = Some("x86_64"),
                "arm64" | "aarch64" => architecture = Some("aarch64"),
                "unknown" | "apple" | "pc" | "gnu" | "musl" | "msvc" => {}
                _ => return Err(UnknownTarget::of(name)),
            }
        }
        let found = system.zip(architecture).and_then(|system| TARGETS.iter().find(|target| target.system == system));
        found.ok_or_else(|| UnknownTarget::of(name))
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether its code is unwound by tables, which Windows needs.
    #[must_use]
    pub fn is_windows(&self) -> bool {
        self.system.0 == "windows"
    }

    /// Returns the name for wasmtime.
    pub(crate) const fn triple(&self) -> &'static str {
        self.triple
    }
}

impl UnknownTarget {
    fn of(name: &str) -> Self {
        let known = TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(", ");
        Self { name: name.to_string(), known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_names_of_several_tools() {
        for name in ["linux-arm64", "aarch64-linux", "linux/arm64", "aarch64-unknown-linux-musl", "linux-arm64-gnu"] {
            assert_eq!(Target::named(name).unwrap().name(), "linux-arm64", "{name}");
        }
        for name in ["", "linux", "arm64", "linux-riscv64", "darwin-arm64-x", "win32-arm64", "linux--arm64"] {
            let refusal = Target::named(name).unwrap_err().to_string();
            assert!(refusal.ends_with("must be one of linux-x64, linux-arm64, darwin-x64, darwin-arm64, win32-x64"));
        }
    }

    #[test]
    fn every_target_can_be_compiled_for_at_each_level() {
        for target in &TARGETS {
            assert!(target.levels.iter().any(|(level, _)| *level == target.shipped));
            assert!(target.page.is_power_of_two());
        }
    }
}
