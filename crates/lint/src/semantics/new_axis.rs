//! Axes of size 1 that an expression adds to a tensor, and the numbers behind names.

use ruff_python_ast::{Expr, ExprSubscript, Int, UnaryOp};

use super::data::Binding;
use super::{Call, Model};

/// An added axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewAxis {
    /// The index of the axis; negative if counted from the end.
    pub(crate) index: i64,
    /// True if no axis of the tensor can follow.
    pub(crate) is_last: bool,
}

/// The methods that keep the axes of a tensor.
const KEEPING: [&str; 18] = [
    "expand",
    "repeat",
    "expand_as",
    "float",
    "to",
    "contiguous",
    "detach",
    "double",
    "half",
    "bfloat16",
    "cuda",
    "cpu",
    "clone",
    "tile",
    "broadcast_to",
    "type_as",
    "bool",
    "long",
];

impl<'a> Model<'a> {
    /// Returns the axes that an expression adds: `x[:, None]`, `x.unsqueeze(1)`, `x.view(n, 1, d)`, also behind names and `expand`.
    pub(crate) fn new_axes(&self, expression: &'a Expr, left: usize) -> Vec<NewAxis> {
        let Some(left) = left.checked_sub(1) else { return Vec::new() };
        match expression {
            Expr::Subscript(it) => axes_of_subscript(it),
            Expr::Name(name) => match &self.tree.definitions[self.definition(name).index()].binding {
                Binding::Value(value) => self.new_axes(value, left),
                Binding::Item(value, path) => self.axes_of_item(value, path, left),
                Binding::Parameter(function, index, parameter) => {
                    let name = parameter.name.as_str();
                    let mut calls = self.callers(*function).map(|call| {
                        self.argument_of(call, *function, *index, name)
                            .map_or_else(Vec::new, |it| self.new_axes(it, left))
                    });
                    let first = calls.next().unwrap_or_default();
                    if calls.all(|it| it == first) { first } else { Vec::new() }
                }
                _ => Vec::new(),
            },
            Expr::Attribute(_) => match self.origins(expression).as_slice() {
                [only] => self.new_axes(only, left),
                _ => Vec::new(),
            },
            Expr::Call(_) => self.call(expression).map_or_else(Vec::new, |call| self.axes_of_call(call, left)),
            _ => Vec::new(),
        }
    }

    fn axes_of_call(&self, call: &Call<'a>, left: usize) -> Vec<NewAxis> {
        if call.is("einops.repeat") {
            let pattern = call.argument("pattern", 1).and_then(Expr::as_string_literal_expr);
            return pattern.map_or_else(Vec::new, |it| repeated_axes_of_pattern(it.value.to_str()));
        }
        if call.is_any(&["torch.broadcast_to", "torch.tile"]) {
            return arguments_first(call).map_or_else(Vec::new, |it| self.new_axes(it, left));
        }
        if call.is("torch.reshape") {
            return call.argument("shape", 1).map_or_else(Vec::new, |it| axes_of_sizes(std::slice::from_ref(it)));
        }
        if call.is("einops.rearrange") {
            return call
                .argument("pattern", 1)
                .and_then(Expr::as_string_literal_expr)
                .map_or_else(Vec::new, |it| axes_of_pattern(it.value.to_str()));
        }
        let arguments = &call.syntax.arguments;
        let at = |argument: Option<&'a Expr>| {
            argument
                .and_then(number)
                .map(|index| NewAxis { index, is_last: index == -1 })
                .into_iter()
                .collect::<Vec<_>>()
        };
        if call.is("torch.unsqueeze") {
            return at(call.argument("dim", 1));
        }
        let Some((receiver, method)) = call.method().filter(|_| call.path.is_none()) else { return Vec::new() };
        match method {
            "unsqueeze" => {
                let mut axes = at(call.argument("dim", 0));
                axes.extend(self.new_axes(receiver, left));
                axes
            }
            "view" | "reshape" => axes_of_sizes(&arguments.args),
            _ if KEEPING.contains(&method) => self.new_axes(receiver, left),
            _ => Vec::new(),
        }
    }

    /// `a, b = torch.broadcast_tensors(x[:, None], y[None])`, `a, b = x[:, None], y[None]`
    fn axes_of_item(&self, value: &'a Expr, path: &[usize], left: usize) -> Vec<NewAxis> {
        let [index] = path else { return Vec::new() };
        let items = match value {
            Expr::Tuple(it) => &*it.elts,
            Expr::Call(it) if self.call(value).is_some_and(|it| it.is("torch.broadcast_tensors")) => &it.arguments.args,
            _ => return Vec::new(),
        };
        items.get(*index).map_or_else(Vec::new, |it| self.new_axes(it, left))
    }

    /// Returns the number that an expression is: a literal, or a name or attribute with one value, also by default.
    pub(crate) fn known_number(&self, expression: &'a Expr) -> Option<i64> {
        if let Some(known) = number(expression) {
            return Some(known);
        }
        let values = self.option_values(expression);
        let mut known: Vec<i64> = values.into_iter().filter_map(number).collect();
        known.sort_unstable();
        known.dedup();
        match known.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// Returns the integer that a literal is.
pub(crate) fn number(expression: &Expr) -> Option<i64> {
    match expression {
        Expr::NumberLiteral(it) => it.value.as_int().and_then(Int::as_i64),
        Expr::UnaryOp(it) if it.op == UnaryOp::USub => number(&it.operand).map(|it| -it),
        _ => None,
    }
}

fn axes_of_subscript(subscript: &ExprSubscript) -> Vec<NewAxis> {
    let elements = match &*subscript.slice {
        Expr::Tuple(tuple) => &*tuple.elts,
        one if is_new_axis(one) => return vec![NewAxis { index: 0, is_last: false }],
        _ => return Vec::new(),
    };
    let ellipsis = elements.iter().position(Expr::is_ellipsis_literal_expr);
    let axis = |(position, element): (usize, &Expr)| {
        let is_behind = ellipsis.is_some_and(|it| it < position);
        let index = if is_behind { -to_signed(elements.len() - position) } else { to_signed(position) };
        is_new_axis(element).then_some(NewAxis { index, is_last: is_behind && index == -1 })
    };
    elements.iter().enumerate().filter_map(axis).collect()
}

/// `None`, `np.newaxis`
fn is_new_axis(index: &Expr) -> bool {
    index.is_none_literal_expr() || index.as_attribute_expr().is_some_and(|it| it.attr.as_str() == "newaxis")
}

fn arguments_first<'a>(call: &Call<'a>) -> Option<&'a Expr> {
    call.syntax.arguments.args.first()
}

/// `"n d -> n m d"`
fn repeated_axes_of_pattern(pattern: &str) -> Vec<NewAxis> {
    let Some((before, after)) = pattern.split_once("->") else { return Vec::new() };
    if after.contains('(') {
        return Vec::new();
    }
    let old: Vec<&str> = before.split_whitespace().collect();
    let names: Vec<&str> = after.split_whitespace().collect();
    let axis = |(position, name): (usize, &&str)| {
        let is_last = position + 1 == names.len();
        (!old.contains(name)).then_some(NewAxis { index: to_signed(position), is_last })
    };
    names.iter().enumerate().filter_map(axis).collect()
}

fn axes_of_sizes(sizes: &[Expr]) -> Vec<NewAxis> {
    let sizes = match sizes {
        [Expr::Tuple(it)] => &it.elts,
        [Expr::List(it)] => &it.elts,
        sizes => sizes,
    };
    let is_one = |(_, size): &(usize, &Expr)| number(size) == Some(1);
    let axis =
        |(position, _): (usize, &Expr)| NewAxis { index: to_signed(position), is_last: position + 1 == sizes.len() };
    sizes.iter().enumerate().filter(is_one).map(axis).collect()
}

/// `"b d -> b 1 d"`
fn axes_of_pattern(pattern: &str) -> Vec<NewAxis> {
    let Some((_, after)) = pattern.split_once("->") else { return Vec::new() };
    let names: Vec<&str> = if after.contains('(') { Vec::new() } else { after.split_whitespace().collect() };
    let axis = |(position, name): (usize, &&str)| {
        (*name == "1").then_some(NewAxis { index: to_signed(position), is_last: position + 1 == names.len() })
    };
    names.iter().enumerate().filter_map(axis).collect()
}

fn to_signed(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
