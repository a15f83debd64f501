//! Failures as JavaScript errors that carry a `code`.

use napi::bindgen_prelude::{PromiseRaw, ToNapiValue};
use napi::{Env, Error, JsError, JsValue, Result, Status};
use napi_derive::napi;
use tenon_compose::ComposeError;
use tenon_jobs::{AskError, MigrateError, TokenError, WorkError};
use tenon_log::LogError;
use tenon_rewrite::delta::DeltaError;
use tenon_runtime::{ConfigError, RuntimeError};
use tenon_services::ServicesError;
use tenon_snapshot::SnapshotError;
use tenon_transport::AddressError;

/// The JavaScript form of a crate's error: a stable code for programs, and a message and the next step for people.
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// The error that a function throws, without the code.
    pub(crate) fn thrown(self) -> Error {
        Error::from_reason(self.message)
    }

    /// The same failure with the thing in front that it is about.
    pub(crate) fn about(self, what: &str) -> Self {
        Self { message: format!("{what}: {}", self.message), ..self }
    }
}

/// A failure that `Calls` reports.
#[napi(object, object_from_js = false)]
pub struct NativeFailure {
    /// For programs.
    pub code: String,
    /// For people.
    pub message: String,
}

impl From<Failure> for NativeFailure {
    fn from(failure: Failure) -> Self {
        Self { code: failure.code.to_string(), message: failure.message }
    }
}

impl From<ComposeError> for Failure {
    fn from(error: ComposeError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<DeltaError> for Failure {
    fn from(error: DeltaError) -> Self {
        Self::new("DELTA", error.to_string())
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::new("CONFIG", error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::new("CONFIG", error.to_string())
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<SnapshotError> for Failure {
    fn from(error: SnapshotError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self::new("BACKEND", error.to_string())
    }
}

impl From<MigrateError> for Failure {
    fn from(error: MigrateError) -> Self {
        Self { hint: error.hint(), ..Self::new(error.code(), error.to_string()) }
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        Self::new("CONFIG", error.to_string())
    }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        Self::new("CONFIG", error.to_string())
    }
}

impl From<AddressError> for Failure {
    fn from(error: AddressError) -> Self {
        Self::new("CONFIG", error.to_string())
    }
}

impl From<ServicesError> for Failure {
    fn from(error: ServicesError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// Runs a computation on a thread on which no other task waits.
pub(crate) async fn compute<T: Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, Failure> + Send + 'static,
) -> std::result::Result<T, Failure> {
    let ended = |error: tokio::task::JoinError| Failure::new("ENGINE", error.to_string());
    tokio::task::spawn_blocking(work).await.map_err(ended)?
}

/// Runs a future off Node's thread; its failure rejects the promise with an `Error` whose `code`, and `hint` if there is one, are the
/// failure's. (An `async fn` of napi-rs can reject with napi's own status codes only.)
pub(crate) fn promise<T, V>(
    env: &Env,
    future: impl Future<Output = std::result::Result<T, Failure>> + Send + 'static,
    convert: impl FnOnce(T) -> V + 'static,
) -> Result<PromiseRaw<'_, V>>
where
    T: Send + 'static,
    V: ToNapiValue,
{
    env.spawn_future_with_callback(async move { Ok(future.await) }, move |env, outcome| match outcome {
        Ok(value) => Ok(convert(value)),
        Err(failure) => {
            let error = JsError::from(Error::new(failure.code, failure.message)).into_unknown(*env);
            if let Some(hint) = failure.hint {
                error.coerce_to_object()?.set("hint", hint)?;
            }
            Err(Error::<Status>::from(error))
        }
    })
}
