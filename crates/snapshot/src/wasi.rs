//! The host of the engine while a top level runs: `wasi_snapshot_preview1` over two files in memory.
//!
//! The engine reads its arguments from standard input, the generated bindings from one file and the bundle from the
//! other. It sees nothing else: no folder of the machine, no network, and only its own settings as the environment.

use std::time::Duration;

use wasmtime::{Caller, Error, Extern, Linker, Module, Result, StoreLimits};

use crate::calls::{self, Calls};
use crate::random::Random;

const PREVIEW_1: &str = "wasi_snapshot_preview1";

/// Descriptors: the root folder, and the first one that is opened. Standard input is 0.
const ROOT: u32 = 3;
const FIRST: u32 = 4;

/// Error numbers and file types of preview 1.
const SUCCESS: u32 = 0;
const BAD_DESCRIPTOR: u32 = 8;
const INVALID: u32 = 28;
const NO_ENTRY: u32 = 44;
const CHARACTER_DEVICE: u8 = 2;
const DIRECTORY: u8 = 3;
const REGULAR_FILE: u8 = 4;

/// Minimum length of a seed of OpenSSL's random generator. Seeds of hash tables, the other use, have 4 or 8 bytes.
const GENERATOR_SEED: u32 = 32;

/// The use of the cryptographic random generator, whose seed must not get into a snapshot.
#[derive(Debug, thiserror::Error)]
#[error("the generator of cryptographic random numbers is seeded")]
pub(crate) struct Seeding;

/// The state of one run.
pub(crate) struct World {
    pub(crate) limits: StoreLimits,
    /// Output on standard output and standard error.
    pub(crate) printed: Vec<u8>,
    /// The calls of a rehearsal; None outside of one.
    pub(crate) calls: Option<Calls>,
    environment: Vec<String>,
    /// Names, relative to the root, and contents.
    files: Vec<(String, Vec<u8>)>,
    /// Open files from descriptor `FIRST` on: the file's number and the position.
    open: Vec<Option<(usize, usize)>>,
    random: Random,
    /// Time since 1970, for every clock.
    pub(crate) time: Duration,
}

impl World {
    /// Makes the state; `input` is the content of standard input.
    pub(crate) fn new(
        input: String,
        environment: Vec<String>,
        files: Vec<(String, Vec<u8>)>,
        random: Random,
        limits: StoreLimits,
        time: Duration,
    ) -> Self {
        let mut all = vec![(String::new(), input.into_bytes())];
        all.extend(files);
        let mut open = vec![Some((0, 0))];
        open.resize(FIRST as usize, None);
        Self { limits, printed: Vec::new(), calls: None, environment, files: all, open, random, time }
    }

    fn find(&self, name: &[u8]) -> Option<usize> {
        let name = std::str::from_utf8(name).ok()?.trim_start_matches(['.', '/']);
        self.files.iter().position(|(known, _)| known == name && !known.is_empty())
    }

    /// Returns the content of the file behind a descriptor, and the position in it.
    fn opened(&mut self, descriptor: u32) -> Option<(&[u8], &mut usize)> {
        let (file, position) = self.open.get_mut(descriptor as usize)?.as_mut()?;
        Some((&self.files[*file].1, position))
    }
}

type Guest<'a> = Caller<'a, World>;

/// Defines the functions that the engine calls. Any other import ends the run with an `UnknownImportError` that names
/// it.
pub(crate) fn define(linker: &mut Linker<World>, module: &Module) -> Result<()> {
    linker
        .func_wrap(PREVIEW_1, "fd_write", write)?
        .func_wrap(PREVIEW_1, "fd_read", read)?
        .func_wrap(PREVIEW_1, "fd_seek", seek)?
        .func_wrap(PREVIEW_1, "fd_close", close)?
        .func_wrap(PREVIEW_1, "fd_fdstat_get", describe)?
        .func_wrap(PREVIEW_1, "fd_fdstat_set_flags", |_: u32, _: u32| SUCCESS)?
        .func_wrap(PREVIEW_1, "fd_prestat_get", preopened)?
        .func_wrap(PREVIEW_1, "fd_prestat_dir_name", preopened_name)?
        .func_wrap(PREVIEW_1, "path_open", open)?
        .func_wrap(PREVIEW_1, "path_filestat_get", stat)?
        .func_wrap(PREVIEW_1, "environ_sizes_get", sizes)?
        .func_wrap(PREVIEW_1, "environ_get", environment)?
        .func_wrap(PREVIEW_1, "clock_time_get", clock)?
        .func_wrap(PREVIEW_1, "random_get", random)?
        .func_wrap(PREVIEW_1, "proc_exit", |code: i32| -> Result<()> {
            Err(Error::msg(format!("exit with {code}")))
        })?;
    calls::define(linker, module)?;
    linker.define_unknown_imports_as_traps(module)?;
    Ok(())
}

/// Returns a part of the guest's memory. An address outside of it ends the run, because the guest is broken.
fn part<'a>(guest: &'a mut Guest<'_>, at: u32, length: u32) -> Result<(&'a mut [u8], &'a mut World)> {
    let memory = guest.get_export("memory").and_then(Extern::into_memory);
    let (bytes, world) = memory.ok_or_else(|| Error::msg("no memory"))?.data_and_store_mut(guest);
    let end = (at as usize).saturating_add(length as usize);
    let part = bytes.get_mut(at as usize..end).ok_or_else(|| Error::msg("an address outside the memory"))?;
    Ok((part, world))
}

/// Writes bytes to the guest's memory.
pub(crate) fn write_to(guest: &mut Guest<'_>, at: u32, bytes: &[u8]) -> Result<()> {
    let (part, _) = part(guest, at, u32::try_from(bytes.len())?)?;
    part.copy_from_slice(bytes);
    Ok(())
}

fn put<const N: usize>(guest: &mut Guest<'_>, at: u32, bytes: [u8; N]) -> Result<()> {
    write_to(guest, at, &bytes)
}

fn get(guest: &mut Guest<'_>, at: u32) -> Result<u32> {
    let (part, _) = part(guest, at, 4)?;
    Ok(u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
}

/// Calls `each` with the address and length of each piece of a scattered buffer, until it moves less than a piece.
fn scattered(
    guest: &mut Guest<'_>,
    pieces: u32,
    count: u32,
    mut each: impl FnMut(&mut [u8], &mut World) -> usize,
) -> Result<u32> {
    let mut moved = 0;
    for piece in 0..count {
        let at = get(guest, pieces + 8 * piece)?;
        let length = get(guest, pieces + 8 * piece + 4)?;
        let (part, world) = part(guest, at, length)?;
        let now = u32::try_from(each(part, world))?;
        moved += now;
        if now < length {
            break;
        }
    }
    Ok(moved)
}

fn write(mut guest: Guest<'_>, _: u32, pieces: u32, count: u32, written: u32) -> Result<u32> {
    let moved = scattered(&mut guest, pieces, count, |part, world| {
        world.printed.extend_from_slice(part);
        part.len()
    })?;
    put(&mut guest, written, moved.to_le_bytes())?;
    Ok(SUCCESS)
}

fn read(mut guest: Guest<'_>, descriptor: u32, pieces: u32, count: u32, written: u32) -> Result<u32> {
    if guest.data_mut().opened(descriptor).is_none() {
        return Ok(BAD_DESCRIPTOR);
    }
    let moved = scattered(&mut guest, pieces, count, |part, world| {
        let Some((content, position)) = world.opened(descriptor) else { return 0 };
        let rest = content.get(*position..).unwrap_or_default();
        let length = rest.len().min(part.len());
        part[..length].copy_from_slice(&rest[..length]);
        *position += length;
        length
    })?;
    put(&mut guest, written, moved.to_le_bytes())?;
    Ok(SUCCESS)
}

fn seek(mut guest: Guest<'_>, descriptor: u32, by: i64, whence: u32, new: u32) -> Result<u32> {
    let Some((content, position)) = guest.data_mut().opened(descriptor) else { return Ok(BAD_DESCRIPTOR) };
    let from = match whence {
        0 => 0,
        1 => *position,
        _ => content.len(),
    };
    let Some(at) = i64::try_from(from)?.checked_add(by).and_then(|at| usize::try_from(at).ok()) else {
        return Ok(INVALID);
    };
    *position = at;
    put(&mut guest, new, (at as u64).to_le_bytes())?;
    Ok(SUCCESS)
}

fn close(mut guest: Guest<'_>, descriptor: u32) -> u32 {
    match guest.data_mut().open.get_mut(descriptor as usize) {
        Some(open) if descriptor >= FIRST => {
            *open = None;
            SUCCESS
        }
        _ => BAD_DESCRIPTOR,
    }
}

fn describe(mut guest: Guest<'_>, descriptor: u32, at: u32) -> Result<u32> {
    let kind = match descriptor {
        0..ROOT => CHARACTER_DEVICE,
        ROOT => DIRECTORY,
        _ if guest.data_mut().opened(descriptor).is_some() => REGULAR_FILE,
        _ => return Ok(BAD_DESCRIPTOR),
    };
    let (part, _) = part(&mut guest, at, 24)?;
    part.fill(0);
    part[0] = kind;
    // All rights, for the file itself and for files opened through it.
    part[8..].fill(0xff);
    Ok(SUCCESS)
}

fn preopened(mut guest: Guest<'_>, descriptor: u32, at: u32) -> Result<u32> {
    if descriptor != ROOT {
        return Ok(BAD_DESCRIPTOR);
    }
    // A folder whose name has one byte.
    put(&mut guest, at, [0, 0, 0, 0, 1, 0, 0, 0])?;
    Ok(SUCCESS)
}

fn preopened_name(mut guest: Guest<'_>, _: u32, at: u32, _: u32) -> Result<u32> {
    put(&mut guest, at, *b"/")?;
    Ok(SUCCESS)
}

#[allow(clippy::too_many_arguments, reason = "preview 1 has so many")]
fn open(
    mut guest: Guest<'_>,
    _: u32,
    _: u32,
    name: u32,
    length: u32,
    _: u32,
    _: u64,
    _: u64,
    _: u32,
    descriptor: u32,
) -> Result<u32> {
    let (name, world) = part(&mut guest, name, length)?;
    let Some(file) = world.find(name) else { return Ok(NO_ENTRY) };
    let number = u32::try_from(world.open.len())?;
    world.open.push(Some((file, 0)));
    put(&mut guest, descriptor, number.to_le_bytes())?;
    Ok(SUCCESS)
}

fn stat(mut guest: Guest<'_>, _: u32, _: u32, name: u32, length: u32, at: u32) -> Result<u32> {
    let (name, world) = part(&mut guest, name, length)?;
    let Some(file) = world.find(name) else { return Ok(NO_ENTRY) };
    let size = world.files[file].1.len() as u64;
    let (part, _) = part(&mut guest, at, 64)?;
    part.fill(0);
    part[16] = REGULAR_FILE;
    part[32..40].copy_from_slice(&size.to_le_bytes());
    Ok(SUCCESS)
}

fn sizes(mut guest: Guest<'_>, count: u32, size: u32) -> Result<u32> {
    let variables = &guest.data().environment;
    let (number, bytes) = (variables.len(), variables.iter().map(|variable| variable.len() + 1).sum::<usize>());
    put(&mut guest, count, u32::try_from(number)?.to_le_bytes())?;
    put(&mut guest, size, u32::try_from(bytes)?.to_le_bytes())?;
    Ok(SUCCESS)
}

fn environment(mut guest: Guest<'_>, mut pointer: u32, mut at: u32) -> Result<u32> {
    for variable in guest.data().environment.clone() {
        put(&mut guest, pointer, at.to_le_bytes())?;
        let length = u32::try_from(variable.len())? + 1;
        let (part, _) = part(&mut guest, at, length)?;
        part[..variable.len()].copy_from_slice(variable.as_bytes());
        part[variable.len()] = 0;
        (pointer, at) = (pointer + 4, at + length);
    }
    Ok(SUCCESS)
}

fn clock(mut guest: Guest<'_>, _: u32, _: u64, at: u32) -> Result<u32> {
    let now = u64::try_from(guest.data().time.as_nanos())?;
    put(&mut guest, at, now.to_le_bytes())?;
    Ok(SUCCESS)
}

fn random(mut guest: Guest<'_>, at: u32, length: u32) -> Result<u32> {
    // OpenSSL would keep its seed in the snapshot, where all requests and all owners of the component would share it.
    if length >= GENERATOR_SEED {
        return Err(Seeding.into());
    }
    let (part, world) = part(&mut guest, at, length)?;
    world.random.fill(part);
    Ok(SUCCESS)
}
