//! Methods with stored arguments: `meter.update(loss)`, with `self.sum += value` in `update`.

use ruff_python_ast::{Expr, Operator, Stmt};
use rustc_hash::FxHashMap;

use super::data::{Binding, ClassId, FunctionId, LoopId, NodeId};
use super::{Call, Mode, Model};

/// The way in which a method stores an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredAs {
    /// In a running total.
    Added,
    /// In a list.
    Collected,
}

/// A stored parameter of a method, and its attribute.
#[derive(Clone, Copy, Debug)]
struct StoringParameter<'a> {
    index: usize,
    name: &'a str,
    attribute: &'a Expr,
}

/// An argument stored in an object that is older than a step of the loop around the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredArgument<'a> {
    pub(crate) call: NodeId,
    pub(crate) object: &'a Expr,
    pub(crate) argument: &'a Expr,
    /// The attribute, as the method names it: `self.sum`.
    pub(crate) attribute: &'a Expr,
    pub(crate) around: LoopId,
}

impl<'a> Model<'a> {
    /// Returns the arguments with a graph that objects of classes in this file store from step to step.
    pub(crate) fn stored_arguments(&self, stored_as: StoredAs) -> Vec<StoredArgument<'a>> {
        let stored_parameters = self.stored_parameters(stored_as);
        if stored_parameters.is_empty() {
            return Vec::new();
        }
        self.calls().iter().flat_map(|call| self.arguments_stored_by(call, &stored_parameters)).collect()
    }

    fn arguments_stored_by(
        &self,
        call: &Call<'a>,
        stored_parameters: &FxHashMap<FunctionId, Vec<StoringParameter<'a>>>,
    ) -> Vec<StoredArgument<'a>> {
        let Some((object, method)) = call.method().filter(|_| call.path.is_none() && !call.has_unpacked()) else {
            return Vec::new();
        };
        let Some(around) = self.loops(call.region).next().filter(|&around| self.outlives_step(object, around)) else {
            return Vec::new();
        };
        let Some(class) = self.class_of_object(object).filter(|&it| !self.has_unknown_base(it)) else {
            return Vec::new();
        };
        let function = self.method_of(class, method);
        let Some((function, stored_parameters)) = function.and_then(|it| Some((it, stored_parameters.get(&it)?)))
        else {
            return Vec::new();
        };
        let keeps = |parameter: &StoringParameter<'a>| {
            let argument = self.argument_of(call, function, parameter.index, parameter.name)?;
            let is_kept =
                self.value(argument).is_recorded() && !self.is_reset(class, object, parameter.attribute, around);
            is_kept.then_some(StoredArgument {
                call: call.id,
                object,
                argument,
                attribute: parameter.attribute,
                around,
            })
        };
        stored_parameters.iter().filter_map(keeps).collect()
    }

    /// Returns the stored parameters of each method.
    fn stored_parameters(&self, stored_as: StoredAs) -> FxHashMap<FunctionId, Vec<StoringParameter<'a>>> {
        let mut stored_parameters: FxHashMap<FunctionId, Vec<StoringParameter<'a>>> = FxHashMap::default();
        for (id, statement) in self.statements() {
            let Some((attribute, value)) = self.stored_value(statement, stored_as) else { continue };
            let region = self.node(id).region;
            let given = self.parameter(value).filter(|&(function, ..)| self.function(region) == Some(function));
            if let Some((function, index, name)) = given
                && self.mode(region) != Mode::Off
                && !self.is_bounded(attribute)
                && !self.empties(function, attribute)
            {
                stored_parameters.entry(function).or_default().push(StoringParameter { index, name, attribute });
            }
        }
        stored_parameters
    }

    /// Returns the attribute of `self` to which a statement adds a value, and the value.
    fn stored_value(&self, statement: &'a Stmt, stored_as: StoredAs) -> Option<(&'a Expr, &'a Expr)> {
        let (attribute, value) = match (stored_as, statement) {
            (StoredAs::Added, _) => self.addition(statement)?,
            (StoredAs::Collected, Stmt::Expr(it)) => {
                let (attribute, method) = self.call(&it.value).filter(|call| call.path.is_none())?.method()?;
                let [value] = &*it.value.as_call_expr()?.arguments.args else { return None };
                (method == "append").then_some((attribute, value))?
            }
            _ => return None,
        };
        let is_own =
            attribute.as_attribute_expr().is_some_and(|it| it.value.is_name_expr()) && Self::root_is_self(attribute);
        is_own.then_some((attribute, value))
    }

    /// Returns the parameter of a method, other than `self`, that an expression is, unchanged or as a factor.
    fn parameter(&self, value: &'a Expr) -> Option<(FunctionId, usize, &'a str)> {
        match value {
            Expr::Name(name) => match &self.tree.definitions[self.definition(name).index()].binding {
                Binding::Parameter(function, index @ 1.., parameter) => {
                    let is_method = self.tree.functions[function.index()].class.is_some();
                    is_method.then_some((*function, *index, parameter.name.as_str()))
                }
                _ => None,
            },
            Expr::BinOp(it) if matches!(it.op, Operator::Mult | Operator::Div) => {
                self.parameter(&it.left).or_else(|| self.parameter(&it.right))
            }
            _ => None,
        }
    }

    /// Checks whether a loop calls a method that empties the attribute: `meter.reset()`.
    fn is_reset(&self, class: ClassId, object: &'a Expr, attribute: &'a Expr, around: LoopId) -> bool {
        let text = self.source(object);
        let mut calls = self.calls_between(self.tree.loops[around.index()].body).iter();
        calls.any(|call| {
            let of_object = call.method().filter(|(receiver, _)| self.source(*receiver) == text);
            of_object.is_some_and(|(_, method)| {
                self.method_of(class, method).is_some_and(|function| self.empties(function, attribute))
            })
        })
    }

    /// Checks whether a method empties an attribute, directly or through another method of `self`.
    fn empties(&self, function: FunctionId, attribute: &'a Expr) -> bool {
        let body = self.tree.functions[function.index()].body;
        let by_method = |call: &Call<'a>| {
            let callee = self.callee(call).filter(|&callee| callee != function);
            callee.is_some_and(|callee| self.follow(|| self.empties(callee, attribute)).unwrap_or(true))
        };
        self.is_emptied(attribute, body) || self.calls_between(body).iter().any(by_method)
    }
}
