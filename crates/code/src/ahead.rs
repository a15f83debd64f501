//! Code compiled ahead of time, in a file of its own.
//!
//! The file has shared code and the image of a component's memory, as the cache has them in two files, and a trailer that
//! names the compiler's version and the processor. Files with the same code share it in a process. Machine code cannot be verified, and runs outside the sandbox. So a file is loaded only when the operator trusts it. The trailer
//! finds mistakes: incomplete or damaged files, and files of another version.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tenon_trusted_folder::digest;
use wasmtime::component::Component;
use wasmtime::{Config, Engine, Result};

use crate::code::Code;
use crate::compile::Snapshot;
use crate::compiler::Compiler;
use crate::cpu::Cpu;
use crate::machine::{self, Machine};
use crate::store::{FORMAT_VERSION, checked, image_at, opened, state_trailer};

/// Last bytes of a file.
const MAGIC: &[u8; 8] = b"tenoncwa";

/// Name and version of the compiler. All crates of Tenon have the same version.
const MAKER: &str = concat!("Tenon ", env!("CARGO_PKG_VERSION"));

/// Bytes of a trailer: length, digest, processor, compiler, compatible version, and [`MAGIC`].
const TRAILER: usize = 8 + 32 + 24 + 24 + 32 + MAGIC.len();

/// Limit for the bytes of code.
const MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// Reasons to refuse a file of code.
#[derive(Debug, thiserror::Error)]
pub enum AheadError {
    /// It has no trailer.
    #[error("it is not a file that `tenon compile` wrote, or it is incomplete; compile it again")]
    Foreign,
    /// Its digest does not match.
    #[error("it is damaged: its digest does not match; copy it or compile it again")]
    Damaged,
    /// Another version made it.
    #[error("{0} compiled it, and this is {MAKER}; compile it again with this version")]
    Version(String),
    /// This processor cannot run it, or the engine is set up in another way.
    #[error(
        "it was compiled for {cpu}: {reason}; compile it for the oldest processor that it has to run on (`--target-cpu`)"
    )]
    Cpu {
        /// Name of the processor it was compiled for.
        cpu: String,
        /// Wasmtime's reason.
        reason: String,
    },
}

/// Compiles a component for a processor, with an engine of this configuration. Returns the content of a file for
/// [`load_ahead`].
///
/// # Errors
///
/// As for [`compile`](crate::compile).
pub fn compile_ahead(mut config: Config, cpu: &Cpu, component: &[u8], compiler: &Compiler) -> Result<Vec<u8>> {
    cpu.configure(&mut config)?;
    let mut file = content(&Engine::new(&config)?, component, cpu.page(), compiler)?;
    let trailer =
        Trailer { code: file.len() as u64, digest: Sha256::digest(&file).into(), cpu: cpu.name().to_string() };
    file.extend(trailer.bytes());
    Ok(file)
}

/// Loads a file written with the result of [`compile_ahead`].
///
/// # Safety
///
/// The operator trusts the file: its content is a result of [`compile_ahead`], no one else can write to it, and it does
/// not change while it is mapped.
///
/// # Errors
///
/// The system's, when the file cannot be read; [`AheadError`] when it is not the right one.
pub unsafe fn load_ahead(engine: &Engine, path: &Path) -> io::Result<std::result::Result<Code, AheadError>> {
    let mut file = opened(path)?;
    let trailer = match Trailer::read(&mut file)? {
        Ok(trailer) => trailer,
        Err(error) => return Ok(Err(error)),
    };
    file.rewind()?;
    if digest(&mut (&mut file).take(trailer.code))? != trailer.digest {
        return Ok(Err(AheadError::Damaged));
    }
    let state = state_trailer(&mut file, Some(trailer.code))?;
    // SAFETY: by the caller's promise `compile_ahead` wrote the file, and nobody else can write to it.
    let map = || unsafe { Component::deserialize_file(engine, path) };
    let code = match state {
        Some(state) => {
            // As in the cache, code with this digest serves all components that differ in their memory only.
            let machines = machine::entry(format!("ahead {}", hex::encode(state.group)).into());
            let mut machines = machines.lock();
            let machine = match machines.find(engine) {
                Some(machine) => Ok(machine),
                None => map().map(|component| machines.add(Machine::new(component, true))),
            };
            machine.and_then(|machine| {
                // SAFETY: by the caller's promise nobody writes to the file while it is mapped.
                let image = unsafe { image_at(file, &state) }?;
                Ok(Code::new(machine, Some(image)))
            })
        }
        None => map().map(|component| Code::new(Arc::new(Machine::new(component, true)), None)),
    };
    Ok(code.map_err(|error| AheadError::Cpu { cpu: trailer.cpu, reason: format!("{error:#}") }))
}

/// Returns the code of a component, with its state at a multiple of `page` bytes.
fn content(engine: &Engine, bytes: &[u8], page: usize, compiler: &Compiler) -> Result<Vec<u8>> {
    let component = checked(bytes)?;
    let component = &*component;
    let Some(snapshot) = Snapshot::of(component, page) else { return compiler.run(engine, component) };
    let mut content = snapshot.compiled(engine, component, compiler)?;
    content.resize(content.len().next_multiple_of(page), 0);
    let trailer = snapshot.trailer(content.len() as u64);
    content.extend(snapshot.image.bytes);
    content.extend(trailer.encode());
    Ok(content)
}

/// Bytes after the code.
struct Trailer {
    /// Bytes of the code.
    code: u64,
    digest: [u8; 32],
    cpu: String,
}

impl Trailer {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(TRAILER);
        bytes.extend(self.code.to_le_bytes());
        bytes.extend(self.digest);
        bytes.extend(padded::<24>(&self.cpu));
        bytes.extend(padded::<24>(MAKER));
        bytes.extend(padded::<32>(&compatible()));
        bytes.extend(MAGIC);
        bytes
    }

    /// Reads the trailer of a file.
    fn read(file: &mut File) -> io::Result<std::result::Result<Self, AheadError>> {
        let length = file.metadata()?.len();
        let Some(code) = length.checked_sub(TRAILER as u64).filter(|code| *code <= MAX_BYTES) else {
            return Ok(Err(AheadError::Foreign));
        };
        let mut bytes = [0; TRAILER];
        file.seek(SeekFrom::Start(code))?;
        file.read_exact(&mut bytes)?;
        Ok(Self::of(&bytes, code))
    }

    fn of(bytes: &[u8; TRAILER], code: u64) -> std::result::Result<Self, AheadError> {
        let foreign = || AheadError::Foreign;
        let rest = bytes.strip_suffix(MAGIC).ok_or_else(foreign)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(foreign)?;
        let (digest, rest) = rest.split_first_chunk().ok_or_else(foreign)?;
        let (cpu, rest) = rest.split_first_chunk::<24>().ok_or_else(foreign)?;
        let (maker, version) = rest.split_first_chunk::<24>().ok_or_else(foreign)?;
        if u64::from_le_bytes(*length) != code {
            return Err(AheadError::Foreign);
        }
        if version != padded::<32>(&compatible()) {
            return Err(AheadError::Version(text(maker)));
        }
        Ok(Self { code, digest: *digest, cpu: text(cpu) })
    }
}

/// Returns the version that must be the same where code is compiled and where it is loaded.
fn compatible() -> String {
    format!("{FORMAT_VERSION} {}", env!("CARGO_PKG_VERSION"))
}

/// Pads a text of at most `N` bytes with zeros.
fn padded<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    for (byte, given) in bytes.iter_mut().zip(text.bytes()) {
        *byte = given;
    }
    bytes
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_end_matches('\0').chars().filter(|c| !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::tests::here;
    use crate::fixture::snapshot;

    fn config() -> Config {
        let mut config = Config::new();
        config.epoch_interruption(true).memory_init_cow(false);
        config.with_host_memory(std::sync::Arc::new(tenon_memory::Memories::new(2)));
        config
    }

    fn loaded(file: &[u8]) -> std::result::Result<Code, AheadError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cwasm");
        std::fs::write(&path, file).unwrap();
        // SAFETY: the file is what this test compiled, or is refused before any of it is mapped.
        unsafe { load_ahead(&Engine::new(&config()).unwrap(), &path) }.unwrap()
    }

    fn refusal(file: &[u8]) -> String {
        loaded(file).err().unwrap().to_string()
    }

    async fn byte(code: &Code) -> u32 {
        let engine = code.component().engine().clone();
        let mut store = wasmtime::Store::new(&engine, ());
        store.set_epoch_deadline(1_000);
        let linker = wasmtime::component::Linker::new(&engine);
        let instance = linker.instantiate_async(&mut store, code.component());
        let instance = tenon_memory::providing(code.image(), instance).await.0.unwrap();
        instance.get_typed_func::<(), (u32,)>(&mut store, "byte").unwrap().call_async(&mut store, ()).await.unwrap().0
    }

    #[tokio::test]
    async fn code_runs_that_was_compiled_for_this_processor_or_an_older_one() {
        for cpu in [Cpu::native(), Cpu::oldest()] {
            let file = compile_ahead(config(), &cpu, &snapshot(1, 7, &[(5_000, b"a")]), &here()).unwrap();
            assert_eq!(byte(&loaded(&file).unwrap()).await, 97, "{cpu:?}");
        }
        let echo = compile_ahead(config(), &Cpu::native(), &tenon_fixtures::echo(200), &here()).unwrap();
        let loaded = loaded(&echo).unwrap();
        assert!(loaded.component().get_export_index(None, "sdk:core/handler@0.1.0").is_some());
    }

    #[tokio::test]
    async fn files_with_the_same_code_share_it_in_a_process() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Engine::new(&config()).unwrap();
        let load = |pages, global, byte: &[u8]| {
            let component = snapshot(pages, global, &[(5_000, byte)]);
            let file = compile_ahead(config(), &Cpu::native(), &component, &here()).unwrap();
            let path = folder.path().join(format!("{pages} {global} {byte:?}"));
            std::fs::write(&path, file).unwrap();
            // SAFETY: the file is what this test compiled, and nobody else writes to it.
            unsafe { load_ahead(&engine, &path) }.unwrap().unwrap()
        };
        let (one, two, larger) = (load(2, 7, b"a"), load(2, 7, b"b"), load(3, 7, b"c"));
        let smaller = load(1, 7, b"d");
        for same in [&two, &larger, &smaller] {
            assert!(same.component().image_range() == one.component().image_range());
        }
        let other_globals = load(2, 8, b"d");
        assert!(other_globals.component().image_range() != one.component().image_range());
        assert_eq!((byte(&smaller).await, byte(&other_globals).await), (100, 100));
        assert_eq!((byte(&one).await, byte(&two).await, byte(&larger).await), (97, 98, 99));
        drop(one);
        assert_eq!(byte(&two).await, 98);
    }

    #[test]
    fn a_file_that_is_incomplete_or_damaged_or_of_another_version_is_refused() {
        let file = compile_ahead(config(), &Cpu::native(), &snapshot(1, 7, &[]), &here()).unwrap();
        for wrong in [&b""[..], b"\0asm", &file[..file.len() - 1], &file[1..], &[0; 4 * TRAILER]] {
            assert!(refusal(wrong).starts_with("it is not a file that `tenon compile` wrote"), "{}", wrong.len());
        }
        let mut damaged = file.clone();
        damaged[file.len() / 2] ^= 1;
        assert!(refusal(&damaged).starts_with("it is damaged"));
        let mut other = file.clone();
        let at = file.len() - MAGIC.len() - 32;
        other[at] ^= 1;
        assert_eq!(
            refusal(&other),
            format!("{MAKER} compiled it, and this is {MAKER}; compile it again with this version")
        );
        // Plain code of wasmtime, as the cache has it.
        assert!(refusal(&file[..file.len() - TRAILER]).starts_with("it is not a file"));
    }

    #[test]
    fn code_for_an_engine_that_is_set_up_in_another_way_is_refused() {
        let mut other = config();
        other.epoch_interruption(false);
        let file = compile_ahead(other, &Cpu::native(), &snapshot(1, 7, &[]), &here()).unwrap();
        let refusal = refusal(&file);
        assert!(refusal.starts_with("it was compiled for native: ") && refusal.contains("epoch"), "{refusal}");
    }
}
