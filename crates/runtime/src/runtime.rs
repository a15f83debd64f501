//! The runtime itself: modules that are loaded, and the way of a request to one of them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response};
use http_body::Body;
use tenon_transport::Transport;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::body::{self, ResponseBody};
use crate::call::{self, Failure};
use crate::config::{Limits, RuntimeConfig};
use crate::engine::engine;
use crate::error::RuntimeError;
use crate::host::Surroundings;
use crate::module::{Entry, Module};
use crate::problem::{JsonString, Problem};
use crate::request_id;
use crate::route::{Route, with_path};
use crate::server::Server;

/// Serves modules. Cloning is cheap and shares everything.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

struct Shared {
    modules: HashMap<String, Arc<Module>>,
    surroundings: Arc<Surroundings>,
    limits: Limits,
    places: Arc<Semaphore>,
    started: Instant,
}

impl Runtime {
    /// Loads the modules. Without cached code this computes for seconds a module, so it runs on threads of its own.
    ///
    /// # Errors
    ///
    /// The first module that cannot be served, a name that is given twice, or an engine that cannot be set up.
    pub async fn new(config: RuntimeConfig) -> Result<Self, RuntimeError> {
        let engine = shared_engine(&config.limits)?;
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).map_err(RuntimeError::Engine)?;
        wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker).map_err(RuntimeError::Engine)?;

        let transport = Transport::new(config.sidecars);
        let mut environment = transport.environment();
        environment.extend(config.environment);
        let limits = config.limits;
        let surroundings =
            Arc::new(Surroundings { environment, transport, memory_limit_bytes: limits.memory_limit_bytes });

        let linker = Arc::new(linker);
        let mut loading = Vec::with_capacity(config.modules.len());
        for source in config.modules {
            let (engine, linker, cache) = (engine.clone(), Arc::clone(&linker), config.cache.clone());
            loading
                .push(tokio::task::spawn_blocking(move || Module::load(&engine, &linker, &source, cache.as_deref())));
        }
        let mut modules: HashMap<String, Arc<Module>> = HashMap::new();
        for module in loading {
            let module =
                module.await.map_err(|error| RuntimeError::Config(format!("a module's loading failed: {error}")))??;
            if modules.contains_key(&*module.name) {
                let message = format!("two modules are called {}; rename one of the files", module.name);
                return Err(RuntimeError::Config(message));
            }
            modules.insert(module.name.to_string(), Arc::new(module));
        }
        let places = Arc::new(Semaphore::new(limits.max_concurrent as usize));
        Ok(Self { shared: Arc::new(Shared { modules, surroundings, limits, places, started: Instant::now() }) })
    }

    /// The names of the modules, sorted.
    #[must_use]
    pub fn modules(&self) -> Vec<String> {
        let mut names: Vec<_> = self.shared.modules.keys().cloned().collect();
        names.sort();
        names
    }

    /// Serves `listener` until the returned server is closed.
    #[must_use]
    pub fn listen(&self, listener: TcpListener) -> Server {
        Server::start(self.clone(), listener, self.shared.limits.shutdown_timeout)
    }

    /// Answers one request, whatever becomes of it: failures are responses too. Each answer carries `X-Request-Id`.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ResponseBody>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let request_id = request_id::of(request.headers());
        let mut response = match self.answer(request, &request_id).await {
            Ok(response) => response,
            Err(problem) => problem.response().map(ResponseBody::from),
        };
        if let Ok(value) = HeaderValue::from_str(&request_id) {
            response.headers_mut().insert(request_id::HEADER, value);
        }
        response
    }

    async fn answer<B>(&self, request: Request<B>, request_id: &Arc<str>) -> Result<Response<ResponseBody>, Problem>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        let (module, rest) = match Route::of(&parts.uri) {
            Route::Health if parts.method == Method::GET || parts.method == Method::HEAD => return Ok(self.health()),
            Route::Health => return Err(Problem::MethodNotAllowed),
            Route::None => return Err(Problem::NotFound),
            Route::Module { name, rest } => match self.shared.modules.get(name) {
                Some(module) => (Arc::clone(module), rest),
                None => return Err(Problem::UnknownModule(name.to_string())),
            },
        };
        if !names_one_host(&parts) {
            return Err(Problem::NoHost);
        }
        let body = body::read(&parts.headers, body, self.shared.limits.max_body_bytes).await?;
        parts.uri = with_path(parts.uri, rest);
        let permit = self.admit().await?;
        let limit = self.shared.limits.request_timeout;
        let called = self.call(&module, request_id, Request::from_parts(parts, body), permit);
        match tokio::time::timeout(limit, called).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(Failure::InvalidResponse(what))) => {
                tracing::error!(module = &*module.name, request_id = &**request_id, "{what}");
                Err(Problem::InvalidResponse(what))
            }
            Ok(Err(Failure::Trap(error))) => {
                tracing::error!(module = &*module.name, request_id = &**request_id, "the module failed: {error:?}");
                Err(Problem::Crashed)
            }
            Err(_) => {
                let problem = Problem::TimedOut(limit.as_millis());
                tracing::error!(module = &*module.name, request_id = &**request_id, "{problem}");
                Err(problem)
            }
        }
    }

    async fn call(
        &self,
        module: &Module,
        request_id: &Arc<str>,
        request: Request<Bytes>,
        permit: OwnedSemaphorePermit,
    ) -> Result<Response<ResponseBody>, Failure> {
        let surroundings = &self.shared.surroundings;
        match &module.entry {
            Entry::Direct(pre) => {
                let response = call::direct::call(pre, surroundings, &module.name, request_id, request).await;
                drop(permit);
                Ok(response?.map(ResponseBody::from))
            }
            Entry::WasiHttp(pre) => {
                let response =
                    call::wasi_http::call(pre, surroundings, &module.name, request_id, request, permit).await?;
                Ok(response.map(ResponseBody::from))
            }
        }
    }

    /// A place among the requests that run, or 503 when none comes free in time.
    async fn admit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.shared.places).acquire_owned();
        match tokio::time::timeout(self.shared.limits.queue_timeout, place).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Problem::Overloaded),
        }
    }

    fn health(&self) -> Response<ResponseBody> {
        let uptime = self.shared.started.elapsed().as_secs_f64();
        let modules: Vec<_> = self.modules().iter().map(|name| format!("{}:\"ready\"", JsonString(name))).collect();
        let body = format!(
            r#"{{"status":"ok","version":"{}","uptime_s":{uptime:.3},"modules":{{{}}}}}"#,
            env!("CARGO_PKG_VERSION"),
            modules.join(",")
        );
        let mut response = Response::new(ResponseBody::from(Bytes::from(body)));
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// Whether a request says for whom it is, and only once (RFC 9112, section 3.2).
fn names_one_host(parts: &http::request::Parts) -> bool {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let first = hosts.next();
    hosts.next().is_none() && (first.is_some() || parts.uri.authority().is_some())
}

/// The engines of this process, by what they can hold: runtimes of equal limits share one, and its pool.
fn shared_engine(limits: &Limits) -> Result<Engine, RuntimeError> {
    type Key = (u32, usize);
    static ENGINES: LazyLock<Mutex<HashMap<Key, Engine>>> = LazyLock::new(Mutex::default);
    let key = (limits.max_concurrent, limits.memory_limit_bytes);
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = engines.get(&key) {
        return Ok(engine.clone());
    }
    let engine = engine(limits).map_err(RuntimeError::Engine)?;
    engines.insert(key, engine.clone());
    Ok(engine)
}

#[cfg(test)]
mod tests;
