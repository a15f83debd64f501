//! Uploads in parts, which survive broken connections and restarts: begun, sent part by part in any order, and
//! completed.

use std::collections::HashMap;

use axum::http::StatusCode;
use serde_json::Value;
use tenon_service::http::body::Incoming;
use tenon_service::http::problem::Problem;

use super::{Conditions, Kept, ObjectPath, StorageError, Written};

/// Limit of parts of an upload; the same as S3's.
pub(crate) const MAX_PARTS: u16 = 10_000;

/// Minimum bytes of every part but the last; the same as S3's.
const MIN_PART_BYTES: u64 = 5 * 1024 * 1024;

/// The longest id. S3 does not limit its ids; those of its servers have up to 200 characters.
const MAX_ID_BYTES: usize = 1024;

/// A stored part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// The number, from 1 on.
    pub(crate) number: u16,
    /// The ETag, with quotes.
    pub(crate) etag: String,
    pub(crate) size: u64,
}

/// The id of an upload.
#[derive(Clone, Debug)]
pub(crate) struct UploadId(String);

impl UploadId {
    /// Checks an id that a client sent.
    pub(crate) fn new(text: &str) -> Result<Self, Problem> {
        if text.is_empty() || text.len() > MAX_ID_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Problem::bad_request("`upload` must be the id of an upload"));
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The number of a part in a request.
pub(crate) fn part_number(text: Option<&str>) -> Result<u16, Problem> {
    let number = text.and_then(|text| text.parse().ok()).filter(|number| (1..=MAX_PARTS).contains(number));
    number.ok_or_else(|| Problem::bad_request(format!("`part` must be a number from 1 to {MAX_PARTS}")))
}

/// A store of uploads in parts. An id belongs to one path; with another path it is [`StorageError::NoUpload`].
pub(crate) trait UploadStore {
    /// Begins an upload.
    fn begin_upload(&self, path: &ObjectPath, kept: &Kept)
    -> impl Future<Output = Result<String, StorageError>> + Send;

    /// Stores a part, replacing an earlier one of its number, and returns its ETag.
    fn put_part(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        number: u16,
        body: Incoming,
    ) -> impl Future<Output = Result<String, StorageError>> + Send;

    /// The stored parts, in order.
    fn parts(&self, path: &ObjectPath, id: &UploadId) -> impl Future<Output = Result<Vec<Part>, StorageError>> + Send;

    /// Makes an object from these parts, if the former one meets the conditions, and ends the upload.
    fn complete_upload(
        &self,
        path: &ObjectPath,
        id: &UploadId,
        parts: Vec<Part>,
        conditions: &Conditions,
    ) -> impl Future<Output = Result<Written, StorageError>> + Send;

    /// Aborts an upload and deletes its parts.
    fn abort_upload(&self, path: &ObjectPath, id: &UploadId) -> impl Future<Output = Result<(), StorageError>> + Send;
}

/// The parts in `{"parts":[{"part","etag"},…]}`: numbered from 1 without gaps, each with its current ETag.
pub(crate) fn chosen(asked: &Value, there: Vec<Part>) -> Result<Vec<Part>, Problem> {
    let wrong =
        || Problem::bad_request("`parts` must be the parts from 1 on, in order: [{\"part\": 1, \"etag\": \"…\"}, …]");
    let asked = asked["parts"].as_array().filter(|asked| !asked.is_empty()).ok_or_else(wrong)?;
    let mut there: HashMap<u64, Part> = there.into_iter().map(|part| (part.number.into(), part)).collect();
    let mut parts = Vec::with_capacity(asked.len().min(there.len()));
    for (number, each) in (1..).zip(asked) {
        let etag = each["etag"].as_str().filter(|_| each["part"].as_u64() == Some(number)).ok_or_else(wrong)?;
        let Some(part) = there.remove(&number).filter(|part| part.etag == etag) else {
            let detail =
                format!("part {number} is not there with this ETag: see the parts that are, and send it again");
            return Err(Problem::new(StatusCode::CONFLICT, detail));
        };
        parts.push(part);
    }
    let all_but_last = &parts[..parts.len() - 1];
    if let Some(small) = all_but_last.iter().find(|part| part.size < MIN_PART_BYTES) {
        let number = small.number;
        return Err(Problem::bad_request(format!(
            "part {number} has fewer than {MIN_PART_BYTES} bytes, which only the last part may have"
        )));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn part(number: u16, size: u64) -> Part {
        Part { number, etag: format!("\"{number}\""), size }
    }

    #[test]
    fn parts_are_chosen_in_order() {
        let there = || vec![part(1, MIN_PART_BYTES), part(2, MIN_PART_BYTES), part(3, 1)];
        let ask = |numbers: &[u64]| {
            let parts: Vec<_> = numbers.iter().map(|n| json!({ "part": n, "etag": format!("\"{n}\"") })).collect();
            chosen(&json!({ "parts": parts }), there())
        };
        assert_eq!(ask(&[1, 2, 3]).unwrap(), there());
        assert_eq!(ask(&[1, 2]).unwrap(), there()[..2]);
        for wrong in [&[][..], &[2], &[2, 1], &[1, 1], &[1, 3], &[1, 2, 3, 4]] {
            assert!(ask(wrong).is_err(), "{wrong:?}");
        }
        assert!(chosen(&json!({ "parts": [{ "part": 1, "etag": "\"x\"" }] }), there()).is_err());
        assert!(chosen(&json!({ "parts": [{ "part": 1 }] }), there()).is_err());
        let small = vec![part(1, 1), part(2, 1)];
        assert!(
            chosen(&json!({ "parts": [{ "part": 1, "etag": "\"1\"" }, { "part": 2, "etag": "\"2\"" }] }), small)
                .is_err()
        );
    }

    #[test]
    fn ids_and_numbers() {
        for wrong in ["", "a b", "é", "a\n", &"x".repeat(1025)] {
            assert!(UploadId::new(wrong).is_err(), "{wrong}");
        }
        assert!(UploadId::new("a.b_c~/+=").is_ok());
        assert_eq!((part_number(Some("1")).unwrap(), part_number(Some("10000")).unwrap()), (1, 10_000));
        for wrong in [None, Some(""), Some("0"), Some("10001"), Some("-1"), Some("1.5"), Some("+")] {
            assert!(part_number(wrong).is_err(), "{wrong:?}");
        }
    }
}
