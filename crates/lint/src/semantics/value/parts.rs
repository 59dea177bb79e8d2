//! The value of a part: of an unpacked element, and of an item of an iteration.

use ruff_python_ast::Expr;

use super::super::known;
use super::super::names::last;
use super::super::{Call, Model};
use super::{Graph, TensorDevice, ValueKind, any_of};

impl<'a> Model<'a> {
    /// Returns the value of a part; `path` is the path of indices in the target.
    pub(super) fn value_of_item(&self, value: &'a Expr, path: &[usize], left: usize) -> ValueKind {
        let (Some(left), Some((&first, rest))) = (left.checked_sub(1), path.split_first()) else {
            return self.value_within(value, left);
        };
        match value {
            Expr::Tuple(it) => {
                return it.elts.get(first).map_or(ValueKind::Unknown, |it| self.value_of_item(it, rest, left));
            }
            Expr::List(it) => {
                return it.elts.get(first).map_or(ValueKind::Unknown, |it| self.value_of_item(it, rest, left));
            }
            _ => {}
        }
        if let Some(call) = self.call(value)
            && let Some(known) = self.item_of_call(call, first, rest, left)
        {
            return known;
        }
        match self.value_within(value, left) {
            ValueKind::Tensor(..) if self.is_plain_output(first, left) => ValueKind::Plain,
            tensor @ ValueKind::Tensor(..) => tensor,
            _ => ValueKind::Unknown,
        }
    }

    /// Checks whether `forward` of a module of the file returns a number at an index.
    fn is_plain_output(&self, index: usize, left: usize) -> bool {
        let forwards = self.tree.classes.iter().filter_map(|class| class.methods.get("forward"));
        let mut returned = forwards.flat_map(|it| &self.tree.functions[it.index()].returned);
        returned.any(|value| {
            let item = value.as_tuple_expr().and_then(|tuple| tuple.elts.get(index));
            item.is_some_and(|item| !item.is_none_literal_expr() && self.value_within(item, left) == ValueKind::Plain)
        })
    }

    pub(super) fn item_of_call(&self, call: &Call<'a>, first: usize, rest: &[usize], left: usize) -> Option<ValueKind> {
        if let Some(function) = self.callee(call) {
            let returned = &self.tree.functions[function.index()].returned;
            let path: Vec<usize> = std::iter::once(first).chain(rest.iter().copied()).collect();
            return Some(any_of(returned.iter().map(|it| self.value_of_item(it, &path, left))));
        }
        let name = call.method().map(|(_, name)| name).or(call.path.as_deref().map(last))?;
        match name {
            // `model, optimizer, loader = accelerator.prepare(model, optimizer, loader)`
            "prepare" | "setup" | "initialize" => {
                Some(call.syntax.arguments.args.get(first).map_or(ValueKind::Unknown, |it| self.value_within(it, left)))
            }
            // The indices of `values, indices` have no graph.
            "max" | "min" | "topk" | "sort" | "median" | "mode" | "kthvalue" | "cummax" if first == 1 => {
                Some(ValueKind::Tensor(Graph::Absent, TensorDevice::Unsure))
            }
            _ => None,
        }
    }

    /// Returns the value of an item of an iteration.
    pub(super) fn value_of_element(&self, value: &'a Expr, path: &[usize], left: usize) -> ValueKind {
        let Some(left) = left.checked_sub(1) else { return ValueKind::Unknown };
        if let Some(call) = self.call(value) {
            match (call.path.as_deref(), path.split_first()) {
                (Some("range"), _) | (Some("enumerate"), Some((0, _))) => return ValueKind::Plain,
                (Some("enumerate"), Some((1, rest))) => {
                    return call
                        .argument("iterable", 0)
                        .map_or(ValueKind::Unknown, |it| self.value_of_element(it, rest, left));
                }
                (Some("zip"), Some((&index, rest))) => {
                    let argument = call.syntax.arguments.args.get(index);
                    return argument.map_or(ValueKind::Unknown, |it| self.value_of_element(it, rest, left));
                }
                _ if known::wraps_iterable(call) => {
                    let batches = call.syntax.arguments.args.iter().find(|it| self.gives_batches(it));
                    return batches.map_or(ValueKind::Unknown, |it| self.value_of_element(it, path, left));
                }
                _ => {}
            }
        }
        match self.value_within(value, left) {
            ValueKind::Loader => ValueKind::Tensor(Graph::Absent, TensorDevice::Host),
            tensor @ ValueKind::Tensor(..) => tensor,
            _ => ValueKind::Unknown,
        }
    }
}
