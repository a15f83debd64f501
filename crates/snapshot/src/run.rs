//! Runs of a bundle's top level, and the resulting state.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenon_rewrite::{Global, State};
use tenon_trusted_folder::Folder;
use wasmtime::{Instance, Memory, Module, Store, Trap, Val};

use crate::error::SnapshotError;
use crate::host::{self, Host, MemoryExceeded, MemoryLimit, Rehearsal, TopLevelCall, allocate};
use crate::prepare::{COLLECT, INITIALIZE};
use crate::random::Random;
use crate::request::rehearse;
use crate::template;

/// Time limit of a top level.
const TIME: Duration = Duration::from_secs(30);

/// Time limit of the handler for the requests of a build.
const TIME_OF_REQUEST: Duration = Duration::from_secs(5);

/// Memory limit of a top level. A handler's default limit is lower.
const MEMORY: usize = 384 * 1024 * 1024;

/// Environment variable with the time of a reproducible build (reproducible-builds.org).
const TIME_OF_BUILD: &str = "SOURCE_DATE_EPOCH";

/// The time of day in a rehearsal, the same in each build.
const TIME_OF_REHEARSAL: Duration = Duration::from_hours(400_000);

/// The result of a run, with its state written into `written`.
pub(crate) struct RunOutput<T> {
    pub(crate) written: T,
    pub(crate) state_bytes: usize,
    pub(crate) printed: String,
}

/// Compiled code of the engine.
pub(crate) struct Runner {
    engine: wasmtime::Engine,
    module: Module,
}

/// An instance whose top level has run.
struct Evaluated {
    store: Store<Host>,
    instance: Instance,
}

impl Runner {
    /// Opens stored code. None when there is none that can be trusted.
    pub(crate) fn open(engine: wasmtime::Engine, folder: &Folder, code: &str) -> Option<Self> {
        if !folder.holds(code) {
            return None;
        }
        let module = deserialize(&engine, folder, code)?;
        Some(Self { engine, module })
    }

    /// Evaluates a bundle with this name, and returns the result of `write` for its state.
    pub(crate) fn run<T>(
        &self,
        name: &str,
        bundle: &[u8],
        write: impl FnOnce(&State<'_>) -> Result<T, SnapshotError>,
    ) -> Result<RunOutput<T>, SnapshotError> {
        let mut evaluated = self.evaluated(name, bundle)?;
        let mut printed = evaluated.printed();
        match evaluated.rehearsed() {
            Ok(()) => printed = evaluated.printed(),
            Err(error) => {
                printed += &format!("warning: the component is not warmed up: {}\n", interruption(&error));
                // The engine may be in any state.
                evaluated = self.evaluated(name, bundle)?;
            }
        }
        evaluated.collect().map_err(SnapshotError::engine)?;
        let memory = evaluated.memory().map_err(SnapshotError::engine)?;
        let globals = evaluated.globals();
        let store = &evaluated.store;
        let state = State { pages: memory.size(store), globals, segments: template::runs(memory.data(store)) };
        let state_bytes = state.segments.iter().map(|segment| segment.data.len()).sum();
        Ok(RunOutput { written: write(&state)?, state_bytes, printed })
    }

    fn evaluated(&self, name: &str, bundle: &[u8]) -> Result<Evaluated, SnapshotError> {
        let mut seed = [0; 8];
        Random::from_bundle(bundle).fill(&mut seed);
        let seed = Some(u64::from_le_bytes(seed));
        let host = Host { limits: MemoryLimit(MEMORY), printed: Vec::new(), rehearsal: None, time: time(), seed };
        let mut store = Store::new(&self.engine, host);
        store.limiter(|host| &mut host.limits);
        store.set_epoch_deadline(1);
        let instance = Instance::new(&mut store, &self.module, &[]).map_err(SnapshotError::engine)?;
        host::plug(&mut store, &instance).map_err(SnapshotError::engine)?;
        let mut evaluated = Evaluated { store, instance };
        let failed = within(TIME, &self.engine, || evaluated.initialize(name, bundle));
        match failed {
            Ok(false) => Ok(evaluated),
            Ok(true) => Err(SnapshotError::TopLevel(evaluated.printed().trim().to_owned())),
            Err(error) => Err(failure(&error, evaluated.printed().trim())),
        }
    }
}

impl Evaluated {
    /// Evaluates the bundle. Returns whether it failed.
    fn initialize(&mut self, name: &str, bundle: &[u8]) -> wasmtime::Result<bool> {
        let memory = self.memory()?;
        let Self { store, instance } = self;
        let mut put = |text: &[u8]| -> wasmtime::Result<(u32, u32)> {
            let length = u32::try_from(text.len())?;
            // C reads a text to its zero byte.
            let at = allocate(&mut *store, instance, 1, length + 1)?;
            memory.write(&mut *store, at as usize, &[text, &[0]].concat())?;
            Ok((at, length))
        };
        let (name, name_length) = put(name.as_bytes())?;
        let (source, length) = put(bundle)?;
        let initialize = instance.get_typed_func::<(u32, u32, u32, u32), i32>(&mut *store, INITIALIZE)?;
        Ok(initialize.call(&mut *store, (name, name_length, source, length))? != 0)
    }

    /// Sends the requests of a rehearsal.
    fn rehearsed(&mut self) -> wasmtime::Result<()> {
        let Self { store, instance } = self;
        store.data_mut().time = TIME_OF_REHEARSAL;
        store.data_mut().rehearsal = Some(Rehearsal::default());
        store.set_epoch_deadline(1);
        let engine = store.engine().clone();
        within(TIME_OF_REQUEST, &engine, || rehearse(store, instance))?;
        store.data_mut().rehearsal = None;
        Ok(())
    }

    fn collect(&mut self) -> wasmtime::Result<()> {
        self.store.set_epoch_deadline(1);
        self.instance.get_typed_func::<(), ()>(&mut self.store, COLLECT)?.call(&mut self.store, ())
    }

    fn memory(&mut self) -> wasmtime::Result<Memory> {
        let memory = self.instance.get_memory(&mut self.store, "memory");
        memory.ok_or_else(|| wasmtime::Error::msg("it does not export its memory"))
    }

    /// Reads the mutable globals, which the preparation exports by number.
    fn globals(&mut self) -> Vec<(u32, Global)> {
        let Self { store, instance } = self;
        let exports: Vec<_> = instance
            .exports(&mut *store)
            .filter_map(|export| {
                let index = export.name().strip_prefix("__wizer_global_")?.parse::<u32>().ok()?;
                Some((index, export.into_global()?))
            })
            .collect();
        let values = exports.into_iter().filter_map(|(index, global)| match global.get(&mut *store) {
            Val::I32(value) => Some((index, Global::I32(value))),
            Val::I64(value) => Some((index, Global::I64(value))),
            Val::F32(bits) => Some((index, Global::F32(bits))),
            Val::F64(bits) => Some((index, Global::F64(bits))),
            _ => None,
        });
        values.collect()
    }

    fn printed(&self) -> String {
        String::from_utf8_lossy(&self.store.data().printed).into_owned()
    }
}

/// Converts the error of a run for the author of the bundle.
fn failure(error: &wasmtime::Error, printed: &str) -> SnapshotError {
    if let Some(TopLevelCall(function, interface)) = error.downcast_ref() {
        return SnapshotError::HostCall(format!("{function} of {interface}"));
    }
    if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        return SnapshotError::Endless(TIME.as_secs());
    }
    if error.downcast_ref::<MemoryExceeded>().is_some() {
        return SnapshotError::Memory(MEMORY / 1024 / 1024);
    }
    SnapshotError::TopLevel(if printed.is_empty() { format!("{error:#}") } else { printed.to_owned() })
}

/// Returns the reason why a rehearsal ended. It lies in a handler of a route that is `warm`.
fn interruption(error: &wasmtime::Error) -> String {
    if let Some(TopLevelCall(function, _)) = error.downcast_ref() {
        format!("a handler asks the host for {function}, which a build does not have")
    } else if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        format!("the handlers took longer than {} s", TIME_OF_REQUEST.as_secs())
    } else {
        "a handler ended the engine".to_owned()
    }
}

/// Runs a computation in the engine and interrupts it when its time is over.
fn within<T>(time: Duration, engine: &wasmtime::Engine, run: impl FnOnce() -> T) -> T {
    // Dropping `done` ends the watch.
    let (done, watched) = channel::<()>();
    let engine = engine.clone();
    let watch = thread::spawn(move || {
        if watched.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            engine.increment_epoch();
        }
    });
    let ran = run();
    drop(done);
    let _ = watch.join();
    ran
}

/// Returns the time that a top level sees. The clock stands still.
fn time() -> Duration {
    let told = std::env::var(TIME_OF_BUILD).ok().and_then(|seconds| seconds.parse().ok());
    told.map_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Duration::from_secs)
}

/// Maps code whose digest was verified. Reads it where files cannot be mapped, such as from some network drives.
fn deserialize(engine: &wasmtime::Engine, folder: &Folder, code: &str) -> Option<Module> {
    // SAFETY: only this user and root can write to the folder, and the digest matches what this crate wrote there. So
    // the bytes are wasmtime's output. Wasmtime itself refuses code of another version or configuration.
    let mapped = unsafe { Module::deserialize_file(engine, folder.file(code)) };
    // SAFETY: the digest of these bytes matches what this crate wrote, so they are wasmtime's output.
    mapped.ok().or_else(|| unsafe { Module::deserialize(engine, folder.read(code)?) }.ok())
}
