//! The known node types of a parse tree, with the fields of each.
//!
//! Any other node type or field is refused. The names are those of PostgreSQL's `parsenodes.h` and `primnodes.h`.

use tenon_pg_grammar::Tree;

/// The content of a field.
#[derive(Clone, Copy)]
pub(super) enum Field {
    /// A number, a flag, a name that is never resolved, or a constant.
    Plain,
    /// A node, or a list of nodes, each tagged with its type.
    Nodes,
    /// A node of this type, without a tag.
    Of(&'static str),
}

use Field::{Nodes, Of, Plain};

/// The one entry of a node: its type's name and its fields.
pub(super) fn tagged<'n, 'a>(node: &'n Tree<'a>) -> Option<(&'a str, &'n Tree<'a>)> {
    if let [(name, fields)] = node.fields()? { Some((*name, fields)) } else { None }
}

/// The fields of a node type; none for an unknown one.
pub(super) fn fields(node: &str) -> Option<&'static [(&'static str, Field)]> {
    Some(match node {
        "SelectStmt" => &[
            ("distinctClause", Nodes),
            ("targetList", Nodes),
            ("fromClause", Nodes),
            ("whereClause", Nodes),
            ("groupClause", Nodes),
            ("groupDistinct", Plain),
            ("havingClause", Nodes),
            ("windowClause", Nodes),
            ("valuesLists", Nodes),
            ("sortClause", Nodes),
            ("limitOffset", Nodes),
            ("limitCount", Nodes),
            ("limitOption", Plain),
            ("lockingClause", Nodes),
            ("op", Plain),
            ("all", Plain),
            ("larg", Of("SelectStmt")),
            ("rarg", Of("SelectStmt")),
        ],
        "InsertStmt" => &[
            ("cols", Nodes),
            ("selectStmt", Nodes),
            ("onConflictClause", Of("OnConflictClause")),
            ("returningClause", Of("ReturningClause")),
            ("override", Plain),
        ],
        "UpdateStmt" => &[
            ("targetList", Nodes),
            ("whereClause", Nodes),
            ("fromClause", Nodes),
            ("returningClause", Of("ReturningClause")),
        ],
        "DeleteStmt" => &[("usingClause", Nodes), ("whereClause", Nodes), ("returningClause", Of("ReturningClause"))],
        "MergeStmt" => &[
            ("sourceRelation", Nodes),
            ("joinCondition", Nodes),
            ("mergeWhenClauses", Nodes),
            ("returningClause", Of("ReturningClause")),
        ],
        "MergeWhenClause" => &[
            ("matchKind", Plain),
            ("commandType", Plain),
            ("override", Plain),
            ("condition", Nodes),
            ("targetList", Nodes),
            ("values", Nodes),
        ],
        "OnConflictClause" => &[
            ("action", Plain),
            ("infer", Of("InferClause")),
            ("targetList", Nodes),
            ("whereClause", Nodes),
            ("location", Plain),
        ],
        "InferClause" => &[("indexElems", Nodes), ("whereClause", Nodes), ("conname", Plain), ("location", Plain)],
        "IndexElem" => {
            &[("name", Plain), ("expr", Nodes), ("collation", Plain), ("ordering", Plain), ("nulls_ordering", Plain)]
        }
        "ReturningClause" => &[("options", Nodes), ("exprs", Nodes)],
        "ReturningOption" => &[("option", Plain), ("value", Plain), ("location", Plain)],
        "CommonTableExpr" => &[
            ("ctename", Plain),
            ("aliascolnames", Plain),
            ("ctematerialized", Plain),
            ("ctequery", Nodes),
            ("search_clause", Of("CTESearchClause")),
            ("cycle_clause", Of("CTECycleClause")),
            ("location", Plain),
        ],
        "CTESearchClause" => &[
            ("search_col_list", Plain),
            ("search_breadth_first", Plain),
            ("search_seq_column", Plain),
            ("location", Plain),
        ],
        "CTECycleClause" => &[
            ("cycle_col_list", Plain),
            ("cycle_mark_column", Plain),
            ("cycle_mark_value", Nodes),
            ("cycle_mark_default", Nodes),
            ("cycle_path_column", Plain),
            ("location", Plain),
        ],
        "RangeSubselect" => &[("lateral", Plain), ("subquery", Nodes), ("alias", Plain)],
        "RangeFunction" => &[
            ("lateral", Plain),
            ("ordinality", Plain),
            ("is_rowsfrom", Plain),
            ("functions", Nodes),
            ("alias", Plain),
            ("coldeflist", Nodes),
        ],
        "ColumnDef" => &[
            ("colname", Plain),
            ("typeName", Of("TypeName")),
            ("is_local", Plain),
            ("collClause", Of("CollateClause")),
            ("location", Plain),
        ],
        "RangeTableSample" => &[("relation", Nodes), ("args", Nodes), ("repeatable", Nodes), ("location", Plain)],
        "JoinExpr" => &[
            ("jointype", Plain),
            ("isNatural", Plain),
            ("larg", Nodes),
            ("rarg", Nodes),
            ("usingClause", Plain),
            ("join_using_alias", Plain),
            ("quals", Nodes),
            ("alias", Plain),
        ],
        // The names are of tables in the same FROM.
        "LockingClause" => &[("lockedRels", Plain), ("strength", Plain), ("waitPolicy", Plain)],
        "ResTarget" => &[("name", Plain), ("val", Nodes), ("location", Plain)],
        "MultiAssignRef" => &[("source", Nodes), ("colno", Plain), ("ncolumns", Plain)],
        "SortBy" => &[("node", Nodes), ("sortby_dir", Plain), ("sortby_nulls", Plain), ("location", Plain)],
        "GroupingSet" => &[("kind", Plain), ("content", Nodes), ("location", Plain)],
        "GroupingFunc" => &[("args", Nodes), ("location", Plain)],
        "WindowDef" => &[
            ("name", Plain),
            ("refname", Plain),
            ("partitionClause", Nodes),
            ("orderClause", Nodes),
            ("frameOptions", Plain),
            ("startOffset", Nodes),
            ("endOffset", Nodes),
            ("location", Plain),
        ],
        "List" => &[("items", Nodes)],
        "A_Const" => &[
            ("ival", Plain),
            ("fval", Plain),
            ("boolval", Plain),
            ("sval", Plain),
            ("bsval", Plain),
            ("isnull", Plain),
            ("location", Plain),
        ],
        "ParamRef" => &[("number", Plain), ("location", Plain)],
        "A_Star" | "SetToDefault" => &[("location", Plain)],
        "A_Expr" => &[
            ("kind", Plain),
            ("lexpr", Nodes),
            ("rexpr", Nodes),
            ("rexpr_list_start", Plain),
            ("rexpr_list_end", Plain),
            ("location", Plain),
        ],
        "BoolExpr" => &[("boolop", Plain), ("args", Nodes), ("location", Plain)],
        "NullTest" => &[("arg", Nodes), ("nulltesttype", Plain), ("argisrow", Plain), ("location", Plain)],
        "BooleanTest" => &[("arg", Nodes), ("booltesttype", Plain), ("location", Plain)],
        "SubLink" => &[("subLinkType", Plain), ("testexpr", Nodes), ("subselect", Nodes), ("location", Plain)],
        "CaseExpr" => &[("arg", Nodes), ("args", Nodes), ("defresult", Nodes), ("location", Plain)],
        "CaseWhen" => &[("expr", Nodes), ("result", Nodes), ("location", Plain)],
        "CoalesceExpr" => &[("args", Nodes), ("location", Plain)],
        "MinMaxExpr" => &[("op", Plain), ("args", Nodes), ("location", Plain)],
        "RowExpr" => &[("args", Nodes), ("row_format", Plain), ("location", Plain)],
        "A_ArrayExpr" => &[("elements", Nodes), ("list_start", Plain), ("list_end", Plain), ("location", Plain)],
        "A_Indices" => &[("is_slice", Plain), ("lidx", Nodes), ("uidx", Nodes)],
        "TypeCast" => &[("arg", Nodes), ("typeName", Of("TypeName")), ("location", Plain)],
        // A collation computes nothing, so any name is allowed.
        "CollateClause" => &[("arg", Nodes), ("collname", Plain), ("location", Plain)],
        "FuncCall" => &[
            ("args", Nodes),
            ("agg_order", Nodes),
            ("agg_filter", Nodes),
            ("over", Of("WindowDef")),
            ("agg_within_group", Plain),
            ("agg_star", Plain),
            ("agg_distinct", Plain),
            ("func_variadic", Plain),
            ("funcformat", Plain),
            ("location", Plain),
        ],
        "NamedArgExpr" => &[("arg", Nodes), ("name", Plain), ("argnumber", Plain), ("location", Plain)],
        "JsonFormat" | "JsonReturning" => {
            &[("format_type", Plain), ("encoding", Plain), ("format", Plain), ("typmod", Plain), ("location", Plain)]
        }
        "JsonValueExpr" => &[("raw_expr", Nodes), ("formatted_expr", Nodes), ("format", Plain)],
        "JsonOutput" => &[("typeName", Of("TypeName")), ("returning", Plain)],
        "JsonKeyValue" => &[("key", Nodes), ("value", Of("JsonValueExpr"))],
        "JsonArgument" => &[("val", Of("JsonValueExpr")), ("name", Plain)],
        "JsonBehavior" => &[("btype", Plain), ("expr", Nodes), ("coerce", Plain), ("location", Plain)],
        "JsonIsPredicate" => {
            &[("expr", Nodes), ("format", Plain), ("item_type", Plain), ("unique_keys", Plain), ("location", Plain)]
        }
        "JsonObjectConstructor" | "JsonArrayConstructor" => &[
            ("exprs", Nodes),
            ("output", Of("JsonOutput")),
            ("absent_on_null", Plain),
            ("unique", Plain),
            ("location", Plain),
        ],
        "JsonFuncExpr" => &[
            ("op", Plain),
            ("context_item", Of("JsonValueExpr")),
            ("pathspec", Nodes),
            ("passing", Nodes),
            ("output", Of("JsonOutput")),
            ("on_empty", Of("JsonBehavior")),
            ("on_error", Of("JsonBehavior")),
            ("wrapper", Plain),
            ("quotes", Plain),
            ("location", Plain),
        ],
        "JsonTable" => &[
            ("context_item", Of("JsonValueExpr")),
            ("pathspec", Of("JsonTablePathSpec")),
            ("passing", Nodes),
            ("columns", Nodes),
            ("on_error", Of("JsonBehavior")),
            ("alias", Plain),
            ("lateral", Plain),
            ("location", Plain),
        ],
        "JsonTablePathSpec" => &[("string", Nodes), ("name", Plain), ("name_location", Plain), ("location", Plain)],
        "JsonTableColumn" => &[
            ("coltype", Plain),
            ("name", Plain),
            ("typeName", Of("TypeName")),
            ("pathspec", Of("JsonTablePathSpec")),
            ("format", Plain),
            ("wrapper", Plain),
            ("quotes", Plain),
            ("columns", Nodes),
            ("on_empty", Of("JsonBehavior")),
            ("on_error", Of("JsonBehavior")),
            ("location", Plain),
        ],
        _ => return None,
    })
}

/// Names that the grammar of PostgreSQL 18 parses as syntax, and an older server resolves as functions.
pub(super) fn name_in_older_servers(node: &str) -> &'static [&'static str] {
    match node {
        "JsonObjectConstructor" => &["json_object"],
        "JsonArrayConstructor" => &["json_array"],
        "JsonFuncExpr" => &["json_exists", "json_query", "json_value"],
        "JsonTable" => &["json_table"],
        _ => &[],
    }
}

/// Reports whether a statement that is not understood changes rows, by its own kind or that of a part of its `WITH`.
pub(super) fn changes_rows(statement: &Tree<'_>) -> bool {
    let Some((kind, fields)) = tagged(statement) else { return false };
    let parts = fields["withClause"]["ctes"].items();
    is_change(kind) || parts.iter().any(|part| changes_rows(&part["CommonTableExpr"]["ctequery"]))
}

/// Reports whether a node changes rows.
pub(super) fn is_change(node: &str) -> bool {
    matches!(node, "InsertStmt" | "UpdateStmt" | "DeleteStmt" | "MergeStmt")
}
