//! The allow-list of tables, for a database whose user may do more than its sidecar should.
//!
//! A statement is parsed, looked through, and printed again: what runs is what was looked at. What is not understood is
//! refused. Only rows are read and changed; tables have to be listed, and functions are those of the list below, since there
//! are some that run SQL of their own. Statements of triggers and views are the database's own affair.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FromTable, Ident, ObjectName, Query, SetExpr, Statement, TableFactor, TableObject, Visit, Visitor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use crate::sql::{SqlAccess, SqlError};

/// Functions of PostgreSQL that compute, and reach nothing but their arguments.
const FUNCTIONS: &str = " abs age any_value array_agg array_append array_length array_position array_remove array_to_string avg \
    bit_length bool_and bool_or btrim cardinality cbrt ceil ceiling char_length chr clock_timestamp coalesce concat concat_ws \
    count cume_dist current_date current_time current_timestamp date_bin date_part date_trunc dense_rank div every exp extract \
    first_value floor format gcd gen_random_uuid generate_series greatest initcap json_agg json_array_elements \
    json_array_elements_text json_array_length json_build_array json_build_object json_object_agg json_typeof jsonb_agg \
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each \
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object_agg jsonb_object_keys jsonb_set \
    jsonb_strip_nulls jsonb_typeof justify_days justify_hours lag last_value lead least left length ln localtime \
    localtimestamp log lower lpad ltrim make_date make_interval make_time make_timestamp make_timestamptz max md5 min mod now \
    nth_value ntile nullif octet_length overlay percent_rank percentile_cont percentile_disc plainto_tsquery position power \
    random rank regexp_match regexp_matches regexp_replace repeat replace reverse right round row_number row_to_json rpad \
    rtrim sign split_part sqrt starts_with stddev string_agg string_to_array strpos substr substring sum to_char to_date \
    to_json to_jsonb to_number to_timestamp to_tsquery to_tsvector translate trim trunc ts_headline ts_rank unnest upper \
    variance websearch_to_tsquery width_bucket ";

/// The statement to run in place of the one that was sent.
pub(crate) fn check(sql: &str, access: &SqlAccess) -> Result<String, SqlError> {
    let parsed = Parser::parse_sql(&PostgreSqlDialect {}, sql);
    let mut statements = parsed.map_err(|error| SqlError::Statement(error.to_string()))?.into_iter();
    let (Some(statement), None) = (statements.next(), statements.next()) else {
        return Err(SqlError::Statement("one statement at a time; use /sql/batch for several".into()));
    };
    let mut look = Look { access, ctes: Vec::new(), function: None };
    let looked = match &statement {
        Statement::Query(query) => look.at_query(query),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => statement.visit(&mut look),
        _ => ControlFlow::Break("only statements that read or change rows are allowed".to_owned()),
    };
    match looked {
        ControlFlow::Continue(()) => Ok(statement.to_string()),
        ControlFlow::Break(why) => Err(SqlError::Forbidden(why)),
    }
}

struct Look<'a> {
    access: &'a SqlAccess,
    /// Names that `WITH` has given so far.
    ctes: Vec<String>,
    /// The function behind `FROM` whose name comes next; names of functions are visited as names of tables.
    function: Option<String>,
}

type Looked = ControlFlow<String>;

fn refuse(why: impl Into<String>) -> Looked {
    ControlFlow::Break(why.into())
}

impl Look<'_> {
    fn target(&self, name: &ObjectName) -> Looked {
        match name_of(name) {
            Some(name) if self.access.allows(&name) => ControlFlow::Continue(()),
            _ => refuse("a table that is written to is not among those that are allowed"),
        }
    }

    /// A whole statement: the parts of its `WITH` one after the other, as each sees those before it, then the rest.
    fn at_query(&mut self, query: &Query) -> Looked {
        let Some(with) = &query.with else { return query.visit(self) };
        for cte in &with.cte_tables {
            let name = folded(&cte.alias.name);
            if with.recursive {
                self.ctes.push(name);
                cte.query.visit(self)?;
            } else {
                cte.query.visit(self)?;
                self.ctes.push(name);
            }
        }
        Query { with: None, ..query.clone() }.visit(self)
    }
}

impl Visitor for Look<'_> {
    type Break = String;

    fn pre_visit_query(&mut self, query: &Query) -> Looked {
        if query.with.is_some() {
            return refuse("WITH is allowed at the beginning of a statement only");
        }
        if names_table(&query.body) {
            return refuse("write SELECT * FROM in place of TABLE");
        }
        ControlFlow::Continue(())
    }

    /// What is written to is a table, even where `WITH` has given its name to something else.
    fn pre_visit_statement(&mut self, statement: &Statement) -> Looked {
        let targets: Vec<&TableFactor> = match statement {
            Statement::Query(_) => Vec::new(),
            Statement::Insert(insert) => {
                let TableObject::TableName(name) = &insert.table else { return refuse("INSERT INTO takes a table") };
                return self.target(name);
            }
            Statement::Update(update) => vec![&update.table.relation],
            Statement::Delete(delete) => {
                let (FromTable::WithFromKeyword(tables) | FromTable::WithoutKeyword(tables)) = &delete.from;
                tables.iter().map(|table| &table.relation).collect()
            }
            _ => return refuse("only statements that read or change rows are allowed"),
        };
        for target in targets {
            let TableFactor::Table { name, args: None, .. } = target else {
                return refuse("only tables are written to");
            };
            self.target(name)?;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &sqlparser::ast::Select) -> Looked {
        if select.into.is_some() { refuse("SELECT INTO makes a table") } else { ControlFlow::Continue(()) }
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> Looked {
        let Some(name) = name_of(relation) else { return refuse("a table has a name that is not understood") };
        let called = self.function.take().is_some_and(|function| function == name);
        if called || self.access.allows(&name) || self.ctes.contains(&name) {
            ControlFlow::Continue(())
        } else {
            refuse(format!("the table {name} is not among those that are allowed"))
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Looked {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } => match name_of(name) {
                Some(name) if is_function(&name) => {
                    self.function = Some(name);
                    ControlFlow::Continue(())
                }
                _ => refuse("a function behind FROM is not allowed"),
            },
            TableFactor::Table { args: None, .. } => {
                self.function = None;
                ControlFlow::Continue(())
            }
            TableFactor::Derived { .. } | TableFactor::NestedJoin { .. } | TableFactor::UNNEST { .. } => {
                ControlFlow::Continue(())
            }
            TableFactor::Function { name, .. } if name_of(name).is_some_and(|name| is_function(&name)) => {
                ControlFlow::Continue(())
            }
            _ => refuse("what stands behind FROM is not understood"),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Looked {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        match name_of(&function.name) {
            Some(name) if is_function(&name) => ControlFlow::Continue(()),
            Some(name) => refuse(format!("the function {name} is not allowed")),
            None => refuse("a function has a name that is not understood"),
        }
    }
}

/// Whether `TABLE name` is a part of a query: it is not visited as a relation.
fn names_table(body: &SetExpr) -> bool {
    match body {
        SetExpr::Table(_) => true,
        SetExpr::SetOperation { left, right, .. } => names_table(left) || names_table(right),
        _ => false,
    }
}

fn is_function(name: &str) -> bool {
    !name.contains(' ') && FUNCTIONS.contains(&format!(" {name} "))
}

/// `table` or `schema.table` as PostgreSQL folds it; none of names with more parts, or with a point inside of one.
fn name_of(name: &ObjectName) -> Option<String> {
    let parts: Option<Vec<String>> = name.0.iter().map(|part| part.as_ident().map(folded)).collect();
    let parts = parts.filter(|parts| (1..=2).contains(&parts.len()) && parts.iter().all(|part| !part.contains('.')))?;
    Some(parts.join("."))
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> SqlAccess {
        SqlAccess { read_only: false, tables: Some(["users", "app.orders"].map(str::to_string).into()) }
    }

    #[test]
    fn rows_of_listed_tables() {
        for sql in [
            "SELECT u.id, count(*) FROM users u JOIN app.orders o ON o.user_id = u.id WHERE u.name = $1 GROUP BY u.id",
            "INSERT INTO users (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id",
            "UPDATE users SET name = lower($1) WHERE id IN (SELECT user_id FROM app.orders)",
            "DELETE FROM users WHERE id = $1",
            "WITH a AS (SELECT * FROM users), b AS (SELECT * FROM a) SELECT * FROM b UNION SELECT * FROM a",
            "SELECT * FROM generate_series(1, 10) AS g",
            "SELECT 1",
            "SELECT (id, name) > ($1, $2), name LIKE $3, data->>'a' FROM users ORDER BY name DESC LIMIT 5 OFFSET 1",
        ] {
            let printed = check(sql, &access());
            assert!(printed.is_ok(), "{sql}: {printed:?}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for sql in [
            "SELECT * FROM secrets",
            "SELECT * FROM Orders",
            "SELECT * FROM other.users",
            "SELECT * FROM \"Users\"",
            "SELECT (SELECT max(token) FROM secrets)",
            "SELECT * FROM users WHERE EXISTS (SELECT 1 FROM pg_catalog.pg_authid)",
            "WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a",
            "SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x",
            "INSERT INTO users SELECT * FROM secrets",
            "UPDATE users SET name = s.token FROM secrets s",
            "DELETE FROM users USING secrets",
            "WITH d AS (DELETE FROM secrets RETURNING *) SELECT * FROM d",
            "TABLE secrets",
            "SELECT 1 UNION TABLE secrets",
            "SELECT * INTO copy FROM users",
            "SELECT pg_read_file('/etc/passwd')",
            "SELECT query_to_xml('select * from secrets', true, true, '')",
            "SELECT * FROM dblink('', 'select 1') AS x (a int)",
            "SELECT nextval('secret_seq')",
            "CREATE TABLE x (a int)",
            "DROP TABLE users",
            "TRUNCATE users",
            "COPY users TO PROGRAM 'id'",
            "EXPLAIN SELECT * FROM secrets",
            "DO 'begin end'",
            "SELECT 1; DROP TABLE users",
            "SELECT * FROM log",
            "INSERT INTO log VALUES (1)",
            "WITH secrets AS (SELECT 1) INSERT INTO secrets VALUES (1)",
            "WITH secrets AS (SELECT 1) UPDATE secrets SET a = 1",
            "WITH secrets AS (SELECT 1) DELETE FROM secrets",
            "MERGE INTO users USING secrets ON true WHEN MATCHED THEN DELETE",
        ] {
            assert!(check(sql, &access()).is_err(), "{sql}");
        }
    }
}
