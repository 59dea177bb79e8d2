//! The call that moved a value to a GPU as a whole, traced through names, attributes, collections and functions.

use ruff_python_ast::{Expr, ExprCall, Parameter};
use rustc_hash::FxHashSet;

use super::build::UNBOUND;
use super::data::{Binding, DefinitionId, FunctionId, NodeId};
use super::{Call, Model};

/// The largest number of steps of a query.
const STEPS: usize = 12;
/// The largest number of values of one name.
const MOST_VALUES: usize = 4;
/// The largest number of expressions that a search for the origin visits.
const MOST_VISITED: usize = 80;

/// Functions of torch that make tensors of data.
const CONVERTS: [&str; 3] = ["torch.tensor", "torch.as_tensor", "torch.asarray"];
/// Functions whose result holds their arguments.
const COLLECTS: [&str; 13] = [
    "list",
    "tuple",
    "dict",
    "zip",
    "enumerate",
    "torch.cat",
    "torch.stack",
    "torch.concat",
    "torch.vstack",
    "torch.utils.data.TensorDataset",
    "torch.utils.data.Subset",
    "torch.utils.data.random_split",
    "torch.utils.data.ConcatDataset",
];

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceOrigin {
    /// Files or a collection of data.
    Data,
    /// A parameter without an argument in any seen call.
    Parameter,
    Unknown,
}

impl<'a> Model<'a> {
    /// Returns the call that placed a value on a GPU, or one of the values in a collection.
    pub(crate) fn placed(&self, value: &'a Expr) -> Option<&'a ExprCall> {
        self.placed_within(value, STEPS)
    }

    fn placed_within(&self, value: &'a Expr, left: usize) -> Option<&'a ExprCall> {
        let left = left.checked_sub(1)?;
        match value {
            Expr::Name(name) => self
                .placed_definition(self.definition(name), left)
                .or_else(|| self.placed_any(self.added_values(value), left)),
            Expr::Attribute(it) => {
                if let Some(definition) = self.named(value) {
                    return self.placed_definition(definition, left);
                }
                let class = self.class_of_object(&it.value)?;
                let values = self.values_of_attribute(class, it.attr.as_str());
                self.placed_any(values, left).or_else(|| self.placed_any(self.added_values(value), left))
            }
            Expr::Subscript(it) => self.placed_within(&it.value, left),
            Expr::Starred(it) => self.placed_within(&it.value, left),
            Expr::If(it) => self.placed_any([&*it.body, &*it.orelse], left),
            Expr::Tuple(it) => self.placed_any(it.elts.iter(), left),
            Expr::List(it) => self.placed_any(it.elts.iter(), left),
            Expr::Dict(it) => self.placed_any(it.items.iter().map(|item| &item.value), left),
            Expr::ListComp(it) => self.placed_within(&it.elt, left),
            Expr::Generator(it) => self.placed_within(&it.elt, left),
            Expr::DictComp(it) => self.placed_within(&it.value, left),
            Expr::Lambda(it) => self.placed_within(&it.body, left),
            Expr::Call(syntax) => self.placed_call(self.call(value)?, syntax, left),
            _ => None,
        }
    }

    fn placed_any(&self, values: impl IntoIterator<Item = &'a Expr>, left: usize) -> Option<&'a ExprCall> {
        values.into_iter().take(MOST_VALUES).find_map(|it| self.placed_within(it, left))
    }

    fn placed_call(&self, call: &Call<'a>, syntax: &'a ExprCall, left: usize) -> Option<&'a ExprCall> {
        if self.places_data(call) {
            return Some(syntax);
        }
        let first = syntax.arguments.args.first();
        if call.is("map") {
            return self.placed_by_map(first?, syntax, left);
        }
        let returned: Vec<&'a Expr> =
            self.may_run(call).iter().flat_map(|it| &self.tree.functions[it.index()].returned).copied().collect();
        if !returned.is_empty() {
            return self.placed_any(returned, left);
        }
        if call.is_any(&COLLECTS) {
            let keywords = syntax.arguments.keywords.iter().filter(|_| call.is("dict")).map(|it| &it.value);
            return self.placed_any(syntax.arguments.args.iter().chain(keywords), left);
        }
        if let Some((receiver, method)) = call.method().filter(|_| call.path.is_none()) {
            let leaves = matches!(method, "cpu" | "numpy" | "item" | "tolist" | "to" | "size" | "pin_memory");
            return if leaves { None } else { self.placed_within(receiver, left) };
        }
        match self.named(&syntax.func).map(|it| &self.tree.definitions[it.index()].binding) {
            Some(Binding::Value(lambda @ Expr::Lambda(_))) => self.placed_within(lambda, left),
            Some(Binding::Value(value)) => self.is_partial_on_gpu(value).then_some(syntax),
            _ => None,
        }
    }

    /// `map(torch.Tensor.cuda, tensors)`, `map(lambda it: it.cuda(), tensors)`, `map(place, tensors)`
    fn placed_by_map(&self, function: &'a Expr, syntax: &'a ExprCall, left: usize) -> Option<&'a ExprCall> {
        if self.path(function).as_deref() == Some("torch.Tensor.cuda") || self.is_partial_on_gpu(function) {
            return Some(syntax);
        }
        match self.function_named(function) {
            Some(it) => self.placed_any(self.tree.functions[it.index()].returned.iter().copied(), left),
            None => self.placed_within(function, left),
        }
    }

    /// `partial(torch.as_tensor, device="cuda")`
    fn is_partial_on_gpu(&self, value: &'a Expr) -> bool {
        let Some(partial) = self.call(value).filter(|call| call.is("functools.partial")) else { return false };
        let path = partial.syntax.arguments.args.first().and_then(|it| self.path(it));
        path.is_some_and(|it| CONVERTS.contains(&&*it))
            && partial.keyword("device").is_some_and(|it| self.may_name_gpu(it))
    }

    /// Checks whether a call places more than numbers on a GPU: `.cuda()` of a tensor, `torch.tensor(rows, device="cuda")`.
    fn places_data(&self, call: &Call<'a>) -> bool {
        let first = call.syntax.arguments.args.first();
        if self.loads_to_gpu(call) || self.is_sent_to_gpu(call) {
            return true;
        }
        let converts = call.is_any(&CONVERTS);
        let is_literal = || first.is_none_or(|it| it.is_list_expr() || it.is_literal_expr() || it.is_tuple_expr());
        if converts {
            let is_default = || call.keyword("device").is_none() && self.is_default_device_gpu();
            return !is_literal() && (self.creates_on_gpu(call) || is_default());
        }
        let is_made =
            |receiver: &'a Expr| self.call(receiver).is_some_and(|it| it.path.as_deref().is_some_and(is_created));
        call.method().is_some_and(|(receiver, _)| !is_made(receiver)) && self.places_on_gpu(call) && call.path.is_none()
    }

    /// `fabric.to_device(batch)`, and `send_to_device(batch, device)` of a library.
    pub(crate) fn is_sent_to_gpu(&self, call: &Call<'a>) -> bool {
        let arguments = &call.syntax.arguments.args;
        let is_of_library = call.path.as_deref().is_some_and(|it| it.ends_with("to_device") || it.ends_with("to_cuda"));
        (is_of_library && arguments.iter().skip(1).any(|it| self.may_name_gpu(it)))
            || (call.is_method("to_device") && arguments.len() == 1)
    }

    fn is_default_device_gpu(&self) -> bool {
        let sets = |call: &&Call<'a>| call.is("torch.set_default_device");
        self.calls().iter().filter(sets).any(|call| call.argument("device", 0).is_some_and(|it| self.names_gpu(it)))
    }

    fn placed_definition(&self, definition: DefinitionId, left: usize) -> Option<&'a ExprCall> {
        let left = left.checked_sub(1)?;
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) | Binding::Element(value, _) => self.placed_within(value, left),
            Binding::Item(value, path) => self.placed_item(value, path, left),
            Binding::Alias(definition) => self.placed_definition(*definition, left),
            Binding::Outer(symbol) => {
                let bindings = self.tree.symbols[symbol.index()].bindings.iter().take(MOST_VALUES);
                bindings.into_iter().find_map(|&it| self.placed_definition(it, left))
            }
            Binding::Join(inputs, None) => {
                let inputs = inputs.iter().filter(|&&it| it != UNBOUND).take(MOST_VALUES);
                inputs.into_iter().find_map(|&it| self.placed_definition(it, left))
            }
            Binding::Parameter(function, index, parameter) => {
                self.placed_any(self.values_given(*function, *index, parameter), left)
            }
            _ => None,
        }
    }

    fn values_given(&self, function: FunctionId, index: usize, parameter: &Parameter) -> Vec<&'a Expr> {
        self.given_to(function, index, parameter.name.as_str()).into_iter().flatten().take(MOST_VALUES).collect()
    }

    /// `x, y = load()`, `x, y = x.cuda(), y.cuda()`
    fn placed_item(&self, value: &'a Expr, path: &[usize], left: usize) -> Option<&'a ExprCall> {
        let left = left.checked_sub(1)?;
        let (&first, rest) = path.split_first()?;
        if let Expr::Tuple(it) = value {
            let item = it.elts.get(first)?;
            return if rest.is_empty() { self.placed_within(item, left) } else { self.placed_item(item, rest, left) };
        }
        if let Some(call) = self.call(value) {
            let functions = self.may_run(call);
            let returned = functions.iter().flat_map(|it| &self.tree.functions[it.index()].returned).take(MOST_VALUES);
            let found = returned.into_iter().find_map(|it| self.placed_item(it, path, left));
            if found.is_some() || !functions.is_empty() {
                return found;
            }
        }
        self.placed_within(value, left)
    }

    /// Returns the origin of a value: the words of all code that leads to the value are searched.
    pub(crate) fn origin(&self, value: &'a Expr) -> PlaceOrigin {
        let mut search =
            PlaceSearch { pending: vec![value], seen: FxHashSet::default(), has_parameter: false, is_created: false };
        while let Some(value) = search.pending.pop().filter(|_| search.seen.len() < MOST_VISITED) {
            let Some(id) = self.id(value).filter(|id| search.seen.insert(*id)) else { continue };
            for (_, part) in self.expressions((id, self.node(id).last)) {
                if Self::is_of_data(part) {
                    return PlaceOrigin::Data;
                }
                self.trace(part, &mut search);
            }
        }
        if search.has_parameter && !search.is_created { PlaceOrigin::Parameter } else { PlaceOrigin::Unknown }
    }

    /// Checks for a call that reads data, or an attribute that holds data.
    fn is_of_data(part: &Expr) -> bool {
        let name = match part {
            Expr::Call(it) => match &*it.func {
                Expr::Attribute(it) => it.attr.as_str(),
                Expr::Name(name) => name.id.as_str(),
                _ => return false,
            },
            Expr::Attribute(it) => {
                return matches!(it.attr.as_str(), "values" | "iloc" | "train_data" | "train_labels");
            }
            _ => return false,
        };
        let name = name.to_ascii_lowercase();
        let words = [
            "load",
            "read",
            "memmap",
            "fromfile",
            "fromtxt",
            "fetch",
            "imread",
            "to_numpy",
            "get_fdata",
            "dataset",
            "mnist",
            "cifar",
        ];
        words.iter().any(|word| name.contains(word)) || name == "file"
    }

    fn trace(&self, part: &'a Expr, search: &mut PlaceSearch<'a>) {
        match part {
            Expr::Name(name) if name.ctx.is_load() => {
                self.trace_definition(self.definition(name), search, 4);
                search.pending.extend(self.added_values(part));
            }
            Expr::Attribute(it) => {
                if let Some(class) = self.class_of_object(&it.value) {
                    search.pending.extend(self.values_of_attribute(class, it.attr.as_str()));
                    search.pending.extend(self.added_values(part));
                }
            }
            Expr::Call(_) => {
                let Some(call) = self.call(part) else { return };
                search.is_created |= call.path.as_deref().is_some_and(is_created);
                let functions = self.may_run(call);
                search.pending.extend(functions.iter().flat_map(|it| &self.tree.functions[it.index()].returned));
            }
            _ => {}
        }
    }

    fn trace_definition(&self, definition: DefinitionId, search: &mut PlaceSearch<'a>, left: usize) {
        let Some(left) = left.checked_sub(1) else { return };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) | Binding::Item(value, _) | Binding::Element(value, _) | Binding::Context(value) => {
                search.pending.push(value);
            }
            Binding::Augmented(before, _) | Binding::Alias(before) => self.trace_definition(*before, search, left),
            Binding::Outer(symbol) => {
                let bindings = self.tree.symbols[symbol.index()].bindings.iter().take(MOST_VALUES);
                bindings.for_each(|&it| self.trace_definition(it, search, left));
            }
            Binding::Join(inputs, _) => {
                inputs.iter().take(MOST_VALUES).for_each(|&it| self.trace_definition(it, search, left));
            }
            Binding::Parameter(function, index, parameter) => {
                let given = self.values_given(*function, *index, parameter);
                let name = parameter.name.as_str();
                search.has_parameter |= given.is_empty() && name != "self" && !name.contains("device");
                search.pending.extend(given);
            }
            _ => {}
        }
    }
}

/// A search for the origin of a value.
struct PlaceSearch<'a> {
    pending: Vec<&'a Expr>,
    seen: FxHashSet<NodeId>,
    has_parameter: bool,
    /// True if torch makes numbers up on the way: a buffer that is filled later.
    is_created: bool,
}

/// Checks whether a function of torch creates a tensor of numbers that it makes up.
fn is_created(path: &str) -> bool {
    let converts = ["tensor", "as_tensor", "from_numpy", "Tensor", "FloatTensor", "LongTensor", "asarray", "load"];
    path.strip_prefix("torch.").is_some_and(|name| super::known::makes_tensor(path) && !converts.contains(&name))
}
