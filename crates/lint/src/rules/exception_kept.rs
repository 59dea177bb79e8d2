//! An out-of-memory error stored with its traceback.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::Model;
use crate::semantics::data::RegionKind;

pub(super) const RULE: Rule = Rule {
    id: RuleId("exception-kept"),
    effect: MemoryEffect::Grows,
    summary: "an exception kept after its `except` block",
    help: "keep `str(error)` or `traceback.format_exc()`",
    cause: Some(CauseId::ExceptionHoldsFrames),
    check,
};

fn check(model: &Model<'_>, matches: &mut Matches) {
    let message = "an exception refers to its stack frames, and the frames to their tensors: the tensors of the \
                  failed step stay on the GPU";
    for call in model.calls().iter().filter(|call| call.is_method("append")) {
        if let [Expr::Name(kept)] = &*call.syntax.arguments.args
            && is_caught(model, call.region, kept.id.as_str())
        {
            matches.add(kept, message);
        }
    }
    for (id, statement) in model.statements() {
        let Stmt::Assign(it) = statement else { continue };
        if let (Expr::Name(kept), [Expr::Attribute(_) | Expr::Subscript(_)]) = (&*it.value, it.targets.as_slice())
            && is_caught(model, model.node(id).region, kept.id.as_str())
        {
            matches.add(kept, message);
        }
    }
}

/// Checks whether a name is the out-of-memory error of a handler around it.
fn is_caught(model: &Model<'_>, region: crate::semantics::data::RegionId, name: &str) -> bool {
    model.regions(region).any(|kind| match kind {
        RegionKind::Handler(it) => it.name.as_ref().is_some_and(|it| it.as_str() == name) && model.catches_oom(it),
        _ => false,
    })
}
