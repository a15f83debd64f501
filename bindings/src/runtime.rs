//! `tenon_runtime::Runtime` for Node.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_runtime::{Limits, ModuleSource, RuntimeConfig, RuntimeError};
use tenon_transport::{Address, Sidecar};
use tokio::net::{TcpListener, lookup_host};

use crate::failure::{Failure, promise};
use crate::log;
use crate::server::Server;

/// What a runtime is told; what is left out has the default of `crates/runtime/src/config.rs`.
#[napi(object)]
#[derive(Default)]
pub struct RuntimeOptions {
    /// Component files. A module is called after its file, without `.wasm` and `-composed`.
    pub modules: Vec<String>,
    /// Addresses of sidecars by name: `http://host:port` or `unix:///path`.
    pub sidecars: Option<HashMap<String, String>>,
    /// Environment variables for every module.
    pub env: Option<HashMap<String, String>>,
    /// Where compiled code is kept; left out, it is compiled anew each time.
    pub cache_dir: Option<String>,
    /// `off`, `error`, `warn`, `info` (the default) or `debug`; what is logged goes to standard error.
    pub log_level: Option<String>,
    /// Milliseconds until a request is answered with 504.
    pub request_timeout_ms: Option<u32>,
    /// Bytes of a request's body; more is answered with 413.
    pub max_body_bytes: Option<f64>,
    /// Bytes that a linear memory may grow to.
    pub memory_limit_bytes: Option<f64>,
    /// Requests that run at once; one more waits, and is answered with 503 when that takes too long.
    pub max_concurrent: Option<u32>,
    /// Milliseconds that running requests have to finish on `close`.
    pub shutdown_timeout_ms: Option<u32>,
}

/// A request for `handle`.
#[napi(object)]
pub struct NativeRequest {
    /// Such as `GET`.
    pub method: String,
    /// An absolute URL.
    pub url: String,
    /// Names and values; a value's characters are bytes (U+0000 to U+00FF), as in the Fetch standard.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Option<Buffer>,
}

/// The answer of `handle`.
#[napi(object)]
pub struct NativeResponse {
    /// 200 to 599.
    pub status: u16,
    /// Names and values, as in `NativeRequest`.
    pub headers: Vec<(String, String)>,
    /// The whole body; empty when there is none.
    pub body: Buffer,
}

/// Modules that are loaded and can be called.
#[napi]
pub struct Runtime {
    runtime: tenon_runtime::Runtime,
}

#[napi]
impl Runtime {
    /// Loads the modules. Rejects with a code: `CONFIG`, `ENGINE`, `MODULE_READ`, `MODULE_COMPILE` or `MODULE_LINK`.
    #[napi]
    pub fn create<'env>(env: &'env Env, options: RuntimeOptions) -> Result<PromiseRaw<'env, Runtime>> {
        let create = async move {
            log::start(options.log_level.as_deref().unwrap_or("info"))?;
            Ok(tenon_runtime::Runtime::new(config(options)?).await?)
        };
        promise(env, create, |runtime| Runtime { runtime })
    }

    /// The names of the modules, sorted.
    #[napi]
    pub fn modules(&self) -> Vec<String> {
        self.runtime.modules()
    }

    /// Listens on a host name or address and a port; 0 takes a free one. Rejects with `ADDRESS_IN_USE` or `LISTEN`.
    #[napi]
    pub fn listen<'env>(&self, env: &'env Env, host: String, port: u16) -> Result<PromiseRaw<'env, Server>> {
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
            Ok(runtime.listen(listener))
        };
        promise(env, listen, Server::new)
    }

    /// Answers one request without a socket. Rejects with `REQUEST` when the request is none that HTTP allows, and with
    /// `RESPONSE` when the module's answer breaks off.
    #[napi]
    pub fn handle<'env>(&self, env: &'env Env, request: NativeRequest) -> Result<PromiseRaw<'env, NativeResponse>> {
        let runtime = self.runtime.clone();
        let handle = async move {
            let (parts, body) = runtime.handle(lower(request)?).await.into_parts();
            let body = body.collect().await.map_err(|error| Failure::new("RESPONSE", error.to_string()))?.to_bytes();
            Ok((parts, body))
        };
        promise(env, handle, |(parts, body)| NativeResponse {
            status: parts.status.as_u16(),
            headers: parts.headers.iter().map(|(name, value)| (name.to_string(), text(value.as_bytes()))).collect(),
            body: Buffer::from(Vec::from(body)),
        })
    }
}

/// Bytes as a string of the characters U+0000 to U+00FF.
fn text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn lower(request: NativeRequest) -> std::result::Result<http::Request<Full<Bytes>>, Failure> {
    let wrong = |what: String| Failure::new("REQUEST", what);
    let mut builder = http::Request::builder().method(request.method.as_str()).uri(request.url.as_str());
    for (name, value) in request.headers {
        let bytes: Option<Vec<u8>> = value.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = bytes.ok_or_else(|| wrong(format!("header {name} has a character above U+00FF")))?;
        builder = builder.header(name, bytes);
    }
    let body = request.body.map_or_else(Bytes::new, |body| Bytes::from(Vec::from(body)));
    builder.body(Full::new(body)).map_err(|error| wrong(error.to_string()))
}

fn config(options: RuntimeOptions) -> std::result::Result<RuntimeConfig, Failure> {
    let modules = options.modules.into_iter().map(|path| {
        let message = format!("{path} cannot name a module");
        ModuleSource::from_path(path).ok_or_else(|| Failure::new("CONFIG", message))
    });
    let sidecars = options
        .sidecars
        .unwrap_or_default()
        .into_iter()
        .map(|(name, address)| Ok(Sidecar::new(&name, Address::parse(&address)?)?));
    let defaults = Limits::default();
    let milliseconds = |given: Option<u32>, default| given.map_or(default, |ms| Duration::from_millis(ms.into()));
    Ok(RuntimeConfig {
        modules: modules.collect::<std::result::Result<_, _>>()?,
        sidecars: sidecars.collect::<std::result::Result<_, Failure>>()?,
        environment: options.env.unwrap_or_default().into_iter().collect(),
        limits: Limits {
            request_timeout: milliseconds(options.request_timeout_ms, defaults.request_timeout),
            max_body_bytes: bytes("max_body_bytes", options.max_body_bytes, defaults.max_body_bytes)?,
            memory_limit_bytes: bytes("memory_limit_bytes", options.memory_limit_bytes, defaults.memory_limit_bytes)?,
            max_concurrent: options.max_concurrent.unwrap_or(defaults.max_concurrent),
            queue_timeout: defaults.queue_timeout,
            shutdown_timeout: milliseconds(options.shutdown_timeout_ms, defaults.shutdown_timeout),
        },
        cache: options.cache_dir.map(Into::into),
    })
}

/// A count of bytes, which JavaScript has as a double.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a whole number in range")]
fn bytes(key: &str, given: Option<f64>, default: usize) -> std::result::Result<usize, Failure> {
    match given {
        None => Ok(default),
        Some(value) if value.fract() == 0.0 && (0.0..=4_294_967_296.0).contains(&value) => Ok(value as usize),
        Some(value) => {
            Err(Failure::new("CONFIG", format!("{key} is {value}, which is no number of bytes up to 4 GiB")))
        }
    }
}
