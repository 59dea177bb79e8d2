//! The arguments of a parameter in all calls, through constructors too, and the declared fields of a class.

use ruff_python_ast::{Expr, Stmt};
use rustc_hash::FxHashSet;

use super::data::{ClassId, FunctionId, RegionId};
use super::{Call, Model};

/// The largest number of functions that a query climbs.
const MOST_FUNCTIONS: usize = 12;

impl<'a> Model<'a> {
    /// Returns the calls of a function, each with the number of implicit arguments: `Net(3)` runs `__init__`.
    pub(crate) fn runs_of(&self, function: FunctionId) -> Vec<(&Call<'a>, usize)> {
        let it = &self.tree.functions[function.index()];
        let bound = |call: &Call<'a>| usize::from(call.method().is_some() && it.class.is_some());
        let mut runs: Vec<_> = self.callers(function).map(|call| (call, bound(call))).collect();
        if it.class.is_some() && it.syntax.name.as_str() == "__init__" {
            let constructions = self.calls().iter().filter(|call| self.constructor(call) == Some(function));
            runs.extend(constructions.map(|call| (call, 1)));
        }
        runs
    }

    /// Returns the `__init__` run by a call: of a class of the tree, or of the base by `super().__init__`.
    pub(crate) fn constructor(&self, call: &Call<'a>) -> Option<FunctionId> {
        if let Some(class) = self.named(&call.syntax.func).and_then(|it| self.class_of(it)) {
            return self.method_of(class, "__init__");
        }
        let (receiver, _) = call.method().filter(|(_, name)| *name == "__init__")?;
        let is_super = receiver.as_call_expr().is_some_and(|it| self.source(&*it.func) == "super");
        let class = self.tree.functions[self.function(call.region).filter(|_| is_super)?.index()].class?;
        let bases = self.own_and_bases(class);
        bases.iter().skip(1).find_map(|it| self.tree.classes[it.index()].methods.get("__init__").copied())
    }

    /// Returns the arguments of a parameter in all calls of a function; `None` for a call with the default.
    pub(crate) fn given_to(&self, function: FunctionId, index: usize, name: &str) -> Vec<Option<&'a Expr>> {
        let argument = |(call, bound): (&Call<'a>, usize)| call.argument(name, index.checked_sub(bound)?);
        let mut given: Vec<Option<&'a Expr>> = self.runs_of(function).into_iter().map(argument).collect();
        let is_partial = |call: &&Call<'a>| call.is("functools.partial");
        given.extend(self.calls().iter().filter(is_partial).filter_map(|call| {
            let is_same = self.function_named(call.syntax.arguments.args.first()?) == Some(function);
            is_same.then(|| call.argument(name, index.saturating_add(1)))?.map(Some)
        }));
        given
    }

    /// Returns the default of a parameter.
    pub(crate) fn default_of(&self, function: FunctionId, name: &str) -> Option<&'a Expr> {
        let mut parameters = self.tree.functions[function.index()].syntax.parameters.iter_non_variadic_params();
        parameters.find(|it| it.parameter.name.as_str() == name)?.default()
    }

    /// Returns the values of an attribute: assigned to `self` by methods, and the default of a declared field.
    pub(crate) fn values_of_attribute(&self, class: ClassId, name: &str) -> Vec<&'a Expr> {
        let mut values: Vec<&'a Expr> = self.assigned_values(class, name).collect();
        let classes = self.own_and_bases(class);
        values.extend(classes.iter().find_map(|it| self.field(*it, name)));
        if values.is_empty() {
            values.extend(classes.into_iter().find_map(|it| self.unpacked(it, name)));
        }
        values
    }

    /// `self.x, self.y = x, y`
    fn unpacked(&self, class: ClassId, name: &str) -> Option<&'a Expr> {
        let is_own = |target: &Expr| {
            let attribute = target.as_attribute_expr().filter(|it| it.attr.as_str() == name);
            attribute.is_some_and(|it| it.value.as_name_expr().is_some_and(|it| it.id.as_str() == "self"))
        };
        let body = |it: &FunctionId| self.tree.functions[it.index()].syntax.body.iter();
        let statements = self.tree.classes[class.index()].methods.values().flat_map(body);
        statements.filter_map(|it| it.as_assign_stmt()).find_map(|it| {
            let ([Expr::Tuple(targets)], Expr::Tuple(values)) = (it.targets.as_slice(), &*it.value) else {
                return None;
            };
            targets.elts.iter().zip(&values.elts).find(|(target, _)| is_own(target)).map(|(_, value)| value)
        })
    }

    /// Returns the fields of that name of all classes.
    pub(crate) fn fields<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a Expr> + 'b {
        (0..).map(ClassId).take(self.tree.classes.len()).filter_map(move |it| self.field(it, name))
    }

    fn field(&self, class: ClassId, name: &str) -> Option<&'a Expr> {
        let is_named = |target: &Expr| target.as_name_expr().is_some_and(|it| it.id.as_str() == name);
        self.tree.classes[class.index()].syntax.body.iter().find_map(|statement| match statement {
            Stmt::AnnAssign(it) if is_named(&it.target) => it.value.as_deref(),
            Stmt::Assign(it) if it.targets.iter().any(is_named) => Some(&*it.value),
            _ => None,
        })
    }

    /// Returns the methods that a method call may run: that of the class, and those of classes of the tree that override it.
    pub(crate) fn may_run(&self, call: &Call<'a>) -> Vec<FunctionId> {
        let Some(function) = self.callee(call) else { return Vec::new() };
        let it = &self.tree.functions[function.index()];
        let mut functions = vec![function];
        if let (Some(class), true) = (it.class, call.method().is_some()) {
            let name = it.syntax.name.as_str();
            let classes = (0..).map(ClassId).take(self.tree.classes.len());
            let overriding = classes.filter(|&other| other != class && self.own_and_bases(other).contains(&class));
            functions.extend(overriding.filter_map(|it| self.tree.classes[it.index()].methods.get(name).copied()));
        }
        functions
    }
}

impl<'a> Model<'a> {
    /// Returns the function of the tree that an expression names.
    pub(crate) fn function_named(&self, expression: &'a Expr) -> Option<FunctionId> {
        self.named(expression).and_then(|it| self.function_of(it))
    }

    /// Checks whether code that makes a call leads to a region: a function around or above the region makes or reaches the call, is decorated with a
    /// function that makes the call, or is an argument of the call.
    pub(crate) fn is_led_to(&self, region: RegionId, start: &Call<'a>) -> bool {
        let starting = self.function(start.region);
        let (mut pending, mut seen) = (vec![self.function(region)], FxHashSet::default());
        while let Some(function) = pending.pop() {
            let Some(function) = function else {
                if starting.is_none() {
                    return true;
                }
                continue;
            };
            if seen.len() >= MOST_FUNCTIONS || !seen.insert(function) {
                continue;
            }
            let reached = self.reached_calls(self.body(Some(function)));
            if reached.iter().any(|call| call.id == start.id) || self.is_started_by(function, start, starting) {
                return true;
            }
            pending.extend(self.runs_of(function).into_iter().map(|(run, _)| self.function(run.region)));
        }
        false
    }

    fn is_started_by(&self, function: FunctionId, start: &Call<'a>, starting: Option<FunctionId>) -> bool {
        let around = starting.and_then(|it| self.function(self.tree.functions[it.index()].outside));
        let is_starting = |decorator: &'a Expr| {
            let decorator = decorator.as_call_expr().map_or(decorator, |call| &*call.func);
            let named = self.function_named(decorator);
            named.is_some() && (named == starting || named == around)
        };
        let decorators = self.tree.functions[function.index()].syntax.decorator_list.iter();
        decorators.map(|it| &it.expression).any(is_starting)
            || start.syntax.arguments.args.iter().any(|it| self.function_named(it) == Some(function))
    }
}
