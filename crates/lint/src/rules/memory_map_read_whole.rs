//! A memory map that is copied to memory as a whole.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, ClassId, FunctionId};
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
const COPIES: [&str; 10] = [
    "numpy.asfortranarray",
    "copy.copy",
    "copy.deepcopy",
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
    report_arrays_of_streams(model, matches);
}

/// Returns the array that a call copies whole.
fn copied_whole<'a>(model: &Model<'a>, call: &Call<'a>) -> Option<&'a Expr> {
    if call.is_any(&COPIES) {
        return call.syntax.arguments.args.first();
    }
    // A view keeps the type of the map.
    if call.is_any(&["numpy.asarray", "torch.as_tensor"]) && call.argument("dtype", 1).is_some() {
        return call.syntax.arguments.args.first();
    }
    let (array, method) = call.method().filter(|_| call.path.is_none())?;
    let copies = matches!(method, "copy" | "tolist" | "astype" | "clone" | "float" | "long" | "double" | "half")
        && !is_without_copy(call);
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
            let keeps = call.is_any(&["numpy.asarray", "numpy.asanyarray", "torch.from_numpy", "torch.as_tensor"]);
            let returned = model.callee(call).map(|it| model.tree.functions[it.index()].returned.as_slice());
            if let Some([only]) = returned {
                return is_map(model, only, left);
            }
            if let Some((viewed, "view" | "reshape" | "squeeze" | "ravel")) =
                call.method().filter(|_| call.path.is_none())
            {
                return is_map(model, viewed, left);
            }
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
        Expr::Subscript(it) => is_whole(&it.slice) && is_map(model, &it.value, left),
        _ => false,
    }
}

/// Checks for the index of everything: `[:]`, `[...]`, `[()]`.
fn is_whole(index: &Expr) -> bool {
    match index {
        Expr::Slice(it) => it.lower.is_none() && it.upper.is_none() && it.step.is_none(),
        Expr::Tuple(it) => it.elts.is_empty(),
        index => index.is_ellipsis_literal_expr(),
    }
}

/// `self.data = np.load(path)` outside of `__init__`: each worker has a copy, of which a sample takes an item.
fn report_arrays_of_workers(model: &Model<'_>, matches: &mut Matches, class: ClassId, item: FunctionId) {
    let attributes = &model.tree.classes[class.index()].attributes;
    let mut indexed: Vec<_> = attributes.iter().filter(|(name, _)| model.indexes_own(item, name)).collect();
    indexed.sort_unstable_by_key(|(name, _)| **name);
    for (name, values) in indexed {
        for &value in values {
            let Some(id) = model.id(value) else { continue };
            let method = model.function(model.node(id).region).map(|it| &model.tree.functions[it.index()].syntax.name);
            let is_lazy = method.is_some_and(|it| !matches!(it.as_str(), "__init__" | "setup" | "prepare_data"));
            if is_lazy && model.has_loader_with_workers() && reads_array(model, value, 4) {
                let message =
                    format!("each worker reads all of `self.{name}` into memory of its own: pass `mmap_mode=\"r\"`");
                matches.add(value, message);
            }
        }
    }
}

/// Checks for `np.load(path)` without a map, `h5py.File(path)["x"][:]`, or a function of the tree that returns one of them.
fn reads_array<'a>(model: &Model<'a>, value: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Expr::Call(_) => model.call(value).is_some_and(|call| {
            let is_loaded = call.is("numpy.load")
                && call.keyword("mmap_mode").is_none_or(Expr::is_none_literal_expr)
                && !model.source(call.syntax).contains(".npz");
            let returned = model.callee(call).map(|it| model.tree.functions[it.index()].returned.as_slice());
            is_loaded || matches!(returned, Some([only]) if reads_array(model, only, left))
        }),
        Expr::Name(_) => {
            let made = model.assigned_expressions(value, 4);
            !made.is_empty() && made.into_iter().all(|it| reads_array(model, it, left))
        }
        Expr::Subscript(it) => is_whole(&it.slice) && model.source(&*it.value).contains("h5py.File("),
        _ => false,
    }
}

/// `array = np.load(path)` and `array[index]` where workers make the items of a stream, or the item of an index from a file that has all.
fn report_arrays_of_streams(model: &Model<'_>, matches: &mut Matches) {
    if !model.has_loader_with_workers() {
        return;
    }
    for (function, is_stream) in item_functions(model) {
        let body = model.tree.functions[function.index()].body;
        for (_, statement) in model.statements().filter(|(id, _)| body.0 <= *id && *id <= body.1) {
            let Stmt::Assign(assigned) = statement else { continue };
            let [Expr::Name(name)] = assigned.targets.as_slice() else { continue };
            let is_read = reads_array(model, &assigned.value, 4);
            if is_read && is_indexed_by_item(model, function, name.id.as_str(), is_stream, &assigned.value) {
                let message = "each worker reads the whole file into memory of its own: pass `mmap_mode=\"r\"`";
                matches.add(&*assigned.value, message);
            }
        }
    }
}

/// Returns the generators of data sets that stream, with true, and the methods that make one item, with false.
fn item_functions(model: &Model<'_>) -> Vec<(FunctionId, bool)> {
    let classes = (0_u32..).map(ClassId).take(model.tree.classes.len()).filter(|&it| model.is_dataset(it));
    let of_class = |class: ClassId| {
        let methods = &model.tree.classes[class.index()].methods;
        let is_made = |(name, id): (&&str, &FunctionId)| match *name {
            "__getitem__" => Some((*id, false)),
            _ => model.tree.functions[id.index()].yields.then_some((*id, true)),
        };
        methods.iter().filter_map(is_made).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = classes.flat_map(of_class).collect();
    found.sort_unstable_by_key(|(id, _)| id.index());
    found
}

/// Checks whether a name is indexed by the variable of a loop of a stream, or by the index of the item if the file is the same for all.
fn is_indexed_by_item<'a>(
    model: &Model<'a>,
    function: FunctionId,
    name: &str,
    is_stream: bool,
    read: &'a Expr,
) -> bool {
    let it = &model.tree.functions[function.index()];
    let index = it.syntax.parameters.iter_non_variadic_params().nth(1).map(|it| it.parameter.name.as_str());
    let is_used = |slice: &'a Expr| match index.filter(|_| !is_stream) {
        Some(index) => model.mentions(slice, index),
        None => is_stream && model.expressions_below(slice).any(|it| is_element(model, it)),
    };
    let is_of_index = index.is_some_and(|index| !is_stream && model.mentions(read, index));
    !is_of_index
        && model.expressions(it.body).any(|(_, it)| {
            let subscript = it.as_subscript_expr().filter(|it| it.ctx.is_load());
            subscript.is_some_and(|it| {
                it.value.as_name_expr().is_some_and(|it| it.id.as_str() == name) && is_used(&it.slice)
            })
        })
}

/// Checks for a variable of a loop.
fn is_element<'a>(model: &Model<'a>, expression: &'a Expr) -> bool {
    expression.as_name_expr().is_some_and(|name| {
        matches!(model.tree.definitions[model.definition(name).index()].binding, Binding::Element(..))
    })
}
