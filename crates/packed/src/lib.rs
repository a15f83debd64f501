//! Modules that are part of the program, compressed with Zstandard to a third. A crate's build script packs them, and the crate
//! embeds the result:
//!
//! ```ignore
//! // build.rs
//! tenon_packed::pack("guest/sqlite.wasm");
//! // src/library.rs
//! static SQLITE: Packed = packed!("sqlite.wasm");
//! ```

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use zstd_safe::{CCtx, CParameter, DCtx, get_error_name, get_frame_content_size};

/// The level that takes the fewest bytes without more memory for reading.
const LEVEL: i32 = 19;

/// A file that is part of the program.
#[derive(Debug)]
pub struct Packed {
    packed: &'static [u8],
    bytes: OnceLock<Vec<u8>>,
}

impl Packed {
    /// Takes bytes that [`pack`] made; see [`packed!`].
    pub const fn new(packed: &'static [u8]) -> Self {
        Self { packed, bytes: OnceLock::new() }
    }

    /// The compressed bytes. Their digest stands for the file's, and takes less time.
    pub fn packed(&self) -> &'static [u8] {
        self.packed
    }

    /// The bytes of the file. They are expanded once, in some milliseconds for each MiB, and kept.
    ///
    /// # Panics
    ///
    /// The bytes must be those that [`pack`] made.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get_or_init(|| expanded(self.packed).expect("the bytes must be those that `pack` made"))
    }
}

fn expanded(packed: &[u8]) -> Option<Vec<u8>> {
    let size = usize::try_from(get_frame_content_size(packed).ok()??).ok()?;
    let mut bytes = Vec::with_capacity(size);
    DCtx::create().decompress(&mut bytes, packed).ok()?;
    (bytes.len() == size).then_some(bytes)
}

/// Embeds what [`pack`] made of a file, which is named without its folder.
#[macro_export]
macro_rules! packed {
    ($name:literal) => {
        $crate::Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".zst")))
    };
}

/// Compresses a file for [`packed!`], in a build script. The path is relative to the crate.
///
/// # Panics
///
/// The file must be readable, and the script's folder writable.
pub fn pack(file: impl AsRef<Path>) {
    let file = file.as_ref();
    let into = PathBuf::from(std::env::var_os("OUT_DIR").expect("a build script has OUT_DIR"));
    write(file, &into).unwrap_or_else(|error| panic!("{} must be packed: {error}", file.display()));
    tell_cargo(file);
}

fn write(file: &Path, into: &Path) -> std::io::Result<()> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".zst");
    std::fs::write(into.join(name), compressed(&std::fs::read(file)?).map_err(std::io::Error::other)?)
}

#[expect(clippy::print_stdout, reason = "cargo reads the output of build scripts")]
fn tell_cargo(file: &Path) {
    println!("cargo::rerun-if-changed={}", file.display());
}

fn compressed(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let mut context = CCtx::create();
    for parameter in [CParameter::CompressionLevel(LEVEL), CParameter::ContentSizeFlag(true)] {
        context.set_parameter(parameter).map_err(get_error_name)?;
    }
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
    context.compress2(&mut packed, bytes).map_err(get_error_name)?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_file_has_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.wasm");
        for bytes in [Vec::new(), (0..=255).cycle().take(1 << 20).collect()] {
            std::fs::write(&file, &bytes).unwrap();
            write(&file, folder.path()).unwrap();
            let packed = std::fs::read(folder.path().join("a.wasm.zst")).unwrap();
            assert!(packed.len() < 1 << 10, "{}", packed.len());
            assert_eq!(expanded(&packed), Some(bytes));
        }
    }

    #[test]
    fn other_bytes_are_no_file() {
        let packed = compressed(&[7; 1000]).unwrap();
        assert_eq!(expanded(b"other bytes"), None);
        assert_eq!(expanded(&packed[..packed.len() - 1]), None);
    }
}
