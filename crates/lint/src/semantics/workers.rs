//! The code that runs in the workers of a DataLoader: items of data sets, functions that collate, transforms, and the functions that they call.

use ruff_python_ast::Expr;
use rustc_hash::FxHashSet;

use super::data::{Binding, ClassId, FunctionId, NodeId, RegionKind};
use super::names::last;
use super::{Call, Model, known};

/// The largest number of functions that run in workers.
const MOST_FUNCTIONS: usize = 100;

/// The code that runs in workers.
#[derive(Debug, Default)]
pub(crate) struct WorkerCode {
    functions: FxHashSet<FunctionId>,
    /// The nodes of lambdas.
    lambdas: Vec<(NodeId, NodeId)>,
}

impl WorkerCode {
    /// Checks whether a call runs in a worker.
    pub(crate) fn has<'a>(&self, model: &Model<'a>, call: &Call<'a>) -> bool {
        self.lambdas.iter().any(|(first, last)| *first <= call.id && call.id <= *last)
            // The body of another lambda may run elsewhere.
            || (!model.regions(call.region).any(|kind| matches!(kind, RegionKind::Lambda))
                && model.function(call.region).is_some_and(|it| self.functions.contains(&it)))
    }
}

/// The workers of the loaders over a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoaderWorkers {
    /// No loader is seen.
    Unseen,
    None,
    Some,
}

impl<'a> Model<'a> {
    /// Returns the code that runs in the workers of loaders.
    pub(crate) fn worker_code(&self) -> WorkerCode {
        let mut code = WorkerCode::default();
        let mut pending = self.item_functions();
        let loaders = self.calls().iter().filter(|call| has_workers(call));
        let collates = loaders.filter_map(|call| call.keyword("collate_fn").or_else(|| call.argument("collate_fn", 6)));
        let mut given: Vec<&'a Expr> = collates.collect();
        if self.workers_of(None) == LoaderWorkers::Some {
            given.extend(self.transforms());
        }
        for function in given {
            if function.is_lambda_expr() {
                code.lambdas.extend(self.id(function).map(|id| (id, self.node(id).last)));
            }
            pending.extend(self.run_by(function, 4));
        }
        while let Some(function) = pending.pop() {
            if code.functions.len() < MOST_FUNCTIONS && code.functions.insert(function) {
                let body = self.tree.functions[function.index()].body;
                pending.extend(self.calls_between(body).iter().filter_map(|call| self.callee(call)));
            }
        }
        code
    }

    /// Returns the methods that make the items of data sets whose loaders may have workers.
    fn item_functions(&self) -> Vec<FunctionId> {
        let classes = (0..).map(ClassId).take(self.tree.classes.len());
        let used = classes.filter(|&it| self.is_dataset(it) && self.workers_of(Some(it)) != LoaderWorkers::None);
        let methods = ["__getitem__", "__getitems__", "__iter__", "__next__"];
        used.flat_map(|class| methods.iter().filter_map(move |name| self.method_of(class, name))).collect()
    }

    /// Checks for a data set of torch, or of a library on top.
    pub(crate) fn is_dataset(&self, class: ClassId) -> bool {
        self.derives(class, &|path| path.starts_with("torch") && path.ends_with("Dataset")) || self.is_of_loader(class)
    }

    /// Checks whether a loader is over objects of a class without the base: `__getitem__` suffices.
    fn is_of_loader(&self, class: ClassId) -> bool {
        let is_over =
            |call: &Call<'a>| call.argument("dataset", 0).is_some_and(|it| self.class_of_object(it) == Some(class));
        let methods = &self.tree.classes[class.index()].methods;
        methods.contains_key("__getitem__") && self.calls().iter().any(|call| is_loader(call) && is_over(call))
    }

    /// Returns the workers of the loaders over a class; without a class, or if no loader is over it, those of all loaders.
    pub(crate) fn workers_of(&self, class: Option<ClassId>) -> LoaderWorkers {
        let loaders: Vec<&Call<'a>> = self.calls().iter().filter(|call| is_loader(call)).collect();
        let is_over = |call: &&Call<'a>| {
            let data = call.argument("dataset", 0).and_then(|it| self.class_of_object(it));
            data.is_some() && data == class
        };
        let own: Vec<&Call<'a>> = loaders.iter().copied().filter(is_over).collect();
        let counted = if own.is_empty() { loaders } else { own };
        match counted.iter().any(|call| has_workers(call)) {
            true => LoaderWorkers::Some,
            false if counted.is_empty() || counted.iter().any(|call| call.has_unpacked()) => LoaderWorkers::Unseen,
            false => LoaderWorkers::None,
        }
    }

    /// Returns the transforms of data sets: of a `transform=`, and the parts of a `Compose` that makes tensors of images.
    fn transforms(&self) -> Vec<&'a Expr> {
        let mut found = Vec::new();
        for call in self.calls() {
            found.extend(call.keyword("transform"));
            found.extend(call.keyword("target_transform"));
            let is_compose = call.path.as_deref().is_some_and(|path| last(path) == "Compose");
            let makes_tensors =
                || ["ToTensor", "ToImage", "Resize", "Crop"].iter().any(|it| self.source(call.syntax).contains(it));
            if is_compose && makes_tensors() {
                let parts = call.syntax.arguments.args.first().and_then(Expr::as_list_expr);
                found.extend(parts.into_iter().flat_map(|it| &it.elts));
            }
        }
        let lambdas: Vec<&'a Expr> = found
            .iter()
            .filter_map(|it| self.call(it))
            .filter(|call| call.path.as_deref().is_some_and(|path| last(path) == "Lambda"))
            .filter_map(|call| call.syntax.arguments.args.first())
            .collect();
        found.extend(lambdas);
        found
    }

    /// Returns the functions that a call of a value runs: of a function, a bound method, a partial function, an object with `__call__`.
    fn run_by(&self, value: &'a Expr, left: usize) -> Option<FunctionId> {
        let left = left.checked_sub(1)?;
        if let Some(function) = self.function_named(value) {
            return Some(function);
        }
        if let Some(call) = self.call(value) {
            if call.is("functools.partial") {
                return self.run_by(call.syntax.arguments.args.first()?, left);
            }
            if let Some(function) = self.callee(call) {
                let returned = self.tree.functions[function.index()].returned.first()?;
                return self.run_by(returned, left);
            }
        }
        if let Expr::Attribute(it) = value
            && let Some(class) = self.class_of_object(&it.value)
            && let Some(method) = self.method_of(class, it.attr.as_str())
        {
            return Some(method);
        }
        if let Expr::Name(name) = value
            && let Binding::Value(value) = &self.tree.definitions[self.definition(name).index()].binding
            && let Some(function) = self.run_by(value, left)
        {
            return Some(function);
        }
        let class = self.class_of_object(value)?;
        self.method_of(class, "__call__").or_else(|| self.method_of(class, "forward"))
    }
}

fn is_loader(call: &Call<'_>) -> bool {
    call.path.as_deref().is_some_and(known::makes_loader)
}

/// Checks for a loader with workers: any value but 0.
fn has_workers(call: &Call<'_>) -> bool {
    let is_zero = |it: &Expr| it.as_number_literal_expr().and_then(|it| it.value.as_int()?.as_u64()) == Some(0);
    is_loader(call) && call.argument("num_workers", 5).is_some_and(|it| !is_zero(it))
}
