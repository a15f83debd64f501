//! The modules by name: how they are loaded, replaced while they serve, and what becomes of one that cannot be loaded.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use wasmtime::component::Linker;

use crate::config::{Isolation, ModuleSource, ms, size};
use crate::engine::SharedEngine;
use crate::error::RuntimeError;
use crate::host::{Host, Surroundings};
use crate::module::Module;
use crate::watch::watch;

/// What is needed to load a module; the same for all, so that they share one engine and its pool.
pub(crate) struct Loader {
    pub(crate) engine: SharedEngine,
    pub(crate) linker: Linker<Host>,
    pub(crate) cache: Option<PathBuf>,
    pub(crate) surroundings: Arc<Surroundings>,
    pub(crate) isolation: Isolation,
    /// How many modules there are at the start.
    pub(crate) modules: usize,
}

/// The modules of a runtime.
pub(crate) struct Registry {
    loader: Arc<Loader>,
    concurrent: usize,
    slots: RwLock<BTreeMap<String, Arc<Slot>>>,
}

/// A name under which requests come in, and what is behind it at the moment.
pub(crate) struct Slot {
    path: PathBuf,
    pub(crate) state: State,
    /// The places of requests that run in this module. A module that replaces another takes its places over.
    pub(crate) places: Arc<Semaphore>,
}

/// Whether a module can be called.
pub(crate) enum State {
    /// It serves.
    Ready(Arc<Module>),
    /// It could not be loaded; the reason is in the log, and is none of a client's business.
    Failed,
}

impl Registry {
    /// Loads the modules side by side. One that fails is logged and answers 503 from then on.
    ///
    /// # Errors
    ///
    /// A name that is given twice, or, when not one module can be served, what is wrong with the first, which is told here
    /// and not in the log.
    pub(crate) async fn load(loader: Loader, modules: Vec<ModuleSource>) -> Result<Self, RuntimeError> {
        let concurrent = size(loader.surroundings.limits.concurrent_per_module());
        let registry = Self { loader: Arc::new(loader), concurrent, slots: RwLock::default() };
        refuse_duplicates(&modules)?;
        // As many at a time as there are processors: compiling takes memory by the hundred megabytes.
        let at_once = std::thread::available_parallelism().map_or(2, usize::from);
        let mut waiting = modules.into_iter();
        let mut loading = JoinSet::new();
        let mut failures = Vec::new();
        loop {
            while loading.len() < at_once
                && let Some(source) = waiting.next()
            {
                loading.spawn(load(Arc::clone(&registry.loader), source));
            }
            let Some(loaded) = loading.join_next().await else { break };
            let (source, loaded) = loaded.map_err(|error| RuntimeError::Config(format!("loading failed: {error}")))?;
            let state = match loaded {
                Ok(module) => State::Ready(registry.looked_after(module)),
                Err(error) => {
                    failures.push((source.name.clone(), error));
                    State::Failed
                }
            };
            registry.put(source, state);
        }
        let none_is_ready = registry.ready().is_empty();
        let mut failures = failures.into_iter();
        let fatal = if none_is_ready { failures.next() } else { None };
        for (name, error) in failures {
            tracing::error!(module = &*name, "{error}");
        }
        fatal.map_or(Ok(registry), |(_, error)| Err(error))
    }

    /// Loads a module anew, from `path` when one is given, and puts it in the place of the one that serves. Requests that
    /// run in the old one finish there. A name that is not known yet is added, and needs a path.
    ///
    /// # Errors
    ///
    /// What is wrong with the new component; the old one goes on serving.
    pub(crate) async fn reload(&self, name: &str, path: Option<PathBuf>) -> Result<(), RuntimeError> {
        let known = self.get(name).map(|slot| slot.path.clone());
        let Some(path) = path.or(known) else {
            return Err(RuntimeError::Config(format!("no module is called {name}, and no file is given for it")));
        };
        let source = ModuleSource { name: name.to_string(), path };
        check_name(&source)?;
        let (source, loaded) = load(Arc::clone(&self.loader), source).await;
        let module = self.looked_after(loaded?);
        self.put(source, State::Ready(module));
        Ok(())
    }

    fn looked_after(&self, module: Module) -> Arc<Module> {
        let (module, memories) = (Arc::new(module), self.loader.engine.memories.clone());
        watch(&module, ms(self.loader.surroundings.limits.idle_timeout_ms), move |module| module.look(&memories));
        module
    }

    fn put(&self, source: ModuleSource, state: State) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let places = match slots.get(&source.name) {
            Some(slot) => Arc::clone(&slot.places),
            None => Arc::new(Semaphore::new(self.concurrent)),
        };
        slots.insert(source.name, Arc::new(Slot { path: source.path, state, places }));
    }

    /// What is behind a name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All names, sorted, and whether they serve.
    pub(crate) fn states(&self) -> Vec<(String, bool)> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().map(|(name, slot)| (name.clone(), matches!(slot.state, State::Ready(_)))).collect()
    }

    /// How many instances wait for a request.
    pub(crate) fn idle(&self) -> usize {
        self.ready().iter().filter_map(|module| module.reuse.waiting()).map(|warm| warm.len()).sum()
    }

    /// The modules that serve.
    pub(crate) fn ready(&self) -> Vec<Arc<Module>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let ready = slots.values().filter_map(|slot| match &slot.state {
            State::Ready(module) => Some(Arc::clone(module)),
            State::Failed => None,
        });
        ready.collect()
    }
}

/// Loads one module and makes its first instances, on threads that may compute for seconds.
async fn load(loader: Arc<Loader>, source: ModuleSource) -> (ModuleSource, Result<Module, RuntimeError>) {
    let (using, of) = (Arc::clone(&loader), source.clone());
    let loaded = tokio::task::spawn_blocking(move || Module::load(&using, &of)).await;
    let loaded =
        loaded.unwrap_or_else(|error| Err(RuntimeError::Config(format!("{}: loading failed: {error}", source.name))));
    if let Ok(module) = &loaded {
        module.warm_up(&loader).await;
    }
    (source, loaded)
}

fn refuse_duplicates(modules: &[ModuleSource]) -> Result<(), RuntimeError> {
    let mut known = HashMap::new();
    for source @ ModuleSource { name, path } in modules {
        check_name(source)?;
        if let Some(other) = known.insert(name, path) {
            let (one, two) = (other.display(), path.display());
            return Err(RuntimeError::Config(format!(
                "two modules are called {name}; rename one of the files {one} and {two}"
            )));
        }
    }
    Ok(())
}

/// A name is a segment of a path that needs no escaping (RFC 3986, section 2.3), and that no client takes for another folder.
fn check_name(ModuleSource { name, path }: &ModuleSource) -> Result<(), RuntimeError> {
    let unreserved = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    if name.chars().all(unreserved) && !matches!(name.as_str(), "" | "." | "..") {
        return Ok(());
    }
    let path = path.display();
    Err(RuntimeError::Config(format!(
        "{name:?} cannot be the name of a module: it is a part of a URL and has letters of ASCII, digits, \"-\", \".\", \"_\" and \"~\"; rename {path}"
    )))
}
