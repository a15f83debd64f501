//! `tenon_services::DevServices` for Node.

use std::net::IpAddr;
use std::sync::Arc;

use std::time::Duration;

use napi::bindgen_prelude::{PromiseRaw, within_runtime_if_available};
use napi::{Env, Result};
use napi_derive::napi;
use tenon_jobs::{Consumers, Tasks, Work};
use tenon_services::{DevOptions, DevServices, Host, Limits, NotSent, RecentRequest, SendingAgain, SentAgain};
use tenon_transport::{Address, Sidecar};

use crate::closable::Closable;
use crate::failure::{Failure, promise};
use crate::runtime::Runtime;

/// Options of the development services.
#[napi(object)]
pub struct ServicesOptions {
    /// Where everything is kept; it is made when it is not there.
    pub folder: String,
    /// A loopback address; 127.0.0.1 when left out.
    pub host: Option<String>,
    /// 0, or left out, takes a free one.
    pub port: Option<u16>,
    /// Begin with nothing.
    pub fresh: Option<bool>,
    /// The folder of compiled code.
    pub cache_dir: Option<String>,
}

/// The development services: key-value, SQL, storage, queues, cron, and a page that shows them.
#[napi]
pub struct Services {
    url: String,
    services: Closable<Attachable>,
}

/// The services, and the consumer that does the runs of their jobs in the attached runtime.
struct Attachable {
    services: DevServices,
    cron: Option<Consumers>,
}

/// The longest time of a run in the attached runtime.
const CALL: Duration = Duration::from_secs(60);

impl Attachable {
    fn attach(&mut self, host: AttachedRuntime) -> Result<()> {
        let work = runs_at(&self.services.url()).map_err(Failure::thrown)?;
        let report = |step, message| tracing::warn!("{step}: {message}");
        let consumers = Consumers::start(work, host.runtime.clone(), Arc::new(report));
        self.services.attach(Some(Arc::new(host)));
        if let Some(former) = self.cron.replace(consumers) {
            tokio::spawn(async move { former.close().await });
        }
        Ok(())
    }

    /// Returns when the runs that were leased are done, and running requests have finished.
    async fn close(self) {
        if let Some(cron) = self.cron {
            cron.close().await;
        }
        self.services.close().await;
    }
}

#[napi]
impl Services {
    /// Rejects with a code: `ADDRESS_IN_USE`, `LISTEN`, `FOLDER` or `CONFIG`.
    #[napi]
    pub fn start<'env>(env: &'env Env, options: ServicesOptions) -> Result<PromiseRaw<'env, Services>> {
        let start = async move {
            let host = options.host.unwrap_or_else(|| "127.0.0.1".to_string());
            let host: IpAddr =
                host.parse().map_err(|_| Failure::new("CONFIG", format!("`{host}` must be an IP address")))?;
            let options = DevOptions {
                folder: options.folder.into(),
                host,
                port: options.port.unwrap_or(0),
                fresh: options.fresh.unwrap_or(false),
                cache: options.cache_dir.map(Into::into),
                limits: Limits::default(),
            };
            Ok(DevServices::start(options).await?)
        };
        promise(env, start, |services| Services {
            url: services.url(),
            services: Closable::new(Attachable { services, cron: None }),
        })
    }

    /// Such as `http://127.0.0.1:9919`.
    #[napi(getter)]
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Gives the page its modules and requests, which have transcripts from now on, and cron its modules to call. `url` is where
    /// the runtime listens.
    #[napi]
    pub fn attach(&self, runtime: &Runtime, url: String) -> Result<()> {
        let runtime = runtime.runtime.get_or_throw()?;
        runtime.record_requests();
        let host = AttachedRuntime { runtime, url };
        match &mut *self.services.get() {
            Some(services) => within_runtime_if_available(|| services.attach(host)),
            None => Ok(()),
        }
    }

    /// Resolves when running requests have finished, or their time is over. A second call resolves at once.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        self.services.close(env, Attachable::close)
    }
}

/// The runs of the jobs at an address.
fn runs_at(url: &str) -> std::result::Result<Work, Failure> {
    let cron = Sidecar::new("cron", Address::parse(url)?)?;
    Ok(Work::new(Tasks::default(), &[cron], &[], CALL)?.with_later_modules())
}

/// The runtime as the services see it.
struct AttachedRuntime {
    runtime: tenon_runtime::Runtime,
    url: String,
}

impl Host for AttachedRuntime {
    fn url(&self) -> String {
        self.url.clone()
    }

    fn modules(&self) -> Vec<String> {
        self.runtime.modules()
    }

    fn recent_requests(&self) -> Vec<RecentRequest> {
        let convert = |request: tenon_runtime::RecentRequest| {
            let transcript = request.transcript;
            let crate::recent::RecentRequest { id, time, module, method, path, status, duration_ms } = request.into();
            RecentRequest { id, time, module, method, path, status, duration_ms, transcript }
        };
        self.runtime.recent_requests().into_iter().map(convert).collect()
    }

    fn transcript(&self, transcript: u64) -> Option<String> {
        self.runtime.transcript(transcript)
    }

    fn send_again(&self, transcript: u64) -> SendingAgain {
        let runtime = self.runtime.clone();
        Box::pin(async move {
            let sent = runtime.send_again(transcript).await.map_err(NotSent)?;
            Ok(SentAgain { status: sent.status.as_u16(), transcript: sent.transcript })
        })
    }
}

/// The error of a cron job's schedule and time zone; `null` when they are valid. No value is repeated.
#[napi]
pub fn schedule_problem(expression: String, timezone: String) -> Option<String> {
    tenon_services::schedule_problem(&expression, &timezone)
}
