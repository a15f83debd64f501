//! Members of a request's JSON.

use serde_json::Value;

use super::problem::Problem;

/// Reads a whole number within bounds; none when the member is missing or null.
pub fn number(asked: &Value, name: &str, min: u64, max: u64) -> Result<Option<u64>, Problem> {
    match &asked[name] {
        Value::Null => Ok(None),
        value => {
            let number = value.as_u64().filter(|number| (min..=max).contains(number));
            let wrong = || Problem::bad_request(format!("`{name}` must be a whole number from {min} to {max}"));
            number.map(Some).ok_or_else(wrong)
        }
    }
}

/// Reads the `id` and `receipt` of something leased; `what` names it in the error. No receipt has a NUL, which
/// PostgreSQL takes in no text.
pub fn leased(asked: &Value, what: &str) -> Result<(i64, String), Problem> {
    let id = asked["id"].as_str().and_then(|id| id.parse().ok());
    let receipt = asked["receipt"].as_str().filter(|receipt| !receipt.contains('\0')).map(str::to_owned);
    id.zip(receipt).ok_or_else(|| Problem::bad_request(format!("`id` and `receipt` must be those of a leased {what}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn receipts_have_no_nul() {
        assert!(leased(&json!({ "id": "1", "receipt": "a" }), "run").is_ok());
        assert!(leased(&json!({ "id": "1", "receipt": "a\0" }), "run").is_err());
    }
}
