//! The names bound by a block, collected before the walk: the locals of a function, the variables carried by a loop.

use ruff_python_ast::{ExceptHandler, Expr, Pattern, Stmt};

/// Calls `note` with each name that `body` binds in its own scope; a name may come several times.
///
/// Left out: `:=`, and captures in nested patterns.
pub(crate) fn names<'a>(body: &'a [Stmt], note: &mut impl FnMut(&'a str)) {
    for statement in body {
        in_statement(statement, note);
    }
}

/// Calls `note` with each name bound by the targets of an assignment.
pub(crate) fn target<'a>(expression: &'a Expr, note: &mut impl FnMut(&'a str)) {
    match expression {
        Expr::Name(name) => note(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|element| target(element, note)),
        Expr::List(list) => list.elts.iter().for_each(|element| target(element, note)),
        Expr::Starred(starred) => target(&starred.value, note),
        _ => {}
    }
}

fn in_statement<'a>(statement: &'a Stmt, note: &mut impl FnMut(&'a str)) {
    match statement {
        Stmt::FunctionDef(it) => note(it.name.as_str()),
        Stmt::ClassDef(it) => note(it.name.as_str()),
        Stmt::Assign(it) => it.targets.iter().for_each(|expression| target(expression, note)),
        Stmt::AugAssign(it) => target(&it.target, note),
        Stmt::AnnAssign(it) => target(&it.target, note),
        Stmt::Delete(it) => it.targets.iter().for_each(|expression| target(expression, note)),
        Stmt::TypeAlias(it) => target(&it.name, note),
        Stmt::Import(it) => it.names.iter().for_each(|alias| note(bound_by_import(alias))),
        Stmt::ImportFrom(it) => {
            it.names.iter().for_each(|alias| note(alias.asname.as_ref().unwrap_or(&alias.name).as_str()));
        }
        _ => in_compound(statement, note),
    }
}

fn in_compound<'a>(statement: &'a Stmt, note: &mut impl FnMut(&'a str)) {
    match statement {
        Stmt::For(it) => {
            target(&it.target, note);
            names(&it.body, note);
            names(&it.orelse, note);
        }
        Stmt::While(it) => {
            names(&it.body, note);
            names(&it.orelse, note);
        }
        Stmt::If(it) => {
            names(&it.body, note);
            it.elif_else_clauses.iter().for_each(|clause| names(&clause.body, note));
        }
        Stmt::With(it) => {
            let targets = it.items.iter().filter_map(|item| item.optional_vars.as_deref());
            targets.for_each(|expression| target(expression, note));
            names(&it.body, note);
        }
        Stmt::Try(it) => {
            names(&it.body, note);
            for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                handler.name.iter().for_each(|name| note(name.as_str()));
                names(&handler.body, note);
            }
            names(&it.orelse, note);
            names(&it.finalbody, note);
        }
        Stmt::Match(it) => {
            for case in &it.cases {
                if let Pattern::MatchAs(capture) = &case.pattern {
                    capture.name.iter().for_each(|name| note(name.as_str()));
                }
                names(&case.body, note);
            }
        }
        _ => {}
    }
}

/// Returns the name bound by `import a.b.c` or `import a.b.c as d`.
pub(crate) fn bound_by_import(alias: &ruff_python_ast::Alias) -> &str {
    let whole = alias.name.as_str();
    alias.asname.as_ref().map_or_else(|| whole.split('.').next().unwrap_or(whole), |name| name.as_str())
}
