//! What the development services need of a runtime.

use std::pin::Pin;

use serde::Serialize;

/// A call that is on its way: the status that the module answered, or why there is none.
pub type ModuleCall = Pin<Box<dyn Future<Output = Result<u16, String>> + Send>>;

/// A request that a runtime answered lately.
#[derive(Clone, Debug, Serialize)]
pub struct RecentRequest {
    /// The request's id, as in the log.
    pub id: String,
    /// When it came, in milliseconds since 1970.
    pub time: f64,
    /// The module that was asked; none when it was the runtime itself.
    pub module: Option<String>,
    /// Such as `GET`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The answer's status.
    pub status: u16,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// The number of its recording, while there is one.
    pub recording: Option<u64>,
}

/// A request to a module.
#[derive(Clone, Debug)]
pub struct ModuleRequest {
    /// Such as `POST`.
    pub method: String,
    /// The declared path, with a query if it has any.
    pub path: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body; none is an empty one.
    pub body: Option<String>,
}

/// A request that was sent again.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SentAgain {
    /// The answer's status.
    pub status: u16,
    /// The number of its own recording.
    pub recording: Option<u64>,
}

/// A request that is sent again: the answer, or the reason why it was not sent.
pub type SendingAgain = Pin<Box<dyn Future<Output = Result<SentAgain, String>> + Send>>;

/// A runtime, as far as the services page and cron look at it.
pub trait Host: Send + Sync + 'static {
    /// Where it listens, such as `http://127.0.0.1:3000`.
    fn url(&self) -> String;

    /// The names of its modules, sorted.
    fn modules(&self) -> Vec<String>;

    /// The last requests, oldest first.
    fn recent_requests(&self) -> Vec<RecentRequest>;

    /// A recorded request as JSON, without credentials.
    fn recorded_request(&self, recording: u64) -> Option<String>;

    /// Sends a recorded request again.
    fn send_again(&self, recording: u64) -> SendingAgain;

    /// Calls a module's route.
    fn call(&self, module: &str, request: ModuleRequest) -> ModuleCall;
}
