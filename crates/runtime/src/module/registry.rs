//! The modules by name: loading, replacement while they serve, and failed ones.

mod load;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::admission::watch::watch;
use crate::admission::{Admission, ModulePermits};
use crate::config::{ModuleSource, ms};
use crate::error::RuntimeError;
use crate::instance::shared_state::SharedState;
use crate::metering::budget::Budget;
use crate::module::Module;
use crate::module::inherited::Inherited;
use crate::module::loader::Loader;
use crate::module::mounts::Mounts;
use crate::module::stamp::Stamp;
use crate::request::health::READY;
use load::load;

/// The modules of a runtime.
pub(crate) struct Registry {
    shelf: Arc<Shelf>,
    /// The modules that still load, when start-up did not wait for them.
    late: Option<AbortHandle>,
}

/// The modules by name, and the parts needed to load one.
struct Shelf {
    loader: Arc<Loader>,
    admission: Arc<Admission>,
    table: RwLock<Table>,
}

/// The modules that are served, and where.
#[derive(Default)]
struct Table {
    slots: BTreeMap<String, Arc<ModuleSlot>>,
    mounts: Mounts,
}

/// A module's name, and the module that currently serves it.
#[derive(Clone)]
pub(crate) struct ModuleSlot {
    pub(crate) source: ModuleSource,
    /// The stamp of the loaded file; none without a file.
    stamp: Option<Stamp>,
    pub(crate) shared_state: Arc<SharedState>,
    pub(crate) state: State,
    /// A module that replaces another takes over its permits.
    pub(crate) permits: Arc<ModulePermits>,
    /// It takes over its budget as well.
    pub(crate) budget: Arc<Budget>,
}

/// Returns the stamp of a module's file. None without one: bytes are compared themselves.
fn stamp_of(source: &ModuleSource) -> Option<Stamp> {
    source.bytes.is_none().then(|| Stamp::of(&source.path).ok()).flatten()
}

/// State of a module.
#[derive(Clone)]
pub(crate) enum State {
    /// It serves.
    Ready(Arc<Module>),
    /// It is loading for the first time.
    Loading,
    /// It could not be loaded; the reason is in the log, and hidden from clients.
    Failed,
}

/// A module's share of the processors and of the permits, beside the shares of others.
fn weight(source: &ModuleSource) -> u32 {
    source.policy.budget.and_then(|budget| budget.weight).unwrap_or(1)
}

impl State {
    /// Gives a module that serves its share of the processors.
    fn weigh(&self, source: &ModuleSource) {
        if let Self::Ready(module) = self {
            module.compute.weigh(weight(source));
        }
    }

    /// Its name in `/health`.
    fn name(&self) -> &'static str {
        match self {
            Self::Ready(_) => READY,
            Self::Loading => "loading",
            Self::Failed => "failed",
        }
    }
}

/// The end of a task that loads a module.
type Ended = Result<(Id, Result<Module, RuntimeError>), JoinError>;

fn id_of(ended: &Ended) -> Id {
    ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id)
}

/// The loaded module, or its failure. A panic of the task is one of the loader.
fn outcome(name: &str, ended: Ended) -> Result<Module, RuntimeError> {
    match ended {
        Ok((_, loaded)) => loaded,
        Err(error) => Err(RuntimeError::Internal { name: name.to_string(), reason: error.to_string() }),
    }
}

/// Modules that load, and the slots in which they were announced.
#[derive(Default)]
struct Loading {
    tasks: JoinSet<Result<Module, RuntimeError>>,
    announced: HashMap<Id, (String, Arc<ModuleSlot>)>,
}

impl Loading {
    fn start(
        &mut self,
        shelf: &Shelf,
        source: ModuleSource,
        shared_state: Arc<SharedState>,
    ) -> Result<(), RuntimeError> {
        let (name, loader) = (source.name.clone(), Arc::clone(&shelf.loader));
        let stamp = stamp_of(&source);
        let slot = shelf.put(source.clone(), stamp, Arc::clone(&shared_state), State::Loading)?;
        let task = self.tasks.spawn(async move { load(loader, source, shared_state, false).await });
        self.announced.insert(task.id(), (name, slot));
        Ok(())
    }

    /// Waits for the next module, and registers it. None when there is no other; else its failure, if it failed.
    async fn next(&mut self, shelf: &Shelf) -> Option<Option<Failure>> {
        let ended = self.tasks.join_next_with_id().await?;
        let (name, slot) = self.announced.remove(&id_of(&ended))?;
        let loaded = outcome(&name, ended);
        Some(shelf.take(&name, &slot, loaded).err().map(|error| (name, error)))
    }
}

/// The name of a module, and the reason for which it is not served.
type Failure = (String, RuntimeError);

impl Registry {
    /// Loads the modules side by side. One that fails is logged and answers 503 from then on. Resolves when all have loaded
    /// or failed, or when `startup_timeout_ms` is over and one of them is ready; the others go on loading.
    ///
    /// # Errors
    ///
    /// A name or a mount that is given twice, a limit that a module cannot have, or, when not one module can be served, the
    /// failure of the first, which is returned here and not logged.
    pub(crate) async fn load(
        loader: Loader,
        admission: Arc<Admission>,
        modules: Vec<ModuleSource>,
    ) -> Result<Self, RuntimeError> {
        refuse_duplicates(&modules)?;
        Mounts::of(&modules)?;
        let shared_state = modules.iter().map(|source| loader.inherited.shared_state(source));
        let shared_state = shared_state.collect::<Result<Vec<_>, _>>()?;
        let timeout = ms(loader.inherited.limits.startup_timeout_ms);
        let shelf = Arc::new(Shelf { loader: Arc::new(loader), admission, table: RwLock::default() });
        let mut loading = Loading::default();
        for (source, shared_state) in modules.into_iter().zip(shared_state) {
            loading.start(&shelf, source, shared_state)?;
        }
        let mut failures = Vec::new();
        let ends = Instant::now() + timeout;
        loop {
            // Without a module that serves there is nothing to start with.
            let next = if shelf.ready().is_empty() {
                loading.next(&shelf).await
            } else {
                let next = timeout_at(ends, loading.next(&shelf)).await;
                next.unwrap_or_default()
            };
            let Some(failure) = next else { break };
            failures.extend(failure);
        }
        let mut failures = failures.into_iter();
        let fatal = if shelf.ready().is_empty() { failures.next() } else { None };
        failures.for_each(log);
        if let Some((_, error)) = fatal {
            return Err(error);
        }
        let late = (!loading.announced.is_empty()).then(|| {
            let names: Vec<_> = loading.announced.values().map(|(name, _)| &**name).collect();
            tracing::warn!("start-up does not wait for {}, which still load", names.join(", "));
            tokio::spawn(finish(Arc::clone(&shelf), loading)).abort_handle()
        });
        Ok(Self { shelf, late })
    }

    /// Loads a module anew, from `path` when one is given, and puts it in the place of the one that serves. Requests that
    /// run in the old one finish there. A name that is not known yet is added, and needs a path.
    ///
    /// # Errors
    ///
    /// The reason why the new component cannot be served; the old one goes on serving.
    pub(crate) async fn reload(&self, name: &str, path: Option<PathBuf>) -> Result<(), RuntimeError> {
        let known = self.get(name).map(|slot| slot.source.clone());
        let source = match (path, known) {
            (Some(path), Some(known)) => ModuleSource { path, bytes: None, ..known },
            (Some(path), None) => ModuleSource::new(name, path),
            (None, Some(known)) => known,
            (None, None) => {
                return Err(RuntimeError::Config(format!("no module is called {name}, and no file is given for it")));
            }
        };
        self.put(source).await
    }

    /// Loads a module, and puts it in the place of the one of its name, if there is one.
    ///
    /// # Errors
    ///
    /// The reason why the component or its policy cannot be served; the old one goes on serving.
    pub(crate) async fn put(&self, source: ModuleSource) -> Result<(), RuntimeError> {
        check_name(&source)?;
        // Before it is compiled for nothing; another module may still take the mount meanwhile.
        self.shelf.table().mounts_with(&source)?;
        let shared_state = self.shelf.shared_state(&source)?;
        let stamp = stamp_of(&source);
        let replaces = self.get(&source.name).is_some_and(|slot| matches!(slot.state, State::Ready(_)));
        let loader = Arc::clone(&self.shelf.loader);
        let module = load(loader, source.clone(), Arc::clone(&shared_state), replaces).await?;
        let module = self.shelf.looked_after(module);
        self.shelf.put(source, stamp, shared_state, State::Ready(module))?;
        Ok(())
    }

    /// Makes the modules those of a list. Modules whose file or policy has changed are loaded while the old ones serve; then all
    /// take over at once, and modules that are not in the list are gone. Requests that run finish where they are.
    ///
    /// # Errors
    ///
    /// The reason why one of them cannot be served, and then all old ones go on serving. A module that could not be loaded
    /// before and still cannot is only logged.
    pub(crate) async fn update(&self, modules: Vec<ModuleSource>) -> Result<(), RuntimeError> {
        refuse_duplicates(&modules)?;
        let mounts = Mounts::of(&modules)?;
        let shelf = &self.shelf;
        let (mut loading, mut names) = (JoinSet::new(), HashMap::new());
        let mut next = Vec::new();
        for source in modules {
            let (stamp, shared_state) = (stamp_of(&source), shelf.shared_state(&source)?);
            let name = source.name.clone();
            let known = self.get(&name);
            let is_same = known.as_ref().is_some_and(|slot| {
                (&slot.source.path, &slot.source.bytes, slot.stamp) == (&source.path, &source.bytes, stamp)
                    && Arc::ptr_eq(&slot.shared_state, &shared_state)
                    && (matches!(slot.state, State::Ready(_))
                        || (matches!(slot.state, State::Loading) && slot.source == source))
            });
            if !is_same {
                let replaces = known.is_some_and(|slot| matches!(slot.state, State::Ready(_)));
                let (loader, source, shared_state) =
                    (Arc::clone(&shelf.loader), source.clone(), Arc::clone(&shared_state));
                let task = loading.spawn(load(loader, source, shared_state, replaces));
                names.insert(task.id(), name);
            }
            next.push((source, stamp, shared_state));
        }
        let mut loaded = HashMap::new();
        let mut failures = Vec::new();
        while let Some(ended) = loading.join_next_with_id().await {
            let Some(name) = names.remove(&id_of(&ended)) else { continue };
            let had_failed = self.get(&name).is_some_and(|slot| matches!(slot.state, State::Failed));
            match outcome(&name, ended) {
                Ok(module) => drop(loaded.insert(name, State::Ready(shelf.looked_after(module)))),
                Err(error) if had_failed => {
                    log((name.clone(), error));
                    loaded.insert(name, State::Failed);
                }
                Err(error) => failures.push((name, error)),
            }
        }
        let mut failures = failures.into_iter();
        if let Some((_, error)) = failures.next() {
            failures.for_each(log);
            return Err(error);
        }
        shelf.replace(next, loaded, mounts);
        Ok(())
    }

    /// The module of a name.
    pub(crate) fn get(&self, name: &str) -> Option<Arc<ModuleSlot>> {
        self.shelf.table().slots.get(name).cloned()
    }

    /// The module that is mounted where a request for a host and a path goes, and its mount.
    pub(crate) fn mounted(&self, host: Option<&str>, path: &str) -> Option<(Arc<ModuleSlot>, Arc<str>)> {
        let table = self.shelf.table();
        let (name, mount) = table.mounts.find(host, path)?;
        Some((Arc::clone(table.slots.get(name)?), Arc::clone(mount)))
    }

    /// All modules, sorted by name.
    pub(crate) fn all(&self) -> Vec<(String, Arc<ModuleSlot>)> {
        self.shelf.table().slots.iter().map(|(name, slot)| (name.clone(), Arc::clone(slot))).collect()
    }

    /// The server's policy.
    pub(crate) fn inherited(&self) -> &Inherited {
        &self.shelf.loader.inherited
    }

    /// All names, sorted, and their states as `/health` names them.
    pub(crate) fn states(&self) -> Vec<(String, &'static str)> {
        self.shelf.table().slots.iter().map(|(name, slot)| (name.clone(), slot.state.name())).collect()
    }

    /// How many instances wait for a request.
    pub(crate) fn idle(&self) -> usize {
        self.ready().iter().filter_map(|module| module.reuse.waiting()).map(|warm| warm.len()).sum()
    }

    /// The modules that serve.
    pub(crate) fn ready(&self) -> Vec<Arc<Module>> {
        self.shelf.ready()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        if let Some(late) = &self.late {
            late.abort();
        }
    }
}

impl Shelf {
    fn table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The permits of a module, which takes over those of the one before it. A module that failed has no share.
    fn permits(
        &self,
        (source, state): (&ModuleSource, &State),
        shared_state: &SharedState,
        before: Option<&Arc<ModuleSlot>>,
    ) -> Arc<ModulePermits> {
        let permits = self.admission.permits(&shared_state.limits, weight(source), before.map(|slot| &slot.permits));
        if matches!(state, State::Failed) {
            permits.give_up();
        }
        permits
    }

    fn looked_after(&self, module: Module) -> Arc<Module> {
        let module = Arc::new(module);
        watch(&module, ms(self.loader.inherited.limits.idle_timeout_ms), Module::look);
        module
    }

    /// Puts a state behind a name, in the place of the one that is there.
    ///
    /// # Errors
    ///
    /// As [`Mounts::of`]. Then everything stays as it is.
    fn put(
        &self,
        source: ModuleSource,
        stamp: Option<Stamp>,
        shared_state: Arc<SharedState>,
        state: State,
    ) -> Result<Arc<ModuleSlot>, RuntimeError> {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        table.mounts = table.mounts_with(&source)?;
        let before = table.slots.get(&source.name);
        #[cfg(test)]
        let before = crate::crossing::before(before, table.slots.values().next(), &shared_state);
        let permits = self.permits((&source, &state), &shared_state, before);
        let budget = Budget::of(source.policy.budget.as_ref(), before.map(|slot| &slot.budget));
        state.weigh(&source);
        let name = source.name.clone();
        let slot = Arc::new(ModuleSlot { source, stamp, shared_state, state, permits, budget });
        table.slots.insert(name, Arc::clone(&slot));
        Ok(slot)
    }

    /// Puts modules and their mounts in the place of all that there are. A module that was not loaded anew stays as it is.
    fn replace(
        &self,
        modules: Vec<(ModuleSource, Option<Stamp>, Arc<SharedState>)>,
        mut loaded: HashMap<String, State>,
        mounts: Mounts,
    ) {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let mut slots = BTreeMap::new();
        for (source, stamp, shared_state) in modules {
            let name = source.name.clone();
            let slot = match (loaded.remove(&name), table.slots.get(&name)) {
                (None, Some(before)) if before.source == source => Arc::clone(before),
                (state, before) => {
                    let state = state.or_else(|| Some(before?.state.clone())).unwrap_or(State::Failed);
                    let permits = self.permits((&source, &state), &shared_state, before);
                    let budget = Budget::of(source.policy.budget.as_ref(), before.map(|slot| &slot.budget));
                    state.weigh(&source);
                    Arc::new(ModuleSlot { source, stamp, shared_state, state, permits, budget })
                }
            };
            slots.insert(name, slot);
        }
        let old = std::mem::replace(&mut *table, Table { slots, mounts });
        drop(table);
        // Outside the lock, because instances may go with it.
        drop(old);
    }

    /// The shared_state of a module: those of the module of its name, if it finds the same there.
    fn shared_state(&self, source: &ModuleSource) -> Result<Arc<SharedState>, RuntimeError> {
        let shared_state = self.loader.inherited.shared_state(source)?;
        let known = self.table().slots.get(&source.name).map(|slot| Arc::clone(&slot.shared_state));
        Ok(known.filter(|known| known.are_like(&shared_state)).unwrap_or(shared_state))
    }

    /// Takes in a module that was announced, unless it was replaced meanwhile.
    fn take(
        &self,
        name: &str,
        announced: &Arc<ModuleSlot>,
        loaded: Result<Module, RuntimeError>,
    ) -> Result<(), RuntimeError> {
        let (state, outcome) = match loaded {
            Ok(module) => (State::Ready(self.looked_after(module)), Ok(())),
            Err(error) => (State::Failed, Err(error)),
        };
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = table.slots.get_mut(name)
            && Arc::ptr_eq(slot, announced)
        {
            state.weigh(&announced.source);
            if outcome.is_err() {
                announced.permits.give_up();
            }
            *slot = Arc::new(ModuleSlot { state, ..ModuleSlot::clone(announced) });
        }
        outcome
    }

    fn ready(&self) -> Vec<Arc<Module>> {
        let table = self.table();
        let ready = table.slots.values().filter_map(|slot| match &slot.state {
            State::Ready(module) => Some(Arc::clone(module)),
            State::Loading | State::Failed => None,
        });
        ready.collect()
    }
}

impl Table {
    /// The mounts with those of one more module, or of a module that changes.
    ///
    /// # Errors
    ///
    /// As [`Mounts::of`].
    fn mounts_with(&self, source: &ModuleSource) -> Result<Mounts, RuntimeError> {
        let others = self.slots.values().map(|slot| &slot.source).filter(|other| other.name != source.name);
        Mounts::of(others.chain([source]))
    }
}

/// Takes in the modules for which start-up did not wait.
async fn finish(shelf: Arc<Shelf>, mut loading: Loading) {
    while let Some(failure) = loading.next(&shelf).await {
        failure.into_iter().for_each(log);
    }
}

fn log((name, error): Failure) {
    tracing::error!(module = &*name, "{error}");
}

fn refuse_duplicates(modules: &[ModuleSource]) -> Result<(), RuntimeError> {
    let mut known = HashMap::new();
    for source @ ModuleSource { name, path, .. } in modules {
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
fn check_name(ModuleSource { name, path, .. }: &ModuleSource) -> Result<(), RuntimeError> {
    let unreserved = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~');
    if name.chars().all(unreserved) && !matches!(name.as_str(), "" | "." | "..") {
        return Ok(());
    }
    let path = path.display();
    Err(RuntimeError::Config(format!(
        "{name:?} cannot be the name of a module: it is a part of a URL and has letters of ASCII, digits, \"-\", \".\", \"_\" and \"~\"; rename {path}"
    )))
}
