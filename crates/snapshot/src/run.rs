//! Runs of a bundle's top level, and the resulting state.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenon_cpu::Cpu;
use tenon_rewrite::{Global, State};
use tenon_trusted_folder::Folder;
use wasmtime::{Config, Instance, Linker, Memory, Module, Store, StoreLimitsBuilder, UnknownImportError, Val};

use crate::calls::TopLevelCall;
use crate::error::SnapshotError;
use crate::files::Files;
use crate::prepare::INITIALIZE;
use crate::random::Random;
use crate::starlingmonkey::garbage;
use crate::starlingmonkey::rehearsal;
use crate::starlingmonkey::weval;
use crate::template;
use crate::wasi::{self, Seeding, World};

/// Time limit of a top level.
pub(crate) const TIME: Duration = Duration::from_secs(30);

/// Time limit of the handler for the requests of a build.
pub(crate) const TIME_OF_REQUEST: Duration = Duration::from_secs(5);

/// Memory limit of a top level. A handler's default limit is lower.
pub(crate) const MEMORY: usize = 384 * 1024 * 1024;

/// Environment variable with the time of a reproducible build (reproducible-builds.org).
const TIME_OF_BUILD: &str = "SOURCE_DATE_EPOCH";

/// File name of the bindings. No bundle has it, because module names contain no underscore.
const BINDINGS: &str = "__bindings.js";

/// The result of a run, with its state written into `written`.
pub(crate) struct RunOutput<T> {
    pub(crate) written: T,
    pub(crate) state_bytes: usize,
    pub(crate) printed: String,
}

/// Compiled code of an engine that runs top levels, and the engine's inputs.
pub(crate) struct Runner {
    engine: wasmtime::Engine,
    module: Module,
    bindings: Vec<u8>,
    environment: Vec<String>,
    /// Address of the engine's mark that it was called, if it is known.
    first_call: Option<usize>,
}

impl Runner {
    /// Opens stored files. None when there are none that can be trusted.
    pub(crate) fn open(engine: wasmtime::Engine, folder: &Folder, files: &Files) -> Option<Self> {
        if !folder.holds(&files.code) {
            return None;
        }
        let (bindings, environment) = (folder.read(&files.bindings)?, folder.read(&files.environment)?);
        let module = deserialize(&engine, &folder.file(&files.code))?;
        let environment = String::from_utf8_lossy(&environment).lines().map(str::to_owned).collect();
        let first_call = folder.read(&files.first_call).and_then(|place| String::from_utf8(place).ok()?.parse().ok());
        Some(Self { engine, module, bindings, environment, first_call })
    }

    /// Runs the top level of a bundle with this name, and returns what `write` makes of its state.
    pub(crate) fn run<T>(
        &self,
        name: &str,
        bundle: &[u8],
        write: impl FnOnce(&State<'_>) -> Result<T, SnapshotError>,
    ) -> Result<RunOutput<T>, SnapshotError> {
        let (mut store, mut instance) = self.started(name, bundle)?;
        let mut printed = String::from_utf8_lossy(&store.data().printed).into_owned();
        if let Some(first_call) = self.first_call {
            let memory = memory_of(&mut store, &instance)?;
            let rehearsed =
                in_time(TIME_OF_REQUEST, &mut store, |store| rehearsal::rehearse(store, &instance, memory, first_call));
            match rehearsed {
                Ok(true) => printed = String::from_utf8_lossy(&store.data().printed).into_owned(),
                Ok(false) => (store, instance) = self.started(name, bundle)?,
                Err(error) => {
                    printed += &format!("warning: the component is not warmed up: {}\n", interruption(&error));
                    (store, instance) = self.started(name, bundle)?;
                }
            }
        }
        let memory = memory_of(&mut store, &instance)?;
        garbage::clear(memory.data_mut(&mut store));
        give_out_scattered(&mut store, &instance, memory).map_err(SnapshotError::engine)?;
        let globals: Vec<_> = instance
            .exports(&mut store)
            .filter_map(|export| {
                Some((export.name().strip_prefix("__wizer_global_")?.parse().ok()?, export.into_global()?))
            })
            .collect::<Vec<(u32, _)>>();
        let globals = globals.into_iter().filter_map(|(index, global)| match global.get(&mut store) {
            Val::I32(value) => Some((index, Global::I32(value))),
            Val::I64(value) => Some((index, Global::I64(value))),
            Val::F32(bits) => Some((index, Global::F32(bits))),
            Val::F64(bits) => Some((index, Global::F64(bits))),
            _ => None,
        });
        let globals = globals.collect();
        let state = State { pages: memory.size(&store), globals, segments: template::runs(memory.data(&store)) };
        let written = write(&state)?;
        let state_bytes = state.segments.iter().map(|segment| segment.data.len()).sum();
        Ok(RunOutput { written, state_bytes, printed })
    }

    /// Returns the address of the engine's mark that it was called; see [`rehearsal`].
    pub(crate) fn first_call(&self) -> Option<usize> {
        let (mut store, instance) = self.started("h.js", rehearsal::HANDLER).ok()?;
        let memory = memory_of(&mut store, &instance).ok()?;
        in_time(TIME, &mut store, |store| rehearsal::first_call(store, &instance, memory))
    }

    /// Makes an instance whose top level has run and has defined the exports of its world.
    fn started(&self, name: &str, bundle: &[u8]) -> Result<(Store<World>, Instance), SnapshotError> {
        let (mut store, instance) = self.instantiate(name, bundle)?;
        let check = instance.get_typed_func::<(), u32>(&mut store, "check_init").map_err(SnapshotError::engine)?;
        if check.call(&mut store, ()).map_err(SnapshotError::engine)? != 0 {
            return Err(failure(
                &wasmtime::Error::msg("it does not export the functions of its world"),
                &store.data().printed,
            ));
        }
        Ok((store, instance))
    }

    /// Makes an instance whose top level has run.
    fn instantiate(&self, name: &str, bundle: &[u8]) -> Result<(Store<World>, Instance), SnapshotError> {
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).trap_on_grow_failure(true).build();
        let input = format!("--initializer-script-path /{BINDINGS} --strip-path-prefix / {name}");
        let files = vec![(BINDINGS.to_owned(), self.bindings.clone()), (name.to_owned(), bundle.to_owned())];
        let world = World::new(input, self.environment.clone(), files, Random::from_bundle(bundle), limits, time());
        let mut store = Store::new(&self.engine, world);
        store.limiter(|world| &mut world.limits);
        store.set_epoch_deadline(1);
        let mut linker = Linker::new(&self.engine);
        weval::define(&mut linker, &self.module)
            .and_then(|()| wasi::define(&mut linker, &self.module))
            .map_err(SnapshotError::engine)?;

        let ran = within(TIME, &self.engine, || initialize(&mut store, &linker, &self.module));
        match ran {
            Ok(instance) => Ok((store, instance)),
            Err(error) => Err(failure(&error, &store.data().printed)),
        }
    }
}

/// Runs a computation in the engine and interrupts it when its time is over.
pub(crate) fn within<T>(time: Duration, engine: &wasmtime::Engine, run: impl FnOnce() -> T) -> T {
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

fn initialize(store: &mut Store<World>, linker: &Linker<World>, module: &Module) -> wasmtime::Result<Instance> {
    let instance = linker.instantiate(&mut *store, module)?;
    for function in ["_initialize", INITIALIZE] {
        instance.get_typed_func::<(), ()>(&mut *store, function)?.call(&mut *store, ())?;
    }
    Ok(instance)
}

/// Makes the engine's allocator hand out the small free blocks, so that later requests allocate contiguously.
fn give_out_scattered(store: &mut Store<World>, instance: &Instance, memory: Memory) -> wasmtime::Result<()> {
    let allocate = instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut *store, "cabi_realloc")?;
    for size in garbage::scattered(memory.data(&*store)) {
        allocate.call(&mut *store, (0, 0, 8, size))?;
    }
    Ok(())
}

/// Calls the handler and interrupts it when its time is over.
fn in_time<T>(time: Duration, store: &mut Store<World>, call: impl FnOnce(&mut Store<World>) -> T) -> T {
    store.set_epoch_deadline(1);
    let engine = store.engine().clone();
    within(time, &engine, || call(store))
}

/// Converts the error of a run for the author of the bundle.
fn failure(error: &wasmtime::Error, printed: &[u8]) -> SnapshotError {
    if let Some(unknown) = error.downcast_ref::<UnknownImportError>() {
        return SnapshotError::HostCall(format!("{} of {}", unknown.name(), unknown.module()));
    }
    if let Some(TopLevelCall(function, interface)) = error.downcast_ref() {
        return SnapshotError::HostCall(format!("{function} of {interface}"));
    }
    if error.downcast_ref::<Seeding>().is_some() {
        return SnapshotError::HostCall(
            "crypto.subtle with a key of RSA or EC, which needs random numbers".to_string(),
        );
    }
    if error.downcast_ref::<wasmtime::Trap>() == Some(&wasmtime::Trap::Interrupt) {
        return SnapshotError::Endless(TIME.as_secs());
    }
    if error.chain().any(|cause| cause.to_string().contains("growing memory")) {
        return SnapshotError::Memory(MEMORY / 1024 / 1024);
    }
    let printed = String::from_utf8_lossy(printed);
    let printed = printed.trim();
    SnapshotError::TopLevel(if printed.is_empty() { format!("{error:#}") } else { printed.to_owned() })
}

/// Returns the reason why a rehearsal ended. It lies in a handler of a route that is `warm`.
fn interruption(error: &wasmtime::Error) -> String {
    let asks = |what: &str| format!("a handler asks the host for {what}, which a build does not have");
    if let Some(TopLevelCall(function, _)) = error.downcast_ref() {
        asks(function)
    } else if let Some(unknown) = error.downcast_ref::<UnknownImportError>() {
        asks(unknown.name())
    } else if error.downcast_ref::<Seeding>().is_some() {
        asks("random numbers")
    } else if error.downcast_ref::<wasmtime::Trap>() == Some(&wasmtime::Trap::Interrupt) {
        format!("the handlers took longer than {} s", TIME_OF_REQUEST.as_secs())
    } else {
        "a handler ended the engine".to_owned()
    }
}

/// Returns the time that a top level sees. The clock stands still.
pub(crate) fn time() -> Duration {
    let told = std::env::var(TIME_OF_BUILD).ok().and_then(|seconds| seconds.parse().ok());
    told.map_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Duration::from_secs)
}

fn memory_of(store: &mut Store<World>, instance: &Instance) -> Result<Memory, SnapshotError> {
    let memory = instance.get_memory(store, "memory");
    memory.ok_or_else(|| SnapshotError::Engine("it has no export memory".to_owned()))
}

pub(crate) fn deserialize(engine: &wasmtime::Engine, file: &Path) -> Option<Module> {
    // SAFETY: only this user and root can write to the folder, and the digest matches what this crate wrote there. So
    // the bytes are wasmtime's output. Wasmtime itself refuses code of another version or configuration.
    unsafe { Module::deserialize_file(engine, file) }.ok()
}

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
