//! A memory map that is copied to memory as a whole.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::Expr;

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{ClassId, FunctionId};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("memory-map-read-whole"),
    effect: MemoryEffect::Style,
    summary: "a memory map copied as a whole, or an array that each worker of a loader reads as a whole",
    help: "keep the memory map, and copy the slice of each sample",
    cause: Some(CauseId::HostMemory),
    check,
};

/// Functions that copy their argument to memory.
const COPIES: [&str; 7] = [
    "numpy.array",
    "numpy.copy",
    "numpy.ascontiguousarray",
    "torch.tensor",
    "list",
    "numpy.stack",
    "numpy.concatenate",
];

fn check(model: &Model<'_>, matches: &mut Matches) {
    for call in model.calls() {
        if copied_whole(model, call).is_some_and(|it| is_map(model, it, 4)) {
            matches.add(call.syntax, "the whole file is read into memory: the memory map saves nothing");
        }
    }
    for (class, item) in model.datasets() {
        report_arrays_of_workers(model, matches, class, item);
    }
}

/// Returns the array that a call copies whole.
fn copied_whole<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<&'a Expr> {
    if call.is_any(&COPIES) {
        return call.syntax.arguments.args.first();
    }
    let (array, method) = call.method().filter(|_| call.path.is_none())?;
    let copies = matches!(method, "copy" | "tolist" | "astype") && !is_without_copy(call);
    (copies && !model.source(array).contains('[')).then_some(array)
}

/// `astype(dtype, copy=False)`
fn is_without_copy(call: &Call<'_>) -> bool {
    call.keyword("copy").is_some()
}

/// Checks for `np.memmap(...)`, `np.load(file, mmap_mode="r")`, or a name of one.
fn is_map<'a>(model: &Model<'a>, array: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match array {
        Expr::Call(_) => model.call(array).is_some_and(|call| {
            let is_loaded =
                call.is("numpy.load") && call.keyword("mmap_mode").is_some_and(|it| !it.is_none_literal_expr());
            let keeps = call.is_any(&["numpy.asarray", "numpy.asanyarray"]);
            call.is("numpy.memmap")
                || call.is("numpy.lib.format.open_memmap")
                || is_loaded
                || (keeps && call.syntax.arguments.args.first().is_some_and(|it| is_map(model, it, left)))
        }),
        Expr::Name(_) | Expr::Attribute(_) => {
            let made = model.assigned_expressions(array, 4);
            let mut made = made.into_iter().filter(|it| !it.is_none_literal_expr()).peekable();
            made.peek().is_some() && made.all(|it| is_map(model, it, left))
        }
        _ => false,
    }
}

/// `self.data = np.load(path)` outside of `__init__`: each worker has a copy, of which a sample takes an item.
fn report_arrays_of_workers(model: &Model<'_>, matches: &mut Matches, class: ClassId, item: FunctionId) {
    let attributes = &model.tree.classes[class.index()].attributes;
    let mut indexed: Vec<_> = attributes.iter().filter(|(name, _)| model.indexes_own(item, name)).collect();
    indexed.sort_unstable_by_key(|(name, _)| **name);
    for (name, values) in indexed {
        for call in values.iter().filter_map(|it| model.call(it)) {
            let method = model.function(call.region).map(|it| model.tree.functions[it.index()].syntax.name.as_str());
            let is_lazy = method.is_some_and(|it| !matches!(it, "__init__" | "setup" | "prepare_data"));
            let is_array = call.is("numpy.load")
                && call.keyword("mmap_mode").is_none()
                && !model.source(call.syntax).contains(".npz");
            if is_lazy && is_array && model.has_loader_with_workers() {
                let message =
                    format!("each worker reads all of `self.{name}` into memory of its own: pass `mmap_mode=\"r\"`");
                matches.add(call.syntax, message);
            }
        }
    }
}
