//! The parts of the database's own catalog on which decisions depend.
//!
//! The server resolves a statement's names in its catalog, which includes functions and operators of the database's
//! owner, and these may do anything. So each new connection reads their names.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, Row};

use super::functions;

/// The names of functions and operators on which decisions depend.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Catalog {
    functions: HashMap<String, Function>,
    operators: HashSet<String>,
}

/// The common properties of the functions of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    /// One of them is in another schema than `pg_catalog`, and is not known to be pure.
    pub(super) own: bool,
    /// All of them are immutable functions of extensions: by definition they compute from their arguments only.
    pub(super) computes: bool,
    /// One of them, or a cast to a type of this name, can be called as if it were a column: `(expression).name`.
    pub(super) as_column: bool,
    /// One of them takes a row: `alias.name`.
    pub(super) of_row: bool,
}

/// Functions by name: those outside `pg_catalog`, and built-in ones that can be called as columns.
const FUNCTIONS: &str = "
SELECT f.proname::text, bool_or(f.elsewhere AND NOT f.computes), bool_and(f.computes),
  bool_or(f.unary), bool_or(f.unary AND f.of_row)
FROM (
  SELECT p.proname,
    p.pronamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace AS elsewhere,
    p.provolatile OPERATOR(pg_catalog.=) 'i' AND EXISTS (
      SELECT FROM pg_catalog.pg_depend d
      WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_proc'::pg_catalog.regclass
        AND d.objid OPERATOR(pg_catalog.=) p.oid AND d.deptype OPERATOR(pg_catalog.=) 'e') AS computes,
    p.pronargs OPERATOR(pg_catalog.-) p.pronargdefaults OPERATOR(pg_catalog.<=) 1
      AND t.typname NOT IN ('internal', 'trigger', 'event_trigger') AS unary,
    t.typtype OPERATOR(pg_catalog.=) 'c' OR t.typname IN
      ('record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray') AS of_row
  FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) p.proargtypes[0]) f
GROUP BY f.proname
HAVING bool_or(f.elsewhere) OR bool_or(f.unary)";

/// Types, including each table's: `(expression).name` is a cast where there is no such column and no such function.
const TYPES: &str = "SELECT DISTINCT t.typname::text FROM pg_catalog.pg_type t";

/// Operators outside `pg_catalog` that no extension brought.
const OPERATORS: &str = "
SELECT DISTINCT o.oprname::text FROM pg_catalog.pg_operator o
WHERE o.oprnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace AND NOT EXISTS (
  SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_operator'::pg_catalog.regclass
    AND d.objid OPERATOR(pg_catalog.=) o.oid AND d.deptype OPERATOR(pg_catalog.=) 'e')";

/// The first schema of the search path, except that of temporary tables.
const FIRST_SCHEMA: &str = "SELECT s::text FROM pg_catalog.unnest(pg_catalog.current_schemas(true)) s
WHERE s::text NOT LIKE 'pg\\_temp%' LIMIT 1";

impl Catalog {
    /// Reads the names on a new connection.
    ///
    /// # Errors
    ///
    /// The database's error.
    pub(super) async fn read(connection: &mut PgConnection) -> Result<Self, sqlx::Error> {
        let mut functions = HashMap::<String, Function>::new();
        for row in sqlx::query(FUNCTIONS).fetch_all(&mut *connection).await? {
            let name: String = row.try_get(0)?;
            let function = Function {
                own: row.try_get(1)?,
                computes: row.try_get(2)?,
                // Null for a function without parameters.
                as_column: row.try_get::<Option<bool>, _>(3)?.unwrap_or_default(),
                of_row: row.try_get::<Option<bool>, _>(4)?.unwrap_or_default(),
            };
            // A built-in pure function may also be called as a column.
            if function.own || function.computes || !functions::computes(&name) {
                functions.insert(name, function);
            }
        }
        let types: Vec<String> = sqlx::query_scalar(TYPES).fetch_all(&mut *connection).await?;
        for name in types.into_iter().filter(|name| !functions::is_type(name)) {
            functions.entry(name).or_default().as_column = true;
        }
        let operators = sqlx::query_scalar(OPERATORS).fetch_all(connection).await?.into_iter().collect();
        Ok(Self { functions, operators })
    }

    /// The functions of this name, if decisions depend on them.
    pub(super) fn function(&self, name: &str) -> Function {
        self.functions.get(name).copied().unwrap_or_default()
    }

    /// Reports whether the database has its own operator with this name.
    pub(super) fn has_operator(&self, name: &str) -> bool {
        self.operators.contains(name)
    }

    /// For tests: names of the database's own functions, and of functions that are called as columns.
    #[cfg(test)]
    pub(super) fn of(own: &[&str], as_column: &[&str]) -> Self {
        let own = own.iter().map(|name| {
            ((*name).to_owned(), Function { own: true, as_column: true, of_row: true, ..Function::default() })
        });
        let built_in =
            as_column.iter().map(|name| ((*name).to_owned(), Function { as_column: true, ..Function::default() }));
        Self { functions: own.chain(built_in).collect(), operators: HashSet::from(["===".to_owned()]) }
    }
}

/// Refuses a `search_path` that names other schemas before `pg_catalog`, which could replace built-in types.
///
/// # Errors
///
/// The database's error, and such a path.
pub(super) async fn check_search_path(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let first: Option<String> = sqlx::query_scalar(FIRST_SCHEMA).fetch_optional(connection).await?;
    if first.as_deref() == Some("pg_catalog") {
        return Ok(());
    }
    Err(sqlx::Error::Configuration("search_path must not put other schemas before pg_catalog".into()))
}

/// Checks that statements run with the rights of this role, because a proxy in front of the server may have dropped the
/// setting.
///
/// # Errors
///
/// The database's error, and another role.
pub(super) async fn check_role(connection: &mut PgConnection, role: &str) -> Result<(), sqlx::Error> {
    let current: String = sqlx::query_scalar("SELECT current_user::text").fetch_one(connection).await?;
    if current == role {
        return Ok(());
    }
    Err(sqlx::Error::Configuration(format!("the role is {current}, and should be {role}").into()))
}
