//! A run of a bundle's top level, and what it leaves.

use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenon_code::{Folder, Global, State};
use wasmtime::{Config, Instance, Linker, Memory, Module, Store, StoreLimitsBuilder, UnknownImportError, Val};

use crate::error::SnapshotError;
use crate::files::Files;
use crate::garbage;
use crate::prepare::INITIALIZE;
use crate::random::Random;
use crate::resident::{self, HANDLE};
use crate::template;
use crate::wasi::{self, World};
use crate::weval;

/// How long a top level may run.
const TIME: Duration = Duration::from_secs(30);

/// How long the handler may take for a request by which pages are found.
const TIME_OF_REQUEST: Duration = Duration::from_secs(1);

/// How much memory a top level may use: as much as a handler may by default would be less.
const MEMORY: usize = 384 * 1024 * 1024;

/// The variable that says what time it is in a build that is to be repeated (reproducible-builds.org).
const TIME_OF_BUILD: &str = "SOURCE_DATE_EPOCH";

/// Where the engine finds the bindings; no bundle has this name, for names of modules have no underscore.
const BINDINGS: &str = "__bindings.js";

/// What a top level left, with its state written into something.
pub(crate) struct Ran<T> {
    pub(crate) written: T,
    pub(crate) state_bytes: usize,
    pub(crate) printed: String,
    /// Between the pages that a request changes; see [`resident`].
    pub(crate) gaps: Vec<Range<u32>>,
}

/// Compiled code of an engine that runs top levels, and what it reads.
pub(crate) struct Runner {
    engine: wasmtime::Engine,
    module: Module,
    bindings: Vec<u8>,
    environment: Vec<String>,
}

impl Runner {
    /// Opens what was kept; none when there is nothing that can be trusted.
    pub(crate) fn open(engine: wasmtime::Engine, folder: &Folder, files: &Files) -> Option<Self> {
        if !folder.holds(&files.code) {
            return None;
        }
        let (bindings, environment) = (folder.read(&files.bindings)?, folder.read(&files.environment)?);
        let module = deserialize(&engine, &folder.file(&files.code))?;
        let environment = String::from_utf8_lossy(&environment).lines().map(str::to_owned).collect();
        Some(Self { engine, module, bindings, environment })
    }

    /// Runs the top level of a bundle that is called `name`, and gives what `write` makes of the state that it leaves.
    pub(crate) fn run<T>(
        &self,
        name: &str,
        bundle: &[u8],
        write: impl FnOnce(&State<'_>) -> Result<T, SnapshotError>,
    ) -> Result<Ran<T>, SnapshotError> {
        let (mut store, instance) = self.instantiate(name, bundle)?;
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| missing("memory"))?;
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
        garbage::clear(memory.data_mut(&mut store));
        let state = State {
            pages: memory.size(&store),
            globals,
            segments: template::runs(memory.data(&store)),
            ..State::default()
        };
        let written = write(&state)?;
        let state_bytes = state.segments.iter().map(|segment| segment.data.len()).sum();
        drop(state);
        // Changes the memory, which has been written by now; and it runs on what was left of it.
        let check = instance.get_typed_func::<(), u32>(&mut store, "check_init").map_err(SnapshotError::engine)?;
        if check.call(&mut store, ()).map_err(SnapshotError::engine)? != 0 {
            return Err(failure(
                &wasmtime::Error::msg("it does not export what its world does"),
                &store.data().printed,
            ));
        }
        let printed = String::from_utf8_lossy(&store.data().printed).into_owned();
        let gaps = gaps_of_a_request(&mut store, &instance, memory);
        Ok(Ran { written, state_bytes, printed, gaps })
    }

    /// An instance whose top level has run.
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

/// Runs what computes in the engine, which is interrupted when its time is over.
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

fn initialize(store: &mut Store<World>, linker: &Linker<World>, module: &Module) -> wasmtime::Result<Instance> {
    let instance = linker.instantiate(&mut *store, module)?;
    for function in ["_initialize", INITIALIZE] {
        instance.get_typed_func::<(), ()>(&mut *store, function)?.call(&mut *store, ())?;
    }
    Ok(instance)
}

/// Calls the handler for what is not there, and tells by what that changes which pages are to stay resident. A handler
/// that wants what only a server has ends early, which tells enough.
fn gaps_of_a_request(store: &mut Store<World>, instance: &Instance, memory: Memory) -> Vec<Range<u32>> {
    let before = memory.data(&*store).to_vec();
    // Ends on its own, or is ended: what it has changed until then is what counts.
    store.set_epoch_deadline(1);
    let engine = store.engine().clone();
    let _ = within(TIME_OF_REQUEST, &engine, || request(store, instance, memory));
    resident::gaps(&before, memory.data(&*store))
}

/// Puts the record of a request (Canonical ABI) into the guest's memory, and calls its handler: method, path and headers
/// are each an address and a length, and there is no body.
fn request(store: &mut Store<World>, instance: &Instance, memory: Memory) -> wasmtime::Result<()> {
    let realloc = instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut *store, "cabi_realloc")?;
    let mut put = |bytes: &[u8]| -> wasmtime::Result<(i32, i32)> {
        let length = i32::try_from(bytes.len())?;
        let at = realloc.call(&mut *store, (0, 0, 4, length))?;
        memory.write(&mut *store, at.cast_unsigned() as usize, bytes)?;
        Ok((at, length))
    };
    let method = put(b"GET")?;
    let path = put(b"/-/not-found?by=tenon")?;
    let words = [put(b"host")?, put(b"localhost")?].map(|(at, length)| [at, length]);
    let headers = words.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let (headers, _) = put(&headers)?;
    type Record = (i32, i32, i32, i32, i32, i32, i32, i32, i32);
    let handle = instance.get_typed_func::<Record, i32>(&mut *store, HANDLE)?;
    handle.call(&mut *store, (method.0, method.1, path.0, path.1, headers, 1, 0, 0, 0))?;
    Ok(())
}

/// What a failed run means for whoever wrote the bundle.
fn failure(error: &wasmtime::Error, printed: &[u8]) -> SnapshotError {
    if let Some(unknown) = error.downcast_ref::<UnknownImportError>() {
        return SnapshotError::HostCall(format!("{} of {}", unknown.name(), unknown.module()));
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

/// The time that a top level sees: it stands still.
fn time() -> Duration {
    let told = std::env::var(TIME_OF_BUILD).ok().and_then(|seconds| seconds.parse().ok());
    told.map_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(), Duration::from_secs)
}

fn missing(export: &str) -> SnapshotError {
    SnapshotError::Engine(format!("it has no export {export}"))
}

fn deserialize(engine: &wasmtime::Engine, file: &Path) -> Option<Module> {
    // SAFETY: the folder is this user's alone and the bytes are those that this crate wrote there, so they are what
    // wasmtime compiled. Wasmtime itself refuses code of another version or configuration.
    unsafe { Module::deserialize_file(engine, file) }.ok()
}

/// The engine of builds: nothing of it serves requests.
pub(crate) fn configured() -> Result<wasmtime::Engine, SnapshotError> {
    let mut config = Config::new();
    // Nobody asks where in the engine something happened; without that the code is a quarter smaller.
    config.epoch_interruption(true).generate_address_map(false);
    wasmtime::Engine::new(&config).map_err(SnapshotError::engine)
}
