//! `tenon_services::Sidecar` for Node.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_body_util::{BodyExt, Full};
use napi::bindgen_prelude::{Buffer, PromiseRaw};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_services::{InProcessSidecar, Listen, SidecarFiles, SidecarOptions as Options, SidecarSettings};

use crate::closable::Closable;
use crate::failure::{Failure, promise};
use crate::in_process::Offered;

/// Options of a sidecar besides its settings.
#[napi(object)]
pub struct SidecarOptions {
    /// `unix:///run/db.sock` or `127.0.0.1:7001`. Left out, it listens nowhere: runtimes of this process are given its address.
    pub listen: Option<String>,
    /// The bearer token that every request must have.
    pub token: Option<String>,
    /// Listens without a token where other machines reach it.
    pub insecure: Option<bool>,
    /// The file `libpg-query.wasm`, which has PostgreSQL's grammar.
    pub grammar: Option<String>,
    /// The folder that compiled code is kept in; nothing is kept without one.
    pub cache_dir: Option<String>,
    /// `off`, `error`, `warn`, `info` (the default) or `debug`: the level of lines logged to standard error.
    pub log_level: Option<String>,
    /// `readable` (the default) or `json`.
    pub log_format: Option<String>,
}

/// The answer of a sidecar.
#[napi(object)]
pub struct SidecarAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: Buffer,
}

/// A sidecar that runs.
#[napi]
pub struct Sidecar {
    address: String,
    running: Closable<Running>,
}

enum Running {
    Listening(tenon_services::Sidecar),
    InProcess(Offered),
}

impl Running {
    async fn close(self) {
        match self {
            Self::Listening(sidecar) => sidecar.close().await,
            Self::InProcess(offered) => offered.close(),
        }
    }
}

#[napi]
impl Sidecar {
    /// `settings` is the JSON of `crates/services/src/settings.rs`. Rejects with a code: `CONFIG`, `BACKEND`, `FOLDER`,
    /// `ADDRESS_IN_USE` or `LISTEN`.
    #[napi]
    pub fn start<'env>(env: &'env Env, settings: String, options: SidecarOptions) -> Result<PromiseRaw<'env, Sidecar>> {
        let start = async move {
            let SidecarOptions { listen, token, insecure, grammar, cache_dir, log_level, log_format } = options;
            // A sidecar that does not listen belongs to a runtime, which has set the log up.
            if listen.is_some() {
                let format = log_format.as_deref().unwrap_or("readable");
                tenon_log::start(log_level.as_deref().unwrap_or("info"), format)?;
            }
            let settings =
                serde_json::from_str(&settings).map_err(|error| Failure::new("CONFIG", error.to_string()))?;
            let mut settings = SidecarSettings::from_json(settings)?;
            settings.files = SidecarFiles { grammar: grammar.map(Into::into), cache: cache_dir.map(Into::into) };
            let limits = settings.limits();
            let backend = settings.backend()?;
            Ok(match listen {
                Some(listen) => {
                    let insecure = insecure.unwrap_or(false);
                    let options = Options { backend, listen: Listen::parse(&listen)?, token, insecure, limits };
                    Running::Listening(tenon_services::Sidecar::start(options).await?)
                }
                None if token.is_some() => {
                    return Err(Failure::new("CONFIG", "a sidecar that listens nowhere has no token"));
                }
                None => Running::InProcess(Offered::new(InProcessSidecar::open(backend, limits).await?)),
            })
        };
        promise(env, start, |running| Sidecar {
            address: match &running {
                Running::Listening(sidecar) => sidecar.address(),
                Running::InProcess(offered) => &offered.address,
            }
            .to_string(),
            running: Closable::new(running),
        })
    }

    /// The address, as `tenon.toml` names it. A sidecar that listens nowhere has one that only runtimes of this process take.
    #[napi(getter)]
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Sends a request with JSON to a sidecar of this process. Rejects with `BACKEND` when there is none, or no
    /// readable answer.
    #[napi]
    pub fn ask<'env>(
        &self,
        env: &'env Env,
        method: String,
        path: String,
        json: String,
    ) -> Result<PromiseRaw<'env, SidecarAnswer>> {
        let sidecar = match &*self.running.get() {
            Some(Running::InProcess(offered)) => offered.sidecar(),
            _ => None,
        };
        let ask = async move {
            let failed = |why: &dyn std::fmt::Display| Failure::new("BACKEND", why.to_string());
            let sidecar = sidecar.ok_or_else(|| failed(&"it is closed, or it listens"))?;
            let request = http::Request::builder()
                .method(&*method)
                .uri(path)
                .header(CONTENT_TYPE, "application/json")
                .body(Full::new(Bytes::from(json)))
                .map_err(|error| failed(&error))?;
            let (head, body) = sidecar.answer(request).await.into_parts();
            let body = body.collect().await.map_err(|error| failed(&error))?.to_bytes();
            Ok((head.status.as_u16(), body))
        };
        promise(env, ask, |(status, body)| SidecarAnswer { status, body: body.to_vec().into() })
    }

    /// Gives a sidecar that listens nowhere to no further runtime. It closes with the last one that was given it.
    #[napi]
    pub fn release(&self) {
        let mut running = self.running.get();
        if matches!(*running, Some(Running::InProcess(_))) {
            *running = None;
        }
    }

    /// Resolves when running requests have finished, or their time is over. A second call resolves at once. For one that listens
    /// nowhere it does not wait.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        self.running.close(env, Running::close)
    }
}
