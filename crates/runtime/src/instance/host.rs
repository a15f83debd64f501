//! The host state of an instance, in its store.
//!
//! Most requests only read the time and random bytes, make calls as records and write log lines. That leaves no state
//! for the next request, so those interfaces are linked apart from all others, which record their use ([`link`]).

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::cli::WasiCliCtxView;
use wasmtime_wasi::clocks::{WasiClocksCtxView, WasiClocksView};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::cli::environment;
use wasmtime_wasi::p2::bindings::clocks::{monotonic_clock, wall_clock};
use wasmtime_wasi::p2::bindings::random;
use wasmtime_wasi::p3::bindings as p3;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use crate::config::size;
use crate::instance::account::{Account, Charge, LIMIT, RESOURCE_BYTES, TableCharge, beyond};
use crate::instance::bounds::{Bounds, FIRST_YIELD};
use crate::instance::caller::Caller;
use crate::instance::calls::{self, OutboundCalls};
use crate::instance::egress::Egress;
use crate::instance::guest_log::GuestLog;
use crate::instance::holding;
use crate::instance::shared_state::SharedState;
use crate::metering::meter::Meter;
use crate::tape::Seam;
use crate::telemetry::module_info::ModuleInfo;

/// Random bytes that a guest gets by one call at most, which traps beyond.
pub(crate) const RANDOM_BYTES: u64 = 64 * 1024 * 1024;

/// The state of one store.
pub(crate) struct Host {
    wasi: WasiCtx,
    http: WasiHttpCtx,
    pub(crate) egress: Egress,
    /// The calls of the request by `sdk:core/calls`.
    pub(crate) calls: OutboundCalls,
    pub(crate) log: GuestLog,
    pub(crate) table: ResourceTable,
    pub(crate) bounds: Bounds,
    /// All bytes that are held here for the request.
    pub(crate) account: Account,
    /// Those of the resources in the table.
    resources: TableCharge,
    /// Those of the tasks, streams and futures of a service.
    tasks: Charge,
    /// Where the monotonic clock starts.
    started: Instant,
    /// The source of the request's values. Egress has none: it keeps its caller until the next request.
    pub(crate) seam: Seam,
    /// True when the instance has used an interface that may leave state here, such as a handle.
    touched: bool,
    /// True when the instance is as good as new.
    restored: bool,
}

impl Host {
    /// No files, no sockets, no arguments: the environment that was configured, and log lines that lead to the module and
    /// the request.
    pub(crate) fn new(shared_state: &Arc<SharedState>, module: &Arc<ModuleInfo>, mut caller: Caller) -> Self {
        let seam = std::mem::take(&mut caller.seam);
        let limits = &shared_state.limits;
        let masks = Arc::clone(&shared_state.masks);
        let log = GuestLog::new(Arc::clone(module), masks, &caller);
        let wasi = WasiCtx::builder()
            .envs(&shared_state.environment)
            .stdout(log.clone())
            .stderr(log.errors())
            .max_random_size(limits.max_hostcall_bytes.min(RANDOM_BYTES))
            .build();
        let mut http = WasiHttpCtx::new();
        http.set_field_size_limit(size(limits.max_fields_bytes));
        let mut table = ResourceTable::new();
        table.set_max_capacity(size(limits.max_resources));
        let account = Account::new(size(limits.max_held_bytes));
        #[cfg(test)]
        let account = Account::noting(account.most(), &shared_state.peak);
        let meter = caller.meter.clone();
        let egress = Egress::new(shared_state, module, caller, account.clone());
        let (calls, mut bounds, started) =
            (OutboundCalls::new(limits, account.clone()), Bounds::new(limits), Instant::now());
        let (resources, tasks) = (TableCharge::new(&account), account.charge());
        bounds.begin(meter);
        Self {
            wasi,
            http,
            egress,
            calls,
            log,
            table,
            bounds,
            account,
            resources,
            tasks,
            started,
            seam,
            touched: false,
            restored: false,
        }
    }

    /// Resets it to the state of a new instance. False when the instance has left state here.
    pub(crate) fn restore(&mut self) -> bool {
        self.restored = true;
        self.calls.clear();
        !self.touched && self.bounds.denied().is_none()
    }

    /// Charges bytes that a resource is about to hold.
    ///
    /// # Errors
    ///
    /// The trap of a guest for which the host would hold too much.
    pub(crate) fn hold(&mut self, bytes: usize) -> wasmtime::Result<()> {
        if self.resources.grow(bytes, &mut self.table) {
            return Ok(());
        }
        self.bounds.deny(LIMIT);
        Err(beyond(self.account.most()))
    }

    /// Charges the tasks, streams and futures of a service for as long as its instance lives.
    ///
    /// # Errors
    ///
    /// As [`Host::hold`].
    pub(crate) fn hold_tasks(&mut self, bytes: usize) -> wasmtime::Result<()> {
        if self.tasks.grow(bytes) { Ok(()) } else { Err(beyond(self.account.most())) }
    }

    /// Lends the table to a function of WASI, which makes one resource at most. The function fails when there is no room
    /// for another one.
    fn lend(&mut self) {
        self.touched = true;
        self.seam.spoil("the module uses interfaces of WASI that are not recorded");
        let has_room = self.hold(RESOURCE_BYTES).is_ok();
        self.table.set_max_capacity(if has_room { size(self.egress.limits().max_resources) } else { 0 });
    }

    /// The clocks, through an interface that leaves no state.
    fn clocks_alone(&mut self) -> WasiClocksCtxView<'_> {
        WasiClocksCtxView { ctx: self.wasi.clocks(), table: &mut self.table }
    }

    /// Reports whether the client used `https`.
    pub(crate) fn is_secure(&self) -> bool {
        self.egress.origin().is_secure()
    }

    /// Fails when a limit of the request's meter was reached: the guest traps.
    pub(crate) fn check(&self) -> wasmtime::Result<()> {
        self.bounds.meter.as_ref().map_or(Ok(()), Meter::check)
    }

    /// The epochs until the guest yields: one with a meter that has limits, whose time is exact.
    pub(crate) fn first_yield(&self) -> u64 {
        if self.bounds.meter.as_ref().is_some_and(Meter::is_bounded) { 1 } else { FIRST_YIELD }
    }

    /// The environment as it was configured.
    fn cli(&mut self) -> WasiCliCtxView<'_> {
        WasiCliCtxView { ctx: self.wasi.cli(), table: &mut self.table }
    }

    /// The request of the instance has its answer.
    pub(crate) fn end(&mut self) {
        // Before the transactions are rolled back: a call that still runs may belong to one.
        self.calls.clear();
        self.egress.end();
        self.log.end();
        self.seam = Seam::Live;
    }

    /// The instance goes on with another request.
    pub(crate) fn begin(&mut self, mut caller: Caller) {
        self.seam = std::mem::take(&mut caller.seam);
        if self.restored {
            self.started = Instant::now();
        }
        self.calls.clear();
        // Leftovers of earlier requests in a shared instance count.
        let _ = self.resources.measure(&mut self.table);
        self.log.begin(&caller);
        self.bounds.begin(caller.meter.clone());
        self.egress.begin(caller);
    }
}

/// All that a host has for an instance, comparable with that of a fresh one.
#[cfg(test)]
#[derive(Debug, PartialEq)]
pub(crate) struct Observed {
    environment: Vec<(String, String)>,
    egress: crate::instance::egress::Observed,
    calls: crate::instance::calls::Observed,
    log: crate::instance::guest_log::Observed,
    has_resources: bool,
    /// The limits for memory and tables, and the one that the guest has run into.
    limits: ([usize; 2], Option<&'static str>),
    held: usize,
    began_before: bool,
    touched: bool,
}

#[cfg(test)]
impl Host {
    /// All that the instance of a request finds here that began at `began`, and how much memory and how many table elements are
    /// counted. A field that is
    /// added is missed here by the compiler: it is to be compared, or the reason stands here why it is not.
    pub(crate) fn observed(&mut self, began: Instant) -> (Observed, [usize; 2]) {
        use environment::Host as _;
        let Self {
            wasi,
            http: _,
            egress,
            calls,
            log,
            table,
            bounds,
            account,
            started,
            touched,
            resources: _,
            tasks: _,
            seam: _,
            restored: _,
        } = self;
        // `wasi` has the environment, the log, and random numbers that nobody can foresee; the seeds of those that somebody could
        // are given out by interfaces that touch the host only. `http` has a limit, and nothing that changes it. `restored`
        // makes `begin` set `started`. `seam` is the request's own. `resources` and `tasks` are parts of `account`.
        let environment = WasiCliCtxView { ctx: wasi.cli(), table }.get_environment().unwrap_or_default();
        let (budgets, denied) = bounds.observed();
        let observed = Observed {
            environment,
            egress: egress.observed(),
            calls: calls.observed(),
            log: log.observed(),
            has_resources: !table.is_empty(),
            limits: (budgets.map(|(most, _)| most), denied),
            held: account.held(),
            began_before: *started < began,
            touched: *touched,
        };
        (observed, budgets.map(|(_, used)| used))
    }
}

/// Links all interfaces that a module may import.
pub(crate) fn link(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(linker)?;
    linker.allow_shadowing(true);
    random::random::add_to_linker::<Host, Random>(linker, |host| host)?;
    environment::add_to_linker::<Host, Environment>(linker, |host| host)?;
    wall_clock::add_to_linker::<Host, Wall>(linker, |host| host)?;
    monotonic_clock::add_to_linker::<Host, Monotonic>(linker, |host| host)?;
    holding::link(linker)?;
    linker.allow_shadowing(false);
    calls::link(linker)
}

/// Links the interfaces of WASI 0.3, which only services import, beside those of [`link`].
pub(crate) fn link_services(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    wasmtime_wasi::p3::add_to_linker(linker)?;
    wasmtime_wasi_http::p3::add_to_linker(linker)?;
    linker.allow_shadowing(true);
    p3::cli::environment::add_to_linker::<Host, Environment>(linker, |host| host)?;
    holding::link_services(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// The environment: the variables that were configured, and the facts of the request.
struct Environment;

impl HasData for Environment {
    type Data<'a> = &'a mut Host;
}

impl environment::Host for Host {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        if let Some(player) = self.seam.player() {
            return player.environment();
        }
        // The facts first: a request that asks for one of them finds it soon.
        let mut variables = self.egress.origin_variables();
        variables.extend(self.cli().get_environment()?);
        // Secrets are marked and replaced before anything is written (`tape::masked`).
        let each = variables.iter().map(|(name, value)| (name.as_str(), value.as_str(), false));
        self.seam.note(|tape| tape.environment(variables.len(), each));
        Ok(variables)
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        self.cli().get_arguments()
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        environment::Host::initial_cwd(&mut self.cli())
    }
}

impl p3::cli::environment::Host for Host {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        environment::Host::get_environment(self)
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        environment::Host::get_arguments(self)
    }

    fn get_initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        environment::Host::initial_cwd(self)
    }
}

/// Random values.
struct Random;

impl HasData for Random {
    type Data<'a> = &'a mut Host;
}

impl random::random::Host for Host {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        if let Some(player) = self.seam.player() {
            return player.random_bytes(length);
        }
        let bytes = random::random::Host::get_random_bytes(self.wasi.random(), length);
        let bytes = self.seam.refused(bytes)?;
        self.seam.note(|tape| tape.random_bytes(&bytes));
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        if let Some(player) = self.seam.player() {
            return player.random_number();
        }
        let number = random::random::Host::get_random_u64(self.wasi.random())?;
        self.seam.note(|tape| tape.random_number(number));
        Ok(number)
    }
}

/// The wall clock.
struct Wall;

impl HasData for Wall {
    type Data<'a> = &'a mut Host;
}

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

impl wall_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        if let Some(player) = self.seam.player() {
            let now = player.wall()?;
            return Ok(wall_clock::Datetime { seconds: now / SECOND, nanoseconds: (now % SECOND) as u32 });
        }
        let now = wall_clock::Host::now(&mut self.clocks_alone())?;
        let nanoseconds = now.seconds.saturating_mul(SECOND).saturating_add(now.nanoseconds.into());
        self.seam.note(|tape| tape.wall(nanoseconds));
        Ok(now)
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        wall_clock::Host::resolution(&mut self.clocks_alone())
    }
}

/// The monotonic clock: the time since the request began, or since the first request to an instance that is shared.
struct Monotonic;

impl HasData for Monotonic {
    type Data<'a> = &'a mut Host;
}

impl monotonic_clock::Host for Host {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        if let Some(player) = self.seam.player() {
            return player.monotonic();
        }
        let now = u64::try_from(self.started.elapsed().as_nanos())?;
        self.seam.note(|tape| tape.monotonic(now));
        Ok(now)
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        monotonic_clock::Host::resolution(&mut self.clocks_alone())
    }

    fn subscribe_instant(&mut self, when: monotonic_clock::Instant) -> wasmtime::Result<Resource<DynPollable>> {
        let now = monotonic_clock::Host::now(self)?;
        self.subscribe_duration(when.saturating_sub(now))
    }

    fn subscribe_duration(&mut self, duration: monotonic_clock::Duration) -> wasmtime::Result<Resource<DynPollable>> {
        self.clocks().subscribe_duration(duration)
    }
}

impl WasiView for Host {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.lend();
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for Host {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.lend();
        WasiHttpCtxView { ctx: &mut self.http, table: &mut self.table, hooks: &mut self.egress }
    }
}
