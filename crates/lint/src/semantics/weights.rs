//! Copies of the weights of a model: deep copies, and dicts of cloned tensors; and code that runs again and again while a program trains.

use ruff_python_ast::{Comprehension, Expr};
use rustc_hash::FxHashSet;

use super::data::{Binding, FunctionId, RegionId};
use super::{Call, Model, ValueKind};

/// The largest number of steps of a query.
const STEPS: usize = 6;
/// The largest number of functions that a query enters.
const MOST_FUNCTIONS: usize = 24;

/// The weights in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// The tensors of the model itself.
    Shared,
    /// A copy on the same device.
    Copied,
}

impl<'a> Model<'a> {
    /// Checks for a model: by the value, or, if the value is unknown, by the name.
    pub(crate) fn is_model(&self, expression: &'a Expr) -> bool {
        match self.value(expression) {
            ValueKind::Module => true,
            ValueKind::Unknown => {
                let name = self.source(expression).rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
                let words =
                    ["model", "net", "network", "unet", "policy", "generator", "discriminator", "student", "learner"];
                let is_plain = expression.is_name_expr() || expression.is_attribute_expr();
                is_plain && words.iter().any(|word| name == *word || name.ends_with(&format!("_{word}")))
            }
            _ => false,
        }
    }

    /// Returns the weights that a value holds.
    pub(crate) fn weights(&self, value: &'a Expr) -> Option<Weights> {
        self.weights_within(value, STEPS)
    }

    fn weights_within(&self, value: &'a Expr, left: usize) -> Option<Weights> {
        let left = left.checked_sub(1)?;
        match value {
            Expr::Name(name) => match &self.tree.definitions[self.definition(name).index()].binding {
                Binding::Value(value) => self.weights_within(value, left),
                _ => None,
            },
            Expr::Dict(it) => it.items.iter().take(8).find_map(|item| self.weights_within(&item.value, left)),
            Expr::DictComp(it) => self.weights_of_parts(&it.generators, &it.value),
            Expr::Tuple(it) => it.elts.iter().take(8).find_map(|it| self.weights_within(it, left)),
            Expr::ListComp(it) => {
                self.weights_of_parts(&it.generators, &it.elt).or_else(|| self.weights_of_element(&it.elt, left))
            }
            Expr::Call(_) => self.weights_of_call(self.call(value)?, left),
            _ => None,
        }
    }

    fn weights_of_call(&self, call: &Call<'a>, left: usize) -> Option<Weights> {
        let first = call.syntax.arguments.args.first();
        if call.is("copy.deepcopy") {
            return first
                .filter(|it| self.is_model(it) || self.weights_within(it, left).is_some())
                .map(|_| Weights::Copied);
        }
        if call.is_any(&["dict", "collections.OrderedDict", "copy.copy"]) {
            return self.weights_within(first?, left);
        }
        if let Some(function) = self.callee(call).or_else(|| self.method_named(call)) {
            let mut returned = self.tree.functions[function.index()].returned.iter().take(4);
            return returned.find_map(|it| self.weights_within(it, left));
        }
        match call.method()? {
            (receiver, "state_dict") if self.is_copied_model(receiver, call) => Some(Weights::Copied),
            (_, "state_dict") => Some(Weights::Shared),
            (receiver, "eval" | "train" | "requires_grad_" | "half" | "float") => self.weights_within(receiver, left),
            _ => None,
        }
    }

    /// An element that holds copies: `[(share, client.fit(model)) for client in clients]`.
    fn weights_of_element(&self, element: &'a Expr, left: usize) -> Option<Weights> {
        let is_holder = element.is_call_expr() || element.is_tuple_expr();
        let weights = if is_holder { self.weights_within(element, left) } else { None };
        weights.filter(|it| *it == Weights::Copied)
    }

    /// Checks for a local name of a deep copy, which the function makes for its result.
    fn is_copied_model(&self, receiver: &'a Expr, call: &Call<'a>) -> bool {
        let is_copy = |it: &&'a Expr| self.call(it).is_some_and(|it| it.is("copy.deepcopy"));
        let is_returned = |call: &Call<'a>| {
            matches!(self.statement(call.id).map(|(_, it)| it), Some(ruff_python_ast::Stmt::Return(_)))
        };
        receiver.is_name_expr() && is_returned(call) && self.origins(receiver).iter().any(is_copy)
    }

    /// Returns the only method of the tree with the name of a method call.
    pub(crate) fn method_named(&self, call: &Call<'a>) -> Option<FunctionId> {
        let (_, name) = call.method().filter(|_| call.path.is_none())?;
        let mut methods = self.tree.classes.iter().filter_map(|it| it.methods.get(name).copied());
        methods.next().filter(|_| methods.next().is_none())
    }

    /// `{name: value.clone() for name, value in model.state_dict().items()}`, `[p.detach().clone() for p in model.parameters()]`
    fn weights_of_parts(&self, generators: &'a [Comprehension], part: &'a Expr) -> Option<Weights> {
        let [generator] = generators else { return None };
        let source = self.source(&generator.iter);
        let is_of_model = ["state_dict()", "parameters()"].iter().any(|word| source.contains(word));
        let text = self.source(part);
        let leaves = [".cpu(", "\"cpu\"", "'cpu'", ".numpy(", ".item(", ".norm(", ".tolist("]
            .iter()
            .any(|word| text.contains(word));
        if !is_of_model || leaves {
            return None;
        }
        let is_copy = [".clone(", "deepcopy("].iter().any(|word| text.contains(word));
        if is_copy { Some(Weights::Copied) } else { part.is_name_expr().then_some(Weights::Shared) }
    }

    /// Checks whether a region runs again and again while the program trains: in a loop that trains, in a function that such a loop calls, or in a
    /// callback at the end of an epoch or a batch.
    pub(crate) fn runs_in_training(&self, region: RegionId) -> bool {
        let (mut pending, mut seen) = (vec![region], FxHashSet::default());
        while let Some(region) = pending.pop() {
            if self.loops(region).any(|around| self.is_training_loop(around)) {
                return true;
            }
            let Some(function) = self.function(region).filter(|it| seen.len() < MOST_FUNCTIONS && seen.insert(*it))
            else {
                continue;
            };
            if self.is_callback(function) {
                return true;
            }
            pending.extend(self.callers(function).map(|call| call.region));
        }
        false
    }

    fn is_callback(&self, function: FunctionId) -> bool {
        let it = &self.tree.functions[function.index()];
        let name = it.syntax.name.as_str();
        it.class.is_some()
            && name.starts_with("on_")
            && ["epoch_end", "batch_end", "step_end", "validation_end"].iter().any(|end| name.ends_with(end))
    }
}
