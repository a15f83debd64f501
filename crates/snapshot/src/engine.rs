//! The prepared engine, and a build with it.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenon_code::{Folder, Global, State};
use wasm_encoder::{ComponentSection, ProducersField, ProducersSection};
use wasmtime::{Config, Instance, Linker, Memory, Module, Store, StoreLimitsBuilder, UnknownImportError, Val};

use crate::error::SnapshotError;
use crate::garbage;
use crate::prepare::INITIALIZE;
use crate::random::Random;
use crate::resident::{self, HANDLE};
use crate::template;
use crate::wasi::{self, World};

/// How long a top level may run.
const TIME: Duration = Duration::from_secs(30);

/// How long the handler may take for a request by which pages are found.
const TIME_OF_REQUEST: Duration = Duration::from_secs(1);

/// How much memory a top level may use: as much as a handler may by default would be less.
const MEMORY: usize = 384 * 1024 * 1024;

/// What is prepared, as a number: another one when this crate prepares something else of the same ingredients.
const EDITION: u32 = 3;

/// The variable that says what time it is in a build that is to be repeated (reproducible-builds.org).
const TIME_OF_BUILD: &str = "SOURCE_DATE_EPOCH";

/// How many prepared engines are kept.
const KEPT: usize = 3;

/// Where the engine finds the bindings; no bundle has this name, for names of modules have no underscore.
const BINDINGS: &str = "__bindings.js";

/// A component, and what it came to.
#[derive(Debug)]
pub struct Built {
    /// A component that exports `sdk:core/handler`.
    pub component: Vec<u8>,
    /// Bytes of it that are the handler's: what is not zero in its memory.
    pub state_bytes: usize,
    /// What the top level wrote to standard output and standard error.
    pub printed: String,
}

/// The engine, ready to run top levels.
pub struct Engine {
    engine: wasmtime::Engine,
    module: Module,
    template: Vec<u8>,
    bindings: Vec<u8>,
    environment: Vec<String>,
}

impl Engine {
    /// Opens what [`crate::prepare`] kept under `key`; none when it has to be prepared.
    ///
    /// # Errors
    ///
    /// [`SnapshotError::Keep`] when the folder cannot be used.
    pub fn open(folder: &Path, key: &str) -> Result<Option<Self>, SnapshotError> {
        let folder = Folder::open(folder)?;
        let engine = configured()?;
        let files = Files::new(&engine, key);
        let (true, Some(template), Some(bindings), Some(environment)) = (
            folder.holds(&files.code),
            folder.read(&files.template),
            folder.read(&files.bindings),
            folder.read(&files.environment),
        ) else {
            return Ok(None);
        };
        // SAFETY: the folder is this user's alone and the bytes are those that this crate wrote there, so they are what
        // wasmtime compiled. Wasmtime itself refuses code of another version or configuration.
        let Ok(module) = (unsafe { Module::deserialize_file(&engine, folder.file(&files.code)) }) else {
            return Ok(None);
        };
        let environment = String::from_utf8_lossy(&environment).lines().map(str::to_owned).collect();
        Ok(Some(Self { engine, module, template, bindings, environment }))
    }

    /// Runs the top level of a bundle, one ES module, and makes a component of the engine as it then is. `name` is the
    /// bundle's file name, by which stack traces call it; the component notes `tools`, names and versions, as what made it.
    /// It computes, and must not be called where others wait.
    ///
    /// # Errors
    ///
    /// The kinds of [`SnapshotError`] that are about the top level.
    pub fn build(&self, name: &str, bundle: &[u8], tools: &[(String, String)]) -> Result<Built, SnapshotError> {
        let (mut store, instance) = self.run(name, bundle)?;
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
        let mut component = template::with_state(&self.template, &state)?;
        if !tools.is_empty() {
            made_by(tools).append_to_component(&mut component);
        }
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
        if !gaps.is_empty() {
            let globals = template::globals_of(&self.template).map_err(SnapshotError::engine)?;
            resident::section(globals, &gaps).append_to_component(&mut component);
        }
        Ok(Built { component, state_bytes, printed })
    }

    /// An instance whose top level has run.
    fn run(&self, name: &str, bundle: &[u8]) -> Result<(Store<World>, Instance), SnapshotError> {
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY).trap_on_grow_failure(true).build();
        let input = format!("--initializer-script-path /{BINDINGS} --strip-path-prefix / {name}");
        let files = vec![(BINDINGS.to_owned(), self.bindings.clone()), (name.to_owned(), bundle.to_owned())];
        let world = World::new(input, self.environment.clone(), files, Random::from_bundle(bundle), limits, time());
        let mut store = Store::new(&self.engine, world);
        store.limiter(|world| &mut world.limits);
        store.set_epoch_deadline(1);
        let mut linker = Linker::new(&self.engine);
        wasi::define(&mut linker, &self.module).map_err(SnapshotError::engine)?;

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

/// The registry of tools that a component carries, as `componentize()` writes it.
fn made_by(tools: &[(String, String)]) -> ProducersSection {
    let mut processed = ProducersField::new();
    for (name, version) in tools {
        processed.value(name, version);
    }
    let mut producers = ProducersSection::new();
    producers.field("language", ProducersField::new().value("JavaScript", ""));
    producers.field("processed-by", &processed);
    producers
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

/// The engine of builds: nothing of it serves requests.
pub(crate) fn configured() -> Result<wasmtime::Engine, SnapshotError> {
    let mut config = Config::new();
    config.epoch_interruption(true);
    wasmtime::Engine::new(&config).map_err(SnapshotError::engine)
}

/// Names of what is kept: by what was prepared, and by wasmtime's version and configuration.
pub(crate) struct Files {
    pub(crate) code: String,
    pub(crate) template: String,
    pub(crate) bindings: String,
    pub(crate) environment: String,
}

impl Files {
    pub(crate) fn new(engine: &wasmtime::Engine, key: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        EDITION.hash(&mut hasher);
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let name = |extension: &str| format!("{key}-{:016x}.{extension}", hasher.clone().finish());
        Self {
            code: name("engine"),
            template: name("template"),
            bindings: name("bindings"),
            environment: name("settings"),
        }
    }

    pub(crate) fn prune(&self, folder: &Folder) {
        for name in [&self.code, &self.template, &self.bindings, &self.environment] {
            if let Some((_, extension)) = name.rsplit_once('.') {
                folder.prune(extension, KEPT);
            }
        }
    }
}
