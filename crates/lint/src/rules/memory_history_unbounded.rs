//! A memory history without a limit.

use crate::edits;
use crate::finding::{Applicability, MemoryEffect};
use crate::rule::{Matches, Rule};
use crate::semantics::data::FunctionId;
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;

pub(super) const RULE: Rule = Rule {
    id: RuleId("memory-history-unbounded"),
    effect: MemoryEffect::Grows,
    summary: "`_record_memory_history()` without a limit",
    help: "pass `max_entries=100_000`",
    cause: Some(CauseId::HostMemory),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let starts: Vec<_> =
        model.calls().iter().filter(|call| call.is("torch.cuda.memory._record_memory_history")).collect();
    let is_stop = |call: &&&crate::semantics::Call<'_>| {
        call.argument("enabled", 0).is_some_and(ruff_python_ast::Expr::is_none_literal_expr)
    };
    // A program that dumps the history records a few steps only.
    let is_dump = |call: &&Call<'_>| call.is("torch.cuda.memory._dump_snapshot");
    let is_dumped = model.calls().iter().filter(is_dump).any(|call| !is_of_failure(model, call));
    if is_dumped || starts.iter().any(|call| is_stop(&call)) {
        return;
    }
    for call in starts {
        let is_open =
            call.keyword("max_entries").is_none() && !call.has_unpacked() && call.syntax.arguments.args.len() < 4;
        if is_open {
            let message = "the history records every allocation with its stack until the program ends";
            matches.add(call.syntax, message).fix =
                edits::add_keyword(model, call.syntax, "max_entries=100_000", Applicability::Safe);
        }
    }
}

/// Checks whether a dump is for failures alone: in a handler, or in an observer of out-of-memory errors.
fn is_of_failure(model: &Model<'_>, dump: &Call<'_>) -> bool {
    let is_observer = |function: FunctionId| {
        model.calls().iter().any(|call| {
            let is_attached = call.path.as_deref().is_some_and(|path| path.ends_with("out_of_memory_observer"));
            is_attached && call.syntax.arguments.args.iter().any(|it| model.function_named(it) == Some(function))
        })
    };
    model.handler(dump.region).is_some() || model.function(dump.region).is_some_and(is_observer)
}
