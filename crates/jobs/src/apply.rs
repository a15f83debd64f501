//! Applies the statements of one file in one transaction.

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::migrate::MigrateError;
use crate::script::{Script, ScriptStatement};
use crate::service::{Service, SidecarResponse};

/// Statements of a request. A sidecar accepts 100.
const MAX_STATEMENTS: usize = 100;

/// Bytes of statements in a request with several. A sidecar accepts bodies of 10 MiB, and JSON escapes some characters.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Time to wait for another migration that holds the database.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// A refusal: the sentence for the user, and whether nothing but another transaction was in the way.
struct Refused {
    detail: String,
    waits: bool,
}

/// Applies a file's statements after its note. Returns the reason if they are refused; then nothing of the file stays.
///
/// The note is first, so that one of two concurrent migrations waits for the other.
pub(crate) async fn apply(service: &Service, note: &Value, script: &Script) -> Result<Option<String>, MigrateError> {
    let parts = parts_of(note, script);
    let began = Instant::now();
    loop {
        let refused = match &*parts {
            [only] => at_once(service, only, script).await?,
            several => in_parts(service, several, script).await?,
        };
        match refused {
            Some(refused) if refused.waits && began.elapsed() < PATIENCE => sleep(PAUSE).await,
            refused => return Ok(refused.map(|refused| refused.detail)),
        }
    }
}

/// A request's statements.
struct Part {
    statements: Vec<Value>,
    /// The file's statements before it.
    first: usize,
    /// True when the note is its first statement.
    noted: bool,
}

fn parts_of(note: &Value, script: &Script) -> Vec<Part> {
    let mut parts = vec![Part { statements: vec![note.clone()], first: 0, noted: true }];
    let mut bytes = 0;
    for (first, ScriptStatement { sql, .. }) in script.statements.iter().enumerate() {
        let is_full =
            |part: &Part| part.statements.len() == MAX_STATEMENTS || (bytes > 0 && bytes + sql.len() > MAX_BYTES);
        if parts.last().is_none_or(is_full) {
            parts.push(Part { statements: Vec::new(), first, noted: false });
            bytes = 0;
        }
        bytes += sql.len();
        if let Some(part) = parts.last_mut() {
            part.statements.push(json!({ "sql": sql }));
        }
    }
    if parts.len() > 1 {
        // Alone, so that a time limit that passes while it waits is told apart from that of a statement.
        let rest = parts[0].statements.split_off(1);
        parts.insert(1, Part { statements: rest, first: 0, noted: false });
    }
    parts
}

async fn at_once(service: &Service, part: &Part, script: &Script) -> Result<Option<Refused>, MigrateError> {
    let body = with_foreign_keys(json!({ "statements": part.statements }), script);
    let answer = ask(service, None, Method::POST, "/sql/batch", Some(&body)).await?;
    Ok((answer.status != StatusCode::OK).then(|| refused(&answer, Some(part), script)))
}

/// Sends the statements in several requests of one transaction.
async fn in_parts(service: &Service, parts: &[Part], script: &Script) -> Result<Option<Refused>, MigrateError> {
    let body = with_foreign_keys(json!({}), script);
    let begun = ask(service, None, Method::POST, "/sql/transaction", Some(&body)).await?;
    let json: Value = serde_json::from_slice(&begun.body).unwrap_or_default();
    let Some(id) = json["id"].as_str().filter(|_| begun.status == StatusCode::CREATED) else {
        return Ok(Some(refused(&begun, None, script)));
    };
    for part in parts {
        let body = json!({ "statements": part.statements });
        // A request without an answer ends the transaction as a failed statement does.
        let answer = ask(service, Some(id), Method::POST, "/sql/batch", Some(&body)).await?;
        if answer.status != StatusCode::OK {
            return Ok(Some(refused(&answer, Some(part), script)));
        }
    }
    let answer = ask(service, Some(id), Method::POST, "/sql/transaction/commit", None).await?;
    Ok((answer.status != StatusCode::NO_CONTENT).then(|| Refused { detail: answer.detail(), waits: false }))
}

/// The sidecar enforces foreign keys unless it is told otherwise.
fn with_foreign_keys(mut body: Value, script: &Script) -> Value {
    if !script.foreign_keys {
        body["foreign_keys"] = json!(false);
    }
    body
}

async fn ask(
    service: &Service,
    transaction: Option<&str>,
    method: Method,
    path: &str,
    json: Option<&Value>,
) -> Result<SidecarResponse, MigrateError> {
    let answer = service.ask_in(transaction, method, path, json).await;
    answer.map_err(|source| MigrateError::unanswered(service, source))
}

/// Explains an answer with the line of the file's statement that it names.
fn refused(answer: &SidecarResponse, part: Option<&Part>, script: &Script) -> Refused {
    let detail = answer.detail();
    let is_busy = answer.status == StatusCode::SERVICE_UNAVAILABLE;
    let is_late = answer.status == StatusCode::GATEWAY_TIMEOUT;
    let waits = match part {
        None => is_busy || is_late,
        Some(part) => part.noted && (is_busy || (is_late && part.statements.len() == 1)),
    };
    let named = part.and_then(|part| {
        let (index, detail) = detail.strip_prefix("statement ")?.split_once(": ")?;
        let of_file = (part.first + index.parse::<usize>().ok()?).checked_sub(usize::from(part.noted))?;
        Some(format!("line {}: {detail}", script.statements.get(of_file)?.line))
    });
    Refused { detail: named.unwrap_or(detail), waits }
}
