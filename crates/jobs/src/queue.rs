//! Consumers of queues: they lease messages of the sidecar `queue`, call the module's route with each, and report how it ended.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::consumer::LeasedWork;
use crate::route::{RouteCall, Routes};
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

/// The messages of a queue. None is leased while the module does not serve.
pub(crate) struct Queue<R> {
    pub(crate) name: String,
    pub(crate) options: QueueOptions,
    pub(crate) service: Arc<Service>,
    pub(crate) routes: R,
}

/// A message as the route gets it.
#[derive(Deserialize, Serialize)]
pub(crate) struct Message {
    id: String,
    /// As it was sent: numbers keep all their digits.
    body: Box<RawValue>,
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

impl<R: Routes> Queue<R> {
    async fn ask(&self, action: &str, json: &Value) -> Result<Option<Bytes>, AskError> {
        self.service.work(Method::POST, &format!("/queue/{}/{action}", self.name), json).await
    }
}

impl<R: Routes> LeasedWork for Queue<R> {
    type Item = Message;

    /// The action of the sidecar, and the body of the report.
    type End = (&'static str, Value);

    const STEP: &'static str = "Queue";

    fn concurrency(&self) -> usize {
        self.options.concurrency as usize
    }

    fn is_ready(&self) -> bool {
        self.routes.ready_modules().contains(&self.options.module)
    }

    async fn lease(&self, max: usize) -> Result<Vec<Message>, AskError> {
        let QueueOptions { visibility_ms, max_attempts, .. } = &self.options;
        let asked = json!({ "max": max, "visibility_ms": visibility_ms, "max_attempts": max_attempts });
        let Some(body) = self.ask("lease", &asked).await? else { return Ok(Vec::new()) };
        let leased = serde_json::from_slice::<Leased>(&body);
        Ok(leased.map_err(|error| AskError::Body(error.to_string()))?.messages)
    }

    fn lease_time(&self) -> Duration {
        Duration::from_millis(self.options.visibility_ms)
    }

    async fn handle(&self, message: Message) -> Self::End {
        let QueueOptions { module, path, max_attempts, .. } = &self.options;
        let is_done = match serde_json::to_vec(&message) {
            Ok(body) => {
                let call = RouteCall {
                    module: module.clone(),
                    method: "POST".to_string(),
                    path: path.clone(),
                    headers: vec![("content-type".to_string(), "application/json".to_string())],
                    body: body.into(),
                };
                self.routes.call(call).await.is_ok_and(|status| status.is_success())
            }
            Err(_) => false,
        };
        let mut lease = json!({ "id": message.id, "receipt": message.receipt });
        if is_done {
            return ("done", lease);
        }
        lease["attempts"] = message.attempts.into();
        lease["max_attempts"] = (*max_attempts).into();
        ("retry", lease)
    }

    async fn settle(&self, (action, lease): &Self::End) -> Result<(), AskError> {
        self.ask(action, lease).await.map(drop)
    }

    fn lease_failed(&self, error: &AskError) -> String {
        format!("the queue {} cannot be read: {error}", self.name)
    }

    /// It is delivered again when its lease ends.
    fn settle_failed(&self, error: &AskError) -> String {
        format!("a message of the queue {} could not be settled: {error}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_passed_on_as_it_was_sent() {
        let sent = r#"{"z":0.1000000000000000055511151231257827,"a":12345678901234567890123}"#;
        let leased = format!(
            r#"{{"messages":[{{"id":"1","body":{sent},"key":null,"attempts":1,"sent_at":"now","receipt":"r"}}]}}"#
        );
        let leased: Leased = serde_json::from_str(&leased).unwrap();
        let message = serde_json::to_string(&leased.messages[0]).unwrap();
        assert_eq!(message, format!(r#"{{"id":"1","body":{sent},"key":null,"attempts":1,"sent_at":"now"}}"#));
    }
}
