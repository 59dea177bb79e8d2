//! A dataset that holds its records as Python objects, which each worker copies little by little.

use causes::CauseId;
use report::RuleId;
use ruff_python_ast::{Expr, Stmt};

use crate::finding::MemoryEffect;
use crate::rule::{Matches, Rule};
use crate::semantics::data::{Binding, ClassId, NodeId, RegionKind};
use crate::semantics::{Call, Model};

pub(super) const RULE: Rule = Rule {
    id: RuleId("python-objects-in-dataset"),
    effect: MemoryEffect::Style,
    summary: "a dataset with workers that keeps a record of each sample as Python objects",
    help: "keep the records in one array, or serialized in one buffer: reading an object writes its reference count, which copies its page in each worker",
    cause: Some(CauseId::HostMemory),
    check,
};

/// Words of functions whose result has an element for each line of a file, or for each file of a tree.
const MANY: [&str; 8] =
    ["json.loads", "json.load", "os.walk", "rglob", ".readlines()", "DictReader", "csv.reader", ".iterrows()"];

fn check(model: &Model<'_>, matches: &mut Matches) {
    let datasets = model.datasets();
    if datasets.is_empty() || !model.has_loader_with_workers() {
        return;
    }
    for (class, item) in datasets {
        let attributes = &model.tree.classes[class.index()].attributes;
        for (name, values) in attributes.iter().filter(|(name, _)| model.indexes_own(item, name)) {
            let message = format!(
                "each worker copies the objects of `self.{name}` as it reads them: host memory grows during the epoch"
            );
            match values.iter().find(|it| is_records(model, it, 4)) {
                Some(value) => _ = matches.add(*value, message),
                None => report_appends(model, matches, class, name, &message),
            }
        }
    }
}

/// Checks for a list with an object for each record of a large file.
fn is_records<'a>(model: &Model<'a>, value: &'a Expr, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    match value {
        Expr::ListComp(it) => {
            let [generator] = it.generators.as_slice() else { return names_many(model, value) };
            let is_cheap = it.elt.is_call_expr() && model.call(&it.elt).is_some_and(is_number);
            !is_cheap
                && (is_lines(model, &generator.iter)
                    || names_many(model, value)
                    || is_records(model, &generator.iter, left))
        }
        Expr::Call(_) => {
            let Some(call) = model.call(value) else { return false };
            if call.is_any(&["list", "sorted", "tuple"]) {
                let of = call.syntax.arguments.args.first();
                return of
                    .is_some_and(|it| is_lines(model, it) || is_records(model, it, left) || names_many(model, it));
            }
            if call.is_any(&["json.load", "pickle.load", "json.loads"]) {
                return true;
            }
            let method = call.method().filter(|_| call.path.is_none()).map_or("", |(_, name)| name);
            let is_table = method == "to_dict" && model.source(&call.syntax.arguments).contains("records");
            matches!(method, "readlines" | "splitlines") || is_table || is_made_of_many(model, call)
        }
        Expr::Name(_) => model.assigned_expressions(value, 3).into_iter().any(|it| is_records(model, it, left)),
        _ => false,
    }
}

fn is_number(call: &Call<'_>) -> bool {
    call.is_any(&["int", "float", "len"])
}

fn names_many<'a>(model: &Model<'a>, value: &'a Expr) -> bool {
    let text = model.source(value);
    MANY.iter().any(|word| text.contains(word))
        || calls_in(model, value).iter().any(|call| is_made_of_many(model, call))
}

fn calls_in<'m, 'a>(model: &'m Model<'a>, value: &'a Expr) -> &'m [Call<'a>] {
    model.id(value).map_or(&[], |id| model.calls_between((id, model.node(id).last)))
}

/// Checks whether a call runs a function of the tree that reads a large file or a tree of files, and returns or yields Python objects.
fn is_made_of_many<'a>(model: &Model<'a>, call: &Call<'a>) -> bool {
    let Some(callee) = model.callee(call) else { return false };
    let function = &model.tree.functions[callee.index()];
    let text = model.source(function.syntax);
    let is_array =
        ["np.array", "np.asarray", "torch.tensor", "torch.stack", "from_numpy"].iter().any(|it| text.contains(it));
    !is_array && MANY.iter().any(|word| text.contains(word))
}

/// Checks for the lines of an open file, or the rows of a CSV reader.
fn is_lines<'a>(model: &Model<'a>, iterated: &'a Expr) -> bool {
    let is_open = |it: &'a Expr| {
        model.call(it).is_some_and(|call| {
            call.syntax.func.as_name_expr().is_some_and(|it| it.id.as_str() == "open")
                || call.is_any(&["gzip.open", "csv.reader", "csv.DictReader"])
                || call.is_method("open")
        })
    };
    match iterated {
        Expr::Name(name) => match &model.tree.definitions[model.definition(name).index()].binding {
            Binding::Context(value) | Binding::Value(value) => is_open(value),
            _ => false,
        },
        Expr::Call(call) => {
            let first = call.arguments.args.first();
            let wraps = model
                .call(iterated)
                .is_some_and(|it| it.is("enumerate") || it.path.as_deref().is_some_and(|it| it.ends_with("tqdm")));
            is_open(iterated) || (wraps && first.is_some_and(|it| is_lines(model, it)))
        }
        _ => false,
    }
}

/// `for line in file: self.records.append(json.loads(line))`
fn report_appends(model: &Model<'_>, matches: &mut Matches, class: ClassId, name: &str, message: &str) {
    let of_class = |call: &&Call<'_>| {
        let function = model.function(call.region);
        function.is_some_and(|it| model.tree.functions[it.index()].class == Some(class))
    };
    for call in model.calls().iter().filter(|call| call.is_method("append")).filter(of_class) {
        let Some((object, _)) = call.method() else { continue };
        let is_own =
            object.as_attribute_expr().is_some_and(|it| it.attr.as_str() == name && Model::root_is_self(&it.value));
        if is_own && is_in_loop_over_many(model, call.id) {
            matches.add(call.syntax, message.to_owned());
            return;
        }
    }
}

fn is_in_loop_over_many(model: &Model<'_>, id: NodeId) -> bool {
    model.regions(model.node(id).region).any(|kind| {
        let RegionKind::Loop(around) = kind else { return false };
        let it = &model.tree.loops[around.index()];
        let crate::semantics::data::Syntax::Statement(Stmt::For(_)) = model.node(it.node).syntax else { return false };
        it.iterated.is_some_and(|iterated| {
            is_lines(model, iterated) || names_many(model, iterated) || is_records(model, iterated, 3)
        })
    })
}
