//! `tenon_jobs::Consumers` for Node.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{FnArgs, Function, PromiseRaw};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Result};
use napi_derive::napi;
use tenon_jobs::{SidecarAddress, Tasks, Work};
use tenon_transport::{Address, Sidecar};

use crate::failure::{Failure, promise};
use crate::options::{environment, sidecars, whole};
use crate::runtime::Runtime;

/// The queues and jobs of a project, and the sidecars that have them.
#[napi(object)]
pub struct WorkOptions {
    /// `queues` and `cron` of `server.json`, as JSON.
    pub tasks: String,
    /// Addresses of sidecars by name, as those of a runtime.
    pub sidecars: HashMap<String, String>,
    /// The variables of modules, which may have the tokens of sidecars.
    pub env: HashMap<String, String>,
    /// The longest time of a call.
    pub request_timeout_ms: f64,
    /// True when the runtime gets its modules later: one that is not there is not reported then.
    pub later_modules: bool,
}

fn work(options: WorkOptions) -> std::result::Result<Work, Failure> {
    let (sidecars, environment) = (sidecars(options.sidecars)?, environment(options.env));
    let timeout = Duration::from_millis(whole("request_timeout_ms", options.request_timeout_ms)?);
    let work = Work::new(Tasks::parse(&options.tasks)?, &sidecars, &environment, timeout)?;
    Ok(if options.later_modules { work.with_later_modules() } else { work })
}

/// Consumers of queues and cron, which call the routes of a runtime.
#[napi]
pub struct Consumers {
    consumers: Arc<tenon_jobs::Consumers>,
}

#[napi]
impl Consumers {
    /// Starts them. `report` receives each line for the log: its step, `Queue` or `Cron`, and a sentence. Rejects with `CONFIG` for
    /// queues or jobs without their sidecar.
    #[napi]
    pub fn start<'env>(
        env: &'env Env,
        runtime: &Runtime,
        options: WorkOptions,
        #[napi(ts_arg_type = "(step: string, message: string) => void")] report: Function<
            '_,
            FnArgs<(String, String)>,
            (),
        >,
    ) -> Result<PromiseRaw<'env, Consumers>> {
        let report = report.build_threadsafe_function::<(String, String)>().callee_handled::<false>().weak::<true>();
        let report = report.build_callback(|line| Ok(FnArgs::from(line.value)))?;
        // The call fails when Node's thread has ended. Then nobody reads the log.
        let report = move |step: &'static str, message| {
            let _ = report.call((step.to_string(), message), ThreadsafeFunctionCallMode::NonBlocking);
        };
        let runtime = runtime.runtime.clone();
        let start = async move { Ok(tenon_jobs::Consumers::start(work(options)?, runtime.get()?, Arc::new(report))) };
        promise(env, start, |consumers| Consumers { consumers: Arc::new(consumers) })
    }

    /// Does other work from now on. Resolves when the former work that was leased is done. Without effect when the work is the
    /// same. Rejects as `start` does; the former work goes on then.
    #[napi]
    pub fn change<'env>(&self, env: &'env Env, options: WorkOptions) -> Result<PromiseRaw<'env, ()>> {
        let consumers = Arc::clone(&self.consumers);
        let change = async move {
            consumers.change(work(options)?).await;
            Ok(())
        };
        promise(env, change, |()| ())
    }

    /// Leases nothing more, and resolves when all that was leased is done. A second call resolves at once.
    #[napi]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let consumers = Arc::clone(&self.consumers);
        let close = async move {
            consumers.close().await;
            Ok(())
        };
        promise(env, close, |()| ())
    }
}

/// Makes the jobs of a project those of the service `cron` at an address. `tasks` is that of `WorkOptions`. Rejects with `CONFIG`, or
/// with `BACKEND` when the service does not answer or refuses a job.
#[napi]
pub fn declare_jobs<'env>(env: &'env Env, address: String, tasks: String) -> Result<PromiseRaw<'env, ()>> {
    let declare = async move {
        let sidecar = Sidecar::new("cron", Address::parse(&address)?)?;
        Ok(Tasks::parse(&tasks)?.declare(SidecarAddress::new(sidecar, None)?).await?)
    };
    promise(env, declare, |()| ())
}
