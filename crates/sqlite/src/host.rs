//! The imports of an instance: its files, the clock, and the questions that SQLite asks while it compiles a statement.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wasmtime::{Caller, Linker, Memory, Result};

use crate::action::{Action, Rules};
use crate::budget::Growth;
use crate::codes;
use crate::files::{Files, Kind};
use crate::shared_memory::CHUNK;
use crate::watch::Watch;

/// The module of the imports.
const MODULE: &str = "host";

/// Limit in bytes of a name that crosses the wall.
const MAX_NAME: usize = 1_000_000;

/// The host's state for one connection.
pub(crate) struct Host {
    pub(crate) files: Files,
    pub(crate) growth: Growth,
    pub(crate) memory: Option<Memory>,
    pub(crate) watch: Watch,
    pub(crate) rules: Box<dyn Rules>,
    /// The tables that `opened` has reported, with their schemas.
    pub(crate) opened: Vec<(String, String)>,
}

/// Bytes of the instance's memory; none for a range that is not all in it.
///
/// Callers copy from or into the bytes before they return to the instance.
pub(crate) fn bytes<'a>(
    memory: Memory,
    store: impl wasmtime::AsContext,
    at: u32,
    count: usize,
) -> Option<&'a mut [u8]> {
    let end = (at as usize).checked_add(count)?;
    if end > memory.data_size(&store) {
        return None;
    }
    // SAFETY: the range lies in the memory, which neither moves nor shrinks. The instance does not run while the host does,
    // and the chunks that other processes write to are read and written by the instance only.
    Some(unsafe { std::slice::from_raw_parts_mut(memory.data_ptr(&store).add(at as usize), count) })
}

/// Reads a C string; none for a null pointer.
pub(crate) fn text<'a>(memory: Memory, store: impl wasmtime::AsContext, at: u32) -> Option<&'a [u8]> {
    let most = memory.data_size(&store).checked_sub(at as usize)?.min(MAX_NAME);
    if at == 0 {
        return None;
    }
    // SAFETY: the range is in the memory.
    let start = unsafe { memory.data_ptr(&store).add(at as usize) };
    // SAFETY: so are `most` bytes from it. No reference to them is made, because other processes may write to later ones.
    let length = (0..most).find(|length| unsafe { start.add(*length).read() } == 0).unwrap_or(most);
    bytes(memory, store, at, length).map(|text| &*text)
}

fn range<'a>(caller: &Caller<'_, Host>, at: u32, count: i32) -> Option<&'a mut [u8]> {
    bytes(caller.data().memory?, caller, at, usize::try_from(count).ok()?)
}

fn name<'a>(caller: &Caller<'_, Host>, at: u32) -> Option<std::borrow::Cow<'a, str>> {
    text(caller.data().memory?, caller, at).map(String::from_utf8_lossy)
}

/// Provides every import.
pub(crate) fn link(linker: &mut Linker<Host>) -> Result<()> {
    files(linker)?;
    shared_memory(linker)?;
    linker.func_wrap(MODULE, "random", |caller: Caller<'_, Host>, into: u32, count: i32| -> Result<()> {
        let into = range(&caller, into, count).ok_or_else(outside)?;
        getrandom::fill(into).map_err(|error| wasmtime::Error::msg(error.to_string()))
    })?;
    linker.func_wrap(MODULE, "now", |_: Caller<'_, Host>| -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
    })?;
    linker.func_wrap(MODULE, "sleep", |caller: Caller<'_, Host>, microseconds: i32| {
        let time = Duration::from_micros(u64::try_from(microseconds).unwrap_or_default());
        std::thread::sleep(caller.data().watch.remaining(time));
    })?;
    linker.func_wrap(MODULE, "is_over", |caller: Caller<'_, Host>| i32::from(caller.data().watch.is_over()))?;
    linker.func_wrap(
        MODULE,
        "authorize",
        |mut caller: Caller<'_, Host>, code: i32, first: u32, second: u32, schema: u32, within: u32| -> i32 {
            let [mut first, mut second] = [first, second].map(|at| name(&caller, at));
            let [schema, within] = [schema, within].map(|at| name(&caller, at));
            // Functions and pragmas have names in any case, of ASCII letters.
            for word in [&mut first, &mut second].into_iter().flatten() {
                if matches!(code, 19 | 31) && word.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    *word = word.to_ascii_lowercase().into();
                }
            }
            let action = Action::read(code, first.as_deref().unwrap_or_default(), second.as_deref());
            let allowed = caller.data_mut().rules.allow(action, schema.as_deref(), within.as_deref());
            if allowed { codes::OK } else { codes::DENY }
        },
    )?;
    linker.func_wrap(MODULE, "opens", |mut caller: Caller<'_, Host>, schema: u32, table: u32| {
        let [schema, table] = [schema, table].map(|at| name(&caller, at).unwrap_or_default().into_owned());
        caller.data_mut().opened.push((schema, table));
    })?;
    Ok(())
}

fn outside() -> wasmtime::Error {
    wasmtime::Error::msg("a range is not in the memory")
}

fn files(linker: &mut Linker<Host>) -> Result<()> {
    linker.func_wrap(MODULE, "open", |mut caller: Caller<'_, Host>, kind: i32, flags: i32| -> i32 {
        let Some(kind) = Kind::read(kind) else { return -1 - codes::CANTOPEN };
        caller.data_mut().files.open(kind, flags).unwrap_or_else(|code| -1 - code)
    })?;
    linker.func_wrap(MODULE, "close", |mut caller: Caller<'_, Host>, file: i32| caller.data_mut().files.close(file))?;
    linker.func_wrap(
        MODULE,
        "read",
        |mut caller: Caller<'_, Host>, file: i32, into: u32, count: i32, offset: i64| -> i32 {
            let Some(into) = range(&caller, into, count) else { return -1 };
            let read = caller.data_mut().files.read(file, into, offset);
            read.and_then(|read| i32::try_from(read).ok()).unwrap_or(-1)
        },
    )?;
    linker.func_wrap(
        MODULE,
        "write",
        |mut caller: Caller<'_, Host>, file: i32, from: u32, count: i32, offset: i64| -> i32 {
            let Some(from) = range(&caller, from, count) else { return codes::IOERR_WRITE };
            caller.data_mut().files.write(file, from, offset)
        },
    )?;
    linker.func_wrap(MODULE, "truncate", |mut caller: Caller<'_, Host>, file: i32, count: i64| {
        caller.data_mut().files.truncate(file, count)
    })?;
    linker.func_wrap(MODULE, "sync", |mut caller: Caller<'_, Host>, file: i32| caller.data_mut().files.sync(file))?;
    linker.func_wrap(MODULE, "size", |mut caller: Caller<'_, Host>, file: i32| {
        caller.data_mut().files.size(file).unwrap_or(-1)
    })?;
    linker.func_wrap(MODULE, "lock", |mut caller: Caller<'_, Host>, file: i32, level: i32| {
        caller.data_mut().files.lock(file, level)
    })?;
    linker.func_wrap(MODULE, "unlock", |mut caller: Caller<'_, Host>, file: i32, level: i32| {
        caller.data_mut().files.unlock(file, level)
    })?;
    linker.func_wrap(MODULE, "is_reserved", |mut caller: Caller<'_, Host>, file: i32| {
        caller.data_mut().files.is_reserved(file).map_or(-1, i32::from)
    })?;
    linker.func_wrap(MODULE, "remove", |mut caller: Caller<'_, Host>, kind: i32| {
        Kind::read(kind).map_or(codes::IOERR_DELETE, |kind| caller.data_mut().files.remove(kind))
    })?;
    linker.func_wrap(MODULE, "exists", |caller: Caller<'_, Host>, kind: i32| {
        i32::from(Kind::read(kind).is_some_and(|kind| caller.data().files.exists(kind)))
    })?;
    Ok(())
}

fn shared_memory(linker: &mut Linker<Host>) -> Result<()> {
    linker.func_wrap(
        MODULE,
        "shared_map",
        |mut caller: Caller<'_, Host>, file: i32, chunk: i32, at: u32, extend: i32| -> i32 {
            let (target, chunk) = (range(&caller, at, CHUNK as i32), usize::try_from(chunk));
            let (Some(target), Ok(chunk), true) = (target, chunk, (at as usize).is_multiple_of(CHUNK)) else {
                return codes::IOERR_SHMMAP;
            };
            let mapped = caller.data_mut().files.shared(file).and_then(|shared| {
                // SAFETY: `connection.c` has allocated the chunk for this, at a multiple of its size, and leaves it alone
                // until it is unmapped. The memory of an instance begins at a page.
                unsafe { shared.map(chunk, target.as_mut_ptr(), extend != 0) }
            });
            mapped.err().unwrap_or(codes::OK)
        },
    )?;
    linker.func_wrap(
        MODULE,
        "shared_lock",
        |mut caller: Caller<'_, Host>, file: i32, first: i32, count: i32, flags: i32| -> i32 {
            match caller.data_mut().files.shared(file) {
                Ok(shared) => shared.lock(first, count, flags),
                Err(code) => code,
            }
        },
    )?;
    linker.func_wrap(MODULE, "shared_barrier", |_: Caller<'_, Host>, _: i32| {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    })?;
    linker.func_wrap(MODULE, "shared_unmap", |mut caller: Caller<'_, Host>, file: i32, remove: i32| -> i32 {
        let shared = caller.data_mut().files.take_shared(file);
        shared.map_or(codes::OK, |mut shared| shared.unmap(remove != 0).err().unwrap_or(codes::OK))
    })?;
    Ok(())
}
