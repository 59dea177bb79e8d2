//! `nn.DataParallel`: extra memory on the first GPU.

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::{Call, Model};
use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

pub(super) const RULE: Rule = Rule {
    id: RuleId("data-parallel"),
    effect: MemoryEffect::Wastes,
    summary: "`torch.nn.DataParallel`",
    help: "use `DistributedDataParallel`, one process per GPU",
    cause: Some(CauseId::RankImbalance),
    check,
};

/// The names of the class and of the function.
const FUNCTIONS: [&str; 4] = [
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
    "torch.nn.parallel.data_parallel.DataParallel",
];

fn check(model: &Model<'_>, matches: &mut Matches) {
    if !model.text.contains("DataParallel") && !model.text.contains("data_parallel") {
        return;
    }
    // Without a backward there is no loss, no gradient and no optimizer on the first GPU.
    if model.work_of(model.calls()).backwards == 0 || only_evaluates(model) {
        return;
    }
    for call in model.calls().iter().filter(|call| makes_replicas(model, call)) {
        let function = model.function(call.region).map(|it| model.tree.functions[it.index()].syntax.name.as_str());
        if function.is_some_and(|name| name.contains("eval")) {
            continue;
        }
        matches.add(
            call.syntax,
            "GPU 0 also holds the gathered outputs, the loss and the optimizer, and every forward copies the \
            model to the other GPUs: GPU 0 runs out first",
        );
    }
}

/// Checks for a script that evaluates, beside another one of the project that trains the same model.
fn only_evaluates(model: &Model<'_>) -> bool {
    let text = model.own_text();
    text.contains(".eval()") && !text.contains("backward")
}

/// `DataParallel(model)`, also under another name, in `partial`, or as the function `data_parallel`.
fn makes_replicas<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    if call.is_any(&FUNCTIONS) {
        return true;
    }
    let func = &*call.syntax.func;
    let made = if call.is("functools.partial") { call.syntax.arguments.args.first() } else { Some(func) };
    let is_plain = |it: &&Expr| it.is_name_expr() || it.is_attribute_expr() || it.is_subscript_expr();
    let is_unknown = call.path.is_none() && model.callee(call).is_none();
    let made = made.filter(is_plain).filter(|_| is_unknown || call.is("functools.partial"));
    let is_likely = |it: &Expr| {
        let text = model.source(it).to_ascii_lowercase();
        ["wrap", "parallel", "cls", "class", "ddp"].iter().any(|word| text.contains(word))
    };
    made.filter(|it| is_likely(it)).is_some_and(|it| {
        let paths = model.paths_behind(it);
        !paths.is_empty() && paths.iter().all(|it| FUNCTIONS.contains(&it.as_str()))
    })
}
