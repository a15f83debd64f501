//! Messages, and the leases on them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_service::Limits;
use tenon_service::http::problem::Problem;

/// Limit of a message's delay: a year.
const MAX_DELAY_SECONDS: f64 = 365.0 * 24.0 * 3600.0;

/// Limit in bytes of a message's key.
const MAX_KEY_BYTES: usize = 255;

/// Limit of messages in one request, and in one lease.
pub(super) const MAX_MESSAGES: usize = 100;

/// A message to send.
#[derive(Clone, Debug)]
pub(crate) struct NewMessage {
    /// As JSON, with the digits that its numbers were sent with.
    pub(crate) body: Box<RawValue>,
    pub(crate) delay: Duration,
    /// The key, which orders messages: those of one key are delivered one after the other.
    pub(crate) key: Option<String>,
}

/// The bodies of messages as texts, because a parsed number may lose digits.
#[derive(Deserialize)]
struct Texts {
    messages: Vec<TextOf>,
}

#[derive(Deserialize)]
struct TextOf {
    body: Box<RawValue>,
}

impl NewMessage {
    /// Reads `{"messages":[{"body","delay","key"}]}` from a value and its text; all but the body are optional, the delay
    /// is in seconds.
    pub(super) fn all_from_json(asked: &Value, text: &[u8], limits: &Limits) -> Result<Vec<Self>, Problem> {
        let Some(messages) = asked["messages"].as_array() else {
            return Err(Problem::bad_request("`messages` must be a list"));
        };
        if messages.len() > MAX_MESSAGES {
            return Err(Problem::bad_request(format!("a request must have at most {MAX_MESSAGES} messages")));
        }
        let texts: Texts = serde_json::from_slice(text).map_err(|_| no_body())?;
        let bodies = texts.messages.into_iter().map(|message| message.body);
        messages.iter().zip(bodies).map(|(message, body)| Self::from_json(message, body, limits)).collect()
    }

    fn from_json(message: &Value, body: Box<RawValue>, limits: &Limits) -> Result<Self, Problem> {
        let delay = match &message["delay"] {
            Value::Null => Duration::ZERO,
            value => {
                let seconds = value.as_f64().filter(|seconds| (0.0..=MAX_DELAY_SECONDS).contains(seconds));
                let wrong = || Problem::bad_request("`delay` must be seconds, from 0 to a year");
                Duration::from_secs_f64(seconds.ok_or_else(wrong)?)
            }
        };
        let key = match &message["key"] {
            Value::Null => None,
            Value::String(key) if (1..=MAX_KEY_BYTES).contains(&key.len()) && !key.contains('\0') => Some(key.clone()),
            _ => return Err(Problem::bad_request(format!("`key` must be a text of 1 to {MAX_KEY_BYTES} bytes"))),
        };
        if body.get().len() > limits.max_body_bytes {
            return Err(Problem::bad_request("a message is too large"));
        }
        Ok(Self { body, delay, key })
    }
}

fn no_body() -> Problem {
    Problem::bad_request("a message must be an object with a `body`")
}

/// A consumer's request for messages.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    /// Limit of messages.
    pub(crate) max: usize,
    /// Limit of the bytes of their bodies together. The first message may have more.
    pub(crate) max_bytes: usize,
    /// Length of the lease.
    pub(crate) visibility: Duration,
    /// Deliveries of a message before it is dead.
    pub(crate) max_attempts: u32,
    /// Identifies the lease.
    pub(crate) receipt: String,
}

/// A delivered message.
#[derive(Debug, Serialize)]
pub(crate) struct Leased {
    #[serde(serialize_with = "as_text")]
    pub(crate) id: i64,
    pub(crate) body: Box<RawValue>,
    pub(crate) key: Option<String>,
    /// Number of deliveries, including this one.
    pub(crate) attempts: u32,
    /// ISO 8601.
    pub(crate) sent_at: String,
    pub(crate) receipt: String,
}

/// Ids are texts, because clients do not compute with them.
fn as_text<S: serde::Serializer>(id: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

/// The result of reporting an unhandled message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// It is delivered again.
    Again,
    /// It is a dead letter.
    Dead,
    /// The lease has expired, and another consumer may have the message.
    Lost,
}

/// The content of a queue.
#[derive(Debug, Serialize)]
pub(crate) struct Counts {
    pub(crate) name: String,
    /// Messages that are due and not leased.
    pub(crate) ready: i64,
    /// Messages that are delayed, or wait for their next attempt.
    pub(crate) delayed: i64,
    /// Messages that are leased.
    pub(crate) leased: i64,
}
