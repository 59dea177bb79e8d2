//! Classes of datasets, whose `__getitem__` runs in the workers of a loader.

use ruff_python_ast::Expr;

use super::data::{ClassId, FunctionId};
use super::names::last;
use super::unpacked::GivenArgument;
use super::{Call, Model};

/// The classes of loaders.
const LOADERS: [&str; 3] =
    ["torch.utils.data.DataLoader", "torch_geometric.loader.DataLoader", "torch.utils.data.dataloader.DataLoader"];

impl<'a> Model<'a> {
    /// Returns the classes of datasets in the tree, each with `__getitem__`.
    pub(crate) fn datasets(&self) -> Vec<(ClassId, FunctionId)> {
        let ids = (0_u32..).map(ClassId).take(self.tree.classes.len());
        let dataset = |class: ClassId| {
            let item = self.tree.classes[class.index()].methods.get("__getitem__").copied()?;
            self.derives(class, &|path| last(path).ends_with("Dataset")).then_some((class, item))
        };
        ids.filter_map(dataset).collect()
    }

    /// Iterates over the calls with a new loader as their value.
    pub(crate) fn loader_calls(&self) -> impl Iterator<Item = &Call<'a>> {
        self.calls().iter().filter(|call| self.makes_loader(call))
    }

    /// Checks for a new loader: a call of the class, of a partial or another name, of `__init__` in a derived class.
    pub(crate) fn makes_loader(&self, call: &Call<'a>) -> bool {
        call.is_any(&LOADERS) || self.partial_loader(call).is_some() || self.is_behind_loader(call)
    }

    /// Returns the call of `partial` behind the called name: `make = partial(DataLoader, num_workers=4)`.
    pub(crate) fn partial_loader(&self, call: &Call<'a>) -> Option<&Call<'a>> {
        if call.path.is_some() || self.callee(call).is_some() {
            return None;
        }
        self.origins(&call.syntax.func)
            .into_iter()
            .filter_map(|it| self.call(it))
            .find(|it| self.is_partial_of_loader(it))
    }

    fn is_partial_of_loader(&self, call: &Call<'a>) -> bool {
        let made = call.syntax.arguments.args.first().filter(|_| call.is("functools.partial"));
        made.and_then(|it| self.path(it)).is_some_and(|it| LOADERS.contains(&&*it))
    }

    /// A name tells cheaply whether the values behind are worth a search.
    fn is_named_after_loading(&self, call: &Call<'a>) -> bool {
        self.source(&*call.syntax.func).to_ascii_lowercase().contains("load")
    }

    /// `self.loader_class(data)`, `super().__init__(data, **options)`
    fn is_behind_loader(&self, call: &Call<'a>) -> bool {
        if call.is_method("__init__") {
            let function = self.function(call.region);
            let class = function.and_then(|it| self.tree.functions[it.index()].class);
            return class.is_some_and(|it| self.derives(it, &|path| LOADERS.contains(&path)));
        }
        let func = &*call.syntax.func;
        call.path.is_none()
            && self.is_named_after_loading(call)
            && self.callee(call).is_none()
            && (func.is_name_expr() || func.is_attribute_expr() || func.is_subscript_expr())
            && self.paths_behind(func).iter().any(|it| LOADERS.contains(&it.as_str()))
    }

    /// Returns an argument of a new loader, also one of the called `partial`.
    pub(crate) fn given_to_loader(&self, call: &Call<'a>, name: &str, position: usize) -> GivenArgument<'a> {
        match (self.given(call, name, position), self.partial_loader(call)) {
            (GivenArgument::Absent, Some(partial)) => self.given(partial, name, position.saturating_add(1)),
            (found, _) => found,
        }
    }

    /// Checks whether a loader of the tree certainly has workers.
    pub(crate) fn has_loader_with_workers(&self) -> bool {
        self.loader_calls().any(|call| match self.given_to_loader(call, "num_workers", 5) {
            GivenArgument::Value(Expr::NumberLiteral(_)) => {
                self.given_number(call, "num_workers", 5).is_some_and(|it| it > 0)
            }
            GivenArgument::Value(value) => self.known_number(value).is_none_or(|it| it > 0),
            _ => false,
        })
    }

    /// Returns a number among the arguments of a new loader.
    pub(crate) fn given_number(&self, call: &Call<'a>, name: &str, position: usize) -> Option<i64> {
        match self.given_to_loader(call, name, position) {
            GivenArgument::Value(value) => self.known_number(value),
            _ => None,
        }
    }

    /// Checks whether `__getitem__` reads `self.name[index]` with the index of the item.
    pub(crate) fn indexes_own(&self, method: FunctionId, name: &str) -> bool {
        let function = &self.tree.functions[method.index()];
        let Some(index) = function.syntax.parameters.iter_non_variadic_params().nth(1) else { return false };
        let index = index.parameter.name.as_str();
        self.expressions(function.body).any(|(_, it)| {
            let Some(it) = it.as_subscript_expr().filter(|it| it.ctx.is_load()) else { return false };
            let own =
                it.value.as_attribute_expr().filter(|it| it.attr.as_str() == name && Self::root_is_self(&it.value));
            own.is_some() && self.mentions(&it.slice, index)
        })
    }
}
