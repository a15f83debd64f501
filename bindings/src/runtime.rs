//! `tenon_runtime::Runtime` for Node.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use napi::bindgen_prelude::{Buffer, Latin1String, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_runtime::{Page, RuntimeError};
use tokio::net::{TcpListener, lookup_host};

use crate::failure::{Failure, compute, promise};
use crate::options::{self, NativeModule, RuntimeOptions, config};
use crate::recent::RecentRequest;
use crate::request::{NativePeer, lower, peer_of, whole};
use crate::server::Server;
use crate::usage::{NativeRemainders, remainders};

/// A page that is served from memory.
#[napi(object)]
pub struct NativePage {
    /// 200 when left out.
    pub status: Option<u16>,
    /// Its `Content-Type`.
    pub content_type: String,
    /// The body.
    pub body: Buffer,
    /// True when requests for it are left out of the recent ones; false when left out.
    pub unlisted: Option<bool>,
}

/// The whole work of the program that the option `compiler` names: compiles one component for another process. Reads from
/// standard input and writes to standard output.
#[napi]
pub fn compile_child() -> Result<()> {
    tenon_runtime::compile_child().map_err(|error| napi::Error::from_reason(error.to_string()))
}

/// Compiles a component ahead of time: for a processor of this machine's architecture, by default this one; or for a target, by default
/// for the processor that packages have code for. Rejects with `CONFIG` when a name is not known, or `ENGINE`.
#[napi]
pub fn compile_ahead<'env>(
    env: &'env Env,
    component: Buffer,
    cpu: Option<String>,
    target: Option<String>,
) -> Result<PromiseRaw<'env, Buffer>> {
    let component = Bytes::from(Vec::from(component));
    let compiled = compute(move || Ok(tenon_runtime::compile_ahead(&component, cpu.as_deref(), target.as_deref())?));
    promise(env, compiled, Buffer::from)
}

/// Modules that are loaded and can be called.
#[napi]
pub struct Runtime {
    pub(crate) runtime: Shared,
}

const CLOSED: &str = "the runtime is closed";

/// A runtime until it is released. Nothing of it waits for Node's garbage collector then.
#[derive(Clone)]
pub(crate) struct Shared(Arc<RwLock<Option<tenon_runtime::Runtime>>>);

impl Shared {
    fn new(runtime: tenon_runtime::Runtime) -> Self {
        Self(Arc::new(RwLock::new(Some(runtime))))
    }

    /// # Errors
    ///
    /// `REQUEST` when it is released.
    pub(crate) fn get(&self) -> std::result::Result<tenon_runtime::Runtime, Failure> {
        self.get_or("REQUEST")
    }

    /// As [`Self::get`], with another code when it is released.
    fn get_or(&self, code: &'static str) -> std::result::Result<tenon_runtime::Runtime, Failure> {
        let runtime = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        runtime.ok_or_else(|| Failure::new(code, CLOSED))
    }

    /// As [`Self::get`], for a function that throws.
    pub(crate) fn get_or_throw(&self) -> Result<tenon_runtime::Runtime> {
        self.get().map_err(|_| napi::Error::from_reason(CLOSED))
    }
}

#[napi]
impl Runtime {
    /// Loads the modules. Rejects with a code: `CONFIG`, `ENGINE`, `MODULE_READ`, `MODULE_COMPILE`, `MODULE_LINK`, or
    /// `INTERNAL` when the loader itself fails.
    #[napi]
    pub fn create<'env>(env: &'env Env, options: RuntimeOptions) -> Result<PromiseRaw<'env, Runtime>> {
        let create = async move {
            if let Some(level) = &options.log_level {
                tenon_log::start(level, options.log_format.as_deref().unwrap_or("readable"))?;
            }
            Ok(tenon_runtime::Runtime::new(config(options)?).await?)
        };
        promise(env, create, |runtime| Runtime { runtime: Shared::new(runtime) })
    }

    /// The names of the modules, sorted.
    #[napi]
    pub fn modules(&self) -> Result<Vec<String>> {
        Ok(self.runtime.get_or_throw()?.modules())
    }

    /// Loads a module anew, from `path` when given, and puts it in the place of the one that serves. Rejects as `create`
    /// does; the old one goes on serving then.
    #[napi]
    pub fn reload<'env>(&self, env: &'env Env, name: String, path: Option<String>) -> Result<PromiseRaw<'env, ()>> {
        let runtime = self.runtime.clone();
        let reload = async move { Ok(runtime.get()?.reload(&name, path.map(Into::into)).await?) };
        promise(env, reload, |()| ())
    }

    /// Loads a module with a policy, as `reload` does.
    #[napi]
    pub fn load<'env>(&self, env: &'env Env, module: NativeModule) -> Result<PromiseRaw<'env, ()>> {
        let runtime = self.runtime.clone();
        let reload = async move { Ok(runtime.get()?.load(options::module(module)?).await?) };
        promise(env, reload, |()| ())
    }

    /// Makes the modules those of a list, all at once, while the old ones serve. Rejects as `create` does; all old ones go on
    /// serving then.
    #[napi]
    pub fn update<'env>(&self, env: &'env Env, modules: Vec<NativeModule>) -> Result<PromiseRaw<'env, ()>> {
        let runtime = self.runtime.clone();
        let update = async move {
            let modules = modules.into_iter().map(options::module).collect::<std::result::Result<_, _>>()?;
            Ok(runtime.get()?.update(modules).await?)
        };
        promise(env, update, |()| ())
    }

    /// Reports whether a request is for a module. `head` and `peer` are as in `Calls.begin`; false when HTTP does not allow
    /// such a request.
    #[napi]
    pub fn is_for_module(&self, head: Latin1String, peer: Option<NativePeer>) -> Result<bool> {
        let runtime = self.runtime.get_or_throw()?;
        let request = lower(&head, whole(None));
        Ok(request.is_ok_and(|request| runtime.is_for_module(peer_of(peer), &request.into_parts().0)))
    }

    /// Notes in `/health` that there is a newer configuration, which cannot be served.
    #[napi]
    pub fn note_failed_update(&self) {
        if let Ok(runtime) = self.runtime.get() {
            runtime.note_failed_update();
        }
    }

    /// Has `/ready` answer 503, and resolves after `drain_ms`; requests are accepted meanwhile.
    #[napi]
    pub fn drain<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let runtime = self.runtime.clone();
        let drain = async move {
            runtime.get()?.drain().await;
            Ok(())
        };
        promise(env, drain, |()| ())
    }

    /// The metrics so far, in the text format of Prometheus.
    #[napi]
    pub fn metrics(&self) -> Result<String> {
        Ok(self.runtime.get_or_throw()?.metrics())
    }

    /// The remainders of the modules that have a budget, by their names, sorted.
    #[napi]
    pub fn budgets(&self) -> Result<Vec<NativeRemainders>> {
        Ok(self.runtime.get_or_throw()?.budgets().into_iter().map(remainders).collect())
    }

    /// Resolves when no request runs, which waits for a second at most, and the traces of all are sent, if they are sent anywhere.
    #[napi]
    pub fn flush<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let runtime = self.runtime.clone();
        let flush = async move {
            let runtime = runtime.get()?;
            runtime.settle().await;
            runtime.flush().await;
            Ok(())
        };
        promise(env, flush, |()| ())
    }

    /// The last 200 requests, oldest first.
    #[napi]
    pub fn recent_requests(&self) -> Result<Vec<RecentRequest>> {
        Ok(self.runtime.get_or_throw()?.recent_requests().into_iter().map(RecentRequest::from).collect())
    }

    /// For development: serves a page at an exact path, before everything else; left out, takes it away.
    #[napi]
    pub fn set_page(&self, path: String, page: Option<NativePage>) -> Result<()> {
        let page = match page {
            None => None,
            Some(page) => Some(Page {
                status: StatusCode::from_u16(page.status.unwrap_or(200))
                    .map_err(|error| napi::Error::from_reason(error.to_string()))?,
                content_type: HeaderValue::try_from(page.content_type)
                    .map_err(|error| napi::Error::from_reason(error.to_string()))?,
                body: Bytes::from(Vec::from(page.body)),
                unlisted: page.unlisted.unwrap_or(false),
            }),
        };
        self.runtime.get_or_throw()?.set_page(path, page);
        Ok(())
    }

    /// For development: while it is set, browsers that ask for the module get this page with status 500.
    #[napi]
    pub fn set_build_error(&self, module: String, html: Option<String>) -> Result<()> {
        self.runtime.get_or_throw()?.set_build_error(module, html.map(Bytes::from));
        Ok(())
    }

    /// Frees the modules and their memory as soon as the requests that run have ended. Nothing else can be done with it then.
    #[napi]
    pub fn release(&self) {
        *self.runtime.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Listens on a host name or address and a port; 0 takes a free one. `localNames`: requests must name this machine,
    /// where the address is a loopback one. `operations`: it serves `/metrics`, `/health` and `/ready` alone. Rejects with `ADDRESS_IN_USE` or `LISTEN`.
    #[napi]
    pub fn listen<'env>(
        &self,
        env: &'env Env,
        host: String,
        port: u16,
        local_names: bool,
        operations: bool,
    ) -> Result<PromiseRaw<'env, Server>> {
        let runtime = self.runtime.clone();
        let listen = async move {
            let unknown = |reason: String| Failure::new("LISTEN", format!("cannot listen on {host}:{port}: {reason}"));
            let address: SocketAddr = lookup_host((host.as_str(), port))
                .await
                .map_err(|error| unknown(error.to_string()))?
                .next()
                .ok_or_else(|| unknown("the name has no address".to_string()))?;
            let listener =
                TcpListener::bind(address).await.map_err(|source| RuntimeError::Listen { address, source })?;
            let runtime = runtime.get_or("LISTEN")?;
            Ok(match (operations, local_names) {
                (true, _) => runtime.listen_for_operations(listener),
                (false, true) => runtime.listen_locally(listener),
                (false, false) => runtime.listen(listener),
            })
        };
        promise(env, listen, Server::new)
    }

    /// Serves the socket of another runtime's server, for the same clients, until both are closed. Rejects with `LISTEN`.
    #[napi]
    pub fn take_over<'env>(&self, env: &'env Env, former: &Server) -> Result<PromiseRaw<'env, Server>> {
        let (runtime, socket) = (self.runtime.clone(), former.socket());
        let failed = |error: io::Error| Failure::new("LISTEN", format!("cannot take over the socket: {error}"));
        promise(
            env,
            async move { runtime.get_or("LISTEN")?.take_over(socket.map_err(failed)?).map_err(failed) },
            Server::new,
        )
    }
}
