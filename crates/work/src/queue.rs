//! Consumers of queues: they lease messages of the sidecar `queue`, call the module's route with each, and report how it ended.

use std::sync::Arc;

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tenon_runtime::Runtime;

use crate::consumer::{Consumer, Work};
use crate::route::{RouteCall, call};
use crate::service::{AskError, Service};

/// The route that handles the messages of a queue.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueueOptions {
    /// The module, by its name in URLs.
    pub module: String,
    /// The path of the route.
    pub path: String,
    /// Messages that are handled at the same time.
    pub concurrency: u32,
    /// Deliveries of a message before it is laid aside in `<name>.dead`.
    pub max_attempts: u32,
    /// Time for which a delivered message is hidden from others, in milliseconds.
    pub visibility_ms: u64,
}

/// Consumes a queue until the consumer is closed. Nothing is leased while the module does not serve.
#[must_use]
pub fn consume_queue(name: &str, options: QueueOptions, service: Arc<Service>, runtime: Runtime) -> Consumer {
    Consumer::start(Queue { name: name.to_string(), options, service, runtime })
}

struct Queue {
    name: String,
    options: QueueOptions,
    service: Arc<Service>,
    runtime: Runtime,
}

/// A message as the route gets it.
#[derive(Deserialize, Serialize)]
struct Message {
    id: String,
    body: Value,
    key: Option<String>,
    attempts: u64,
    sent_at: String,
    #[serde(skip_serializing)]
    receipt: String,
}

#[derive(Deserialize)]
struct Leased {
    messages: Vec<Message>,
}

impl Queue {
    async fn ask(&self, action: &str, json: &Value) -> Result<Option<bytes::Bytes>, AskError> {
        self.service.work(Method::POST, &format!("/queue/{}/{action}", self.name), json).await
    }
}

impl Work for Queue {
    type Item = Message;

    fn step(&self) -> &'static str {
        "Queue"
    }

    fn what(&self) -> String {
        format!("the queue {}", self.name)
    }

    fn concurrency(&self) -> usize {
        self.options.concurrency as usize
    }

    fn is_ready(&self) -> bool {
        self.runtime.ready_modules().contains(&self.options.module)
    }

    async fn lease(&self, max: usize) -> Result<Vec<Message>, AskError> {
        let QueueOptions { visibility_ms, max_attempts, .. } = &self.options;
        let asked = json!({ "max": max, "visibility_ms": visibility_ms, "max_attempts": max_attempts });
        let Some(body) = self.ask("lease", &asked).await? else { return Ok(Vec::new()) };
        let leased = serde_json::from_slice::<Leased>(&body);
        Ok(leased.map_err(|error| AskError::Body(error.to_string()))?.messages)
    }

    async fn settle(&self, message: Message) -> Result<(), AskError> {
        let QueueOptions { module, path, max_attempts, .. } = &self.options;
        let body = serde_json::to_vec(&message).map_err(|error| AskError::Body(error.to_string()))?;
        let headers = [("content-type".to_string(), "application/json".to_string())];
        let status =
            call(&self.runtime, RouteCall { module, method: "POST", path, headers: &headers, body: body.into() });
        let mut lease = json!({ "id": message.id, "receipt": message.receipt });
        if status.await.is_ok_and(|status| status.is_success()) {
            self.ask("done", &lease).await?;
        } else {
            lease["attempts"] = message.attempts.into();
            lease["max_attempts"] = (*max_attempts).into();
            self.ask("retry", &lease).await?;
        }
        Ok(())
    }
}
