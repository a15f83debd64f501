//! Statements from clients.

use serde_json::Value;
use tenon_service::Limits;
use tenon_service::http::problem::Problem;

use super::exact::{self, Texts};
use super::{Outcome, RowForm, SqlError};

/// SQL text and the values of its placeholders.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
    /// The texts of the parameters, if one of them needs its text; else none.
    pub(crate) texts: Texts,
    /// The number of affected rows that the commit requires.
    pub(crate) expected_rows: Option<u64>,
    pub(crate) row_form: RowForm,
}

impl Statement {
    /// Checks `expect` against the rows of a result, or the changed rows without a result.
    pub(crate) fn check(&self, outcome: &Outcome) -> Result<(), SqlError> {
        let rows = if outcome.columns.is_empty() { outcome.rows_affected } else { outcome.row_count };
        match self.expected_rows {
            Some(expected) if expected != rows => {
                Err(SqlError::Unexpected(format!("the statement came to {rows} rows, and {expected} were expected")))
            }
            _ => Ok(()),
        }
    }

    /// Reads `{"sql":"…","params":[…],"expect":{"rows":n},"rows":"arrays"}`; all but the text are optional. Problems never repeat a
    /// value.
    fn from_json(value: Value, limits: &Limits) -> Result<Self, Problem> {
        let Value::Object(mut object) = value else {
            return Err(Problem::bad_request("a statement must be an object with `sql` and `params`"));
        };
        let sql = match object.remove("sql") {
            Some(Value::String(sql)) if !sql.trim().is_empty() => sql,
            Some(Value::String(_)) => return Err(Problem::bad_request("`sql` must not be empty")),
            _ => return Err(Problem::bad_request("`sql` must be a text")),
        };
        if sql.contains('\0') {
            return Err(Problem::bad_request("`sql` must not have the character U+0000"));
        }
        let params = match object.remove("params") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(params)) => params,
            Some(_) => return Err(Problem::bad_request("`params` must be a list")),
        };
        if params.len() > limits.max_params {
            return Err(Problem::bad_request(format!(
                "a statement must have at most {} parameters",
                limits.max_params
            )));
        }
        let expected_rows = match object.remove("expect") {
            None | Some(Value::Null) => None,
            Some(expect) => {
                let rows = expect
                    .as_object()
                    .filter(|expect| expect.len() == 1)
                    .and_then(|expect| expect.get("rows")?.as_u64());
                Some(rows.ok_or_else(|| Problem::bad_request("`expect` must be {\"rows\": n}, n from 0 on"))?)
            }
        };
        let row_form = match object.remove("rows") {
            None | Some(Value::Null) => RowForm::Objects,
            Some(Value::String(form)) if form == "arrays" => RowForm::Arrays,
            Some(_) => return Err(Problem::bad_request("`rows` must be \"arrays\", or be left out for objects")),
        };
        Ok(Self { sql, params, texts: Texts::new(), expected_rows, row_form })
    }

    /// Reads the body of a request for one statement.
    pub(crate) fn of_body(value: Value, text: &[u8], limits: &Limits) -> Result<Self, Problem> {
        let mut statement = Self::from_json(value, limits)?;
        if statement.needs_texts() {
            statement.texts = exact::of_statement(text).ok_or_else(ambiguous)?;
        }
        Ok(statement)
    }

    /// Reads the body of a batch.
    pub(crate) fn all_of_body(value: Value, text: &[u8], limits: &Limits) -> Result<Vec<Self>, Problem> {
        let mut statements = Self::batch_from_json(value, limits)?;
        if statements.iter().any(Self::needs_texts) {
            let texts = exact::of_batch(text).ok_or_else(ambiguous)?;
            for (statement, texts) in statements.iter_mut().zip(texts) {
                statement.texts = texts.unwrap_or_default();
            }
        }
        Ok(statements)
    }

    fn needs_texts(&self) -> bool {
        self.params.iter().any(exact::needs_text)
    }

    /// Reads `{"statements":[…]}`.
    fn batch_from_json(mut value: Value, limits: &Limits) -> Result<Vec<Self>, Problem> {
        let Some(Value::Array(statements)) = value.get_mut("statements").map(Value::take) else {
            return Err(Problem::bad_request("`statements` must be a list"));
        };
        if statements.len() > limits.max_statements {
            return Err(Problem::bad_request(format!(
                "a batch must have at most {} statements",
                limits.max_statements
            )));
        }
        statements.into_iter().map(|statement| Self::from_json(statement, limits)).collect()
    }
}

/// JSON readers differ in which of two members of one name they take.
fn ambiguous() -> Problem {
    Problem::bad_request("the body has a name twice")
}
