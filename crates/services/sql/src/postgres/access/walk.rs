//! The walk over a parse tree, which finds parts that are not understood.

use std::collections::BTreeSet;

use tenon_pg_grammar::{Interrupt, Tree};

use super::catalog::Catalog;
use super::nodes::{self, Field};
use super::{ROWS_ONLY, functions};

/// The reason why a statement is not understood, for the client.
type Walked = Result<(), String>;

/// Relations that show the state of a session.
const OF_THE_SESSION: [&str; 2] = ["pg_cursors", "pg_prepared_statements"];

/// SQL's functions without parentheses whose value is a time.
const TIMES: [&str; 5] = ["DATE", "LOCALTIMESTAMP", "LOCALTIME", "CURRENT_TIMESTAMP", "CURRENT_TIME"];

/// One statement's walk.
pub(super) struct Walk<'a> {
    /// The tables that may be named; none allows all.
    tables: Option<&'a BTreeSet<String>>,
    catalog: &'a Catalog,
    /// Names of `WITH` that are in scope.
    scope: Vec<&'a str>,
    /// Aliases of functions in `FROM`, anywhere in the statement, with the columns of each alias.
    functions: Vec<Aliased<'a>>,
    changes_rows: bool,
    /// Ends the walk. Some checks compare each node with every alias or name of `WITH`.
    interrupt: &'a Interrupt,
}

struct Aliased<'a> {
    name: &'a str,
    columns: Vec<&'a str>,
}

fn refuse(why: impl Into<String>) -> Walked {
    Err(why.into())
}

/// The texts of a list of `String` nodes; none when another node is among them.
fn strings<'n>(list: &'n Tree<'_>) -> Option<Vec<&'n str>> {
    if let Tree::List(nodes) = list { texts(nodes) } else { None }
}

fn texts<'n>(nodes: &'n [Tree<'_>]) -> Option<Vec<&'n str>> {
    nodes.iter().map(|node| node["String"]["sval"].as_str()).collect()
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        tables: Option<&'a BTreeSet<String>>,
        catalog: &'a Catalog,
        statement: &'a Tree<'a>,
        interrupt: &'a Interrupt,
    ) -> Self {
        let mut functions = Vec::new();
        aliased_functions(statement, &mut functions);
        Self { tables, catalog, scope: Vec::new(), functions, changes_rows: false, interrupt }
    }

    /// Reports whether rows are changed, after a successful walk.
    pub(super) fn changes_rows(&self) -> bool {
        self.changes_rows
    }

    /// A whole statement.
    pub(super) fn statement(&mut self, statement: &'a Tree<'a>) -> Walked {
        let unlisted = self.tables.is_none();
        match nodes::tagged(statement) {
            Some(("ExplainStmt", explain)) if unlisted => self.statement(&explain["query"]),
            // It reads a setting.
            Some(("VariableShowStmt", _)) if unlisted => Ok(()),
            Some((command, _)) if command == "SelectStmt" || nodes::is_change(command) => self.node(statement),
            _ => refuse(ROWS_ONLY),
        }
    }

    /// Walks a node or a list of nodes. An empty object is an empty entry of a list.
    fn node(&mut self, node: &'a Tree<'a>) -> Walked {
        match node {
            Tree::List(nodes) => nodes.iter().try_for_each(|node| self.node(node)),
            Tree::Object(fields) if fields.is_empty() => Ok(()),
            _ => match nodes::tagged(node) {
                Some((kind, fields)) => self.of_kind(kind, fields),
                None => refuse("a part of the statement is not understood"),
            },
        }
    }

    fn of_kind(&mut self, kind: &str, fields: &'a Tree<'a>) -> Walked {
        if self.interrupt.is_fired() {
            return refuse("the decision took too long");
        }
        match kind {
            "SelectStmt" if fields.get("intoClause").is_some() => refuse("SELECT INTO makes a table"),
            "SelectStmt" => self.in_scope(fields, |walk| walk.fields(kind, fields, &["withClause"])),
            "InsertStmt" | "UpdateStmt" | "DeleteStmt" | "MergeStmt" => {
                self.changes_rows = true;
                self.target(&fields["relation"])?;
                self.in_scope(fields, |walk| walk.fields(kind, fields, &["withClause", "relation"]))
            }
            "RangeVar" => self.table(fields),
            "RangeTableSample" => {
                if !matches!(strings(&fields["method"]).as_deref(), Some(["bernoulli" | "system"])) {
                    return refuse("a method of TABLESAMPLE is not allowed");
                }
                self.fields(kind, fields, &["method"])
            }
            "FuncCall" => {
                self.function(&fields["funcname"])?;
                self.fields(kind, fields, &["funcname"])
            }
            "A_Expr" => {
                self.operators(fields)?;
                self.fields(kind, fields, &["name"])
            }
            "SubLink" => {
                if let Some(name) = fields.get("operName") {
                    self.operator(name)?;
                } else if fields.get("testexpr").is_some() {
                    self.named_operator("=")?;
                }
                self.fields(kind, fields, &["operName"])
            }
            "SortBy" => {
                if let Some(name) = fields.get("useOp") {
                    self.operator(name)?;
                }
                self.fields(kind, fields, &["useOp"])
            }
            "CaseExpr" if fields.get("arg").is_some() => {
                self.named_operator("=")?;
                self.fields(kind, fields, &[])
            }
            "JoinExpr" if fields.get("usingClause").is_some() || fields.get("isNatural").is_some() => {
                self.named_operator("=")?;
                self.fields(kind, fields, &[])
            }
            "TypeName" => self.type_name(fields),
            "ColumnRef" => self.column(&fields["fields"]),
            "A_Indirection" => {
                self.node(&fields["arg"])?;
                self.indirection(&fields["indirection"])
            }
            "ResTarget" => {
                // Assigned fields and elements, which are never function calls.
                for part in fields["indirection"].items() {
                    if part.get("String").is_none() {
                        self.node(part)?;
                    }
                }
                self.fields(kind, fields, &["indirection"])
            }
            "SQLValueFunction" => self.value(fields),
            // An item of FROM and its columns; an item is a call, and nothing that looks like one.
            "RangeFunction" => {
                let calls = fields["functions"].items();
                let is_call = |item: &Tree<'_>| item["List"]["items"][0].get("FuncCall").is_some();
                if !calls.iter().all(is_call) {
                    return refuse("the item after FROM is not understood");
                }
                self.fields(kind, fields, &[])
            }
            _ => {
                for name in nodes::name_in_older_servers(kind) {
                    if self.catalog.function(name).own {
                        return refuse(format!("the function {name} is not allowed"));
                    }
                }
                self.fields(kind, fields, &[])
            }
        }
    }

    /// Walks the fields of a node, except those that were checked.
    fn fields(&mut self, kind: &str, fields: &'a Tree<'a>, looked_at: &[&str]) -> Walked {
        let (Some(known), Some(fields)) = (nodes::fields(kind), fields.fields()) else {
            return refuse(format!("a part of the statement is not understood ({kind})"));
        };
        for (name, value) in fields.iter().filter(|(name, _)| !looked_at.contains(name)) {
            match known.iter().find(|(known, _)| known == name) {
                Some((_, Field::Plain)) => {}
                Some((_, Field::Nodes)) => self.node(value)?,
                Some((_, Field::Of(kind))) => self.of_kind(kind, value)?,
                None => return refuse(format!("a part of the statement is not understood ({kind}.{name})")),
            }
        }
        Ok(())
    }

    /// Walks a statement with the names of its `WITH`. Each part sees the earlier names, and with `RECURSIVE` all.
    fn in_scope(&mut self, fields: &'a Tree<'a>, walk: impl FnOnce(&mut Self) -> Walked) -> Walked {
        let outer = self.scope.len();
        if let Some(with) = fields.get("withClause") {
            let name_of = |part: &'a Tree<'a>| part["CommonTableExpr"]["ctename"].as_str();
            let parts = with["ctes"].items();
            let recursive = with["recursive"] == true;
            if recursive {
                self.scope.extend(parts.iter().filter_map(name_of));
            }
            for part in parts {
                self.node(part)?;
                if !recursive {
                    self.scope.extend(name_of(part));
                }
            }
        }
        walk(self)?;
        self.scope.truncate(outer);
        Ok(())
    }

    /// Checks the source of a read: a name of `WITH`, which has no schema, or a table.
    fn table(&self, table: &Tree<'_>) -> Walked {
        let name = table["relname"].as_str().unwrap_or_default();
        let schema = table.get("schemaname").and_then(Tree::as_str);
        if schema.is_none() && self.scope.contains(&name) && is_plain(name) {
            return Ok(());
        }
        if OF_THE_SESSION.contains(&name) {
            return refuse("what a session holds is not for others");
        }
        self.listed(table, schema, name)
    }

    /// Checks the target of a write: a table, even if `WITH` defines its name.
    fn target(&self, table: &Tree<'_>) -> Walked {
        let name = table["relname"].as_str().unwrap_or_default();
        let schema = table.get("schemaname").and_then(Tree::as_str);
        // Writing to the view pg_settings changes the session.
        let of_system = |name: &str| name.starts_with("pg_") || name == "information_schema";
        if schema.map_or(of_system(name), of_system) {
            return refuse("the system's tables are not written to");
        }
        self.listed(table, schema, name)
    }

    fn listed(&self, table: &Tree<'_>, schema: Option<&str>, name: &str) -> Walked {
        let known = ["schemaname", "relname", "inh", "relpersistence", "alias", "location"];
        let understood = |fields: &[(&str, Tree<'_>)]| fields.iter().all(|(name, _)| known.contains(name));
        if !table.fields().is_some_and(understood) || table["relpersistence"] != "p" {
            return refuse("a table has a name that is not understood");
        }
        let Some(tables) = self.tables else { return Ok(()) };
        if !is_plain(name) || !schema.is_none_or(is_plain) {
            return refuse("a table has a name that is not understood");
        }
        let full = schema.map_or_else(|| name.to_owned(), |schema| format!("{schema}.{name}"));
        if tables.contains(&full) {
            Ok(())
        } else {
            refuse(format!("the table {full} is not among those that are allowed"))
        }
    }

    /// Checks a called function: it must be built-in, and no function of the database may share its name.
    fn function(&self, name: &Tree<'_>) -> Walked {
        let names = strings(name).unwrap_or_default();
        let (built_in, name) = match names[..] {
            [name] => (false, name),
            ["pg_catalog", name] => (true, name),
            [_, name] if self.tables.is_none() && self.catalog.function(name).computes => return Ok(()),
            _ => return refuse(format!("the function {} is not allowed", names.join("."))),
        };
        let found = self.catalog.function(name);
        let known = functions::computes(name) || (self.tables.is_none() && functions::reads(name));
        if known && found.own && !built_in {
            return refuse(format!("the database has a function {name} of its own: write pg_catalog.{name}"));
        }
        if known || (self.tables.is_none() && !built_in && found.computes && !found.own) {
            Ok(())
        } else {
            refuse(format!("the function {name} is not allowed"))
        }
    }

    /// Checks a column. PostgreSQL reads `a.b` as the call `b(a)` if `a` has no column `b`.
    fn column(&self, fields: &Tree<'_>) -> Walked {
        let names = fields.items();
        let [qualifiers @ .., last] = names else { return refuse("a column has a name that is not understood") };
        let (Some((kind, last)), Some(qualifiers)) = (nodes::tagged(last), texts(qualifiers)) else {
            return refuse("a column has a name that is not understood");
        };
        let name = match (kind, last["sval"].as_str()) {
            ("A_Star", _) => return Ok(()),
            ("String", Some(name)) => name,
            _ => return refuse("a column has a name that is not understood"),
        };
        let alias = match qualifiers[..] {
            [] => return Ok(()),
            [alias] | [_, alias] => alias,
            _ => return refuse("a column has a name that is not understood"),
        };
        let found = self.catalog.function(name);
        if found.of_row && found.as_column {
            return refuse(format!("{alias}.{name} may be a call of the function {name}"));
        }
        // The alias of a function may stand for a value of any type.
        let of_function = |aliased: &&Aliased<'_>| aliased.name == alias;
        let is_column = |aliased: &Aliased<'_>| {
            if aliased.columns.is_empty() { aliased.name == name } else { aliased.columns.contains(&name) }
        };
        if found.as_column && !self.functions.iter().filter(of_function).all(is_column) {
            return refuse(format!("{alias}.{name} may be a call of the function {name}"));
        }
        Ok(())
    }

    /// Checks the suffix of an expression: elements, all columns, or a column's name, which may be a function's.
    fn indirection(&mut self, parts: &'a Tree<'a>) -> Walked {
        for part in parts.items() {
            match part["String"]["sval"].as_str() {
                Some(name) if self.catalog.function(name).as_column => {
                    return refuse(format!("(…).{name} may be a call of the function {name}"));
                }
                Some(_) => {}
                None => self.node(part)?,
            }
        }
        Ok(())
    }

    /// The operators of an expression; some kinds are written as words.
    fn operators(&self, expression: &Tree<'_>) -> Walked {
        match expression["kind"].as_str() {
            Some("AEXPR_BETWEEN" | "AEXPR_NOT_BETWEEN" | "AEXPR_BETWEEN_SYM" | "AEXPR_NOT_BETWEEN_SYM") => {
                [">=", "<=", "<", ">"].into_iter().try_for_each(|name| self.named_operator(name))
            }
            Some(
                "AEXPR_OP" | "AEXPR_OP_ANY" | "AEXPR_OP_ALL" | "AEXPR_DISTINCT" | "AEXPR_NOT_DISTINCT" | "AEXPR_NULLIF"
                | "AEXPR_IN" | "AEXPR_LIKE" | "AEXPR_ILIKE" | "AEXPR_SIMILAR",
            ) => self.operator(&expression["name"]),
            _ => refuse("an expression is not understood"),
        }
    }

    fn operator(&self, name: &Tree<'_>) -> Walked {
        match strings(name).as_deref() {
            Some([name]) => self.named_operator(name),
            Some(["pg_catalog", _]) => Ok(()),
            _ => refuse("operators of other schemas are not allowed"),
        }
    }

    fn named_operator(&self, name: &str) -> Walked {
        if self.catalog.has_operator(name) {
            return refuse(format!("the database has an operator {name} of its own"));
        }
        Ok(())
    }

    fn type_name(&mut self, fields: &'a Tree<'a>) -> Walked {
        let known = ["names", "typmods", "typemod", "arrayBounds", "location"];
        let understood = |fields: &[(&str, Tree<'_>)]| fields.iter().all(|(name, _)| known.contains(name));
        if !fields.fields().is_some_and(understood) {
            return refuse("a type is not understood");
        }
        if let Some(modifiers) = fields.get("typmods") {
            self.node(modifiers)?;
        }
        if self.tables.is_none() {
            return Ok(());
        }
        match strings(&fields["names"]).as_deref() {
            Some([name] | ["pg_catalog", name]) if functions::is_type(name) => Ok(()),
            names => refuse(format!("a cast to the type {} is not allowed", names.unwrap_or_default().join("."))),
        }
    }

    /// Checks `CURRENT_DATE` and the like; a list of tables allows those whose value is a time.
    fn value(&self, fields: &Tree<'_>) -> Walked {
        let kind = fields["op"].as_str().unwrap_or_default();
        let kind = kind.trim_start_matches("SVFOP_");
        let kind = if kind == "CURRENT_DATE" { "DATE" } else { kind.trim_end_matches("_N") };
        if self.tables.is_none() || TIMES.contains(&kind) { Ok(()) } else { refuse(format!("{kind} is not allowed")) }
    }
}

/// Reports whether a name reads the same in every encoding and has no separator.
fn is_plain(name: &str) -> bool {
    name.is_ascii() && !name.contains('.') && !name.is_empty()
}

/// Finds the functions in `FROM`, and their aliases.
fn aliased_functions<'a>(node: &'a Tree<'a>, found: &mut Vec<Aliased<'a>>) {
    match node {
        Tree::List(nodes) => nodes.iter().for_each(|node| aliased_functions(node, found)),
        Tree::Object(fields) => {
            for (kind, value) in fields {
                if *kind == "RangeFunction" {
                    found.extend(aliased(value));
                }
                aliased_functions(value, found);
            }
        }
        _ => {}
    }
}

/// Without an alias, a function's result has the function's name.
fn aliased<'a>(function: &'a Tree<'a>) -> Vec<Aliased<'a>> {
    if let Some(name) = function["alias"]["aliasname"].as_str() {
        let mut columns = strings(&function["alias"]["colnames"]).unwrap_or_default();
        let defined = function["coldeflist"].items().iter();
        columns.extend(defined.filter_map(|column| column["ColumnDef"]["colname"].as_str()));
        return vec![Aliased { name, columns }];
    }
    let calls = function["functions"].items().iter();
    let names = calls.filter_map(|call| strings(&call["List"]["items"][0]["FuncCall"]["funcname"])?.last().copied());
    names.map(|name| Aliased { name, columns: Vec::new() }).collect()
}
