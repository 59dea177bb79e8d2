//! Calls that are repeated on the same object: a hook registered in each round of a loop, through any number of functions and constructors.

use ruff_python_ast::{Expr, Stmt};
use rustc_hash::FxHashSet;

use super::build::UNBOUND;
use super::data::{Binding, DefinitionId, FunctionId, LoopId, NodeId, RegionId, RegionKind, Syntax};
use super::{Call, Model, ValueKind};

/// The largest number of functions that a query climbs.
const MOST_FUNCTIONS: usize = 8;
/// The largest number of expressions that lead to an object.
const MOST_VISITED: usize = 60;

/// A parameter of a function: function, index, name.
type Parameter<'a> = (FunctionId, usize, &'a str);

/// The definitions and the parameters that choose an object.
#[derive(Clone, Debug, Default)]
struct Choice<'a> {
    definitions: Vec<DefinitionId>,
    parameters: Vec<Parameter<'a>>,
    /// True if the object is a parameter of a model.
    is_weight: bool,
    /// True if the object is made on the way.
    is_fresh: bool,
    /// True if the object belongs to `self`, which makes it.
    is_of_self: bool,
}

impl<'a> Model<'a> {
    /// Checks whether a call is repeated on the same module: some loop around the call, or around a call of its function, does not choose the
    /// module.
    pub(crate) fn is_repeated_on_module(&self, call: &Call<'a>) -> bool {
        let Some((receiver, method)) = call.method() else { return false };
        let choice = self.choice([receiver]);
        // A tensor has its hooks as long as it lives; a weight lives on.
        if choice.is_fresh || (method == "register_hook" && !choice.is_weight) {
            return false;
        }
        let mut seen = FxHashSet::default();
        self.is_choice_repeated(call, &choice, &mut seen)
    }

    /// Checks whether a call is repeated that concerns no object: a hook for all modules.
    pub(crate) fn is_repeated_call(&self, call: &Call<'a>) -> bool {
        self.is_choice_repeated(call, &Choice::default(), &mut FxHashSet::default())
    }

    fn is_choice_repeated(&self, call: &Call<'a>, choice: &Choice<'a>, seen: &mut FxHashSet<FunctionId>) -> bool {
        for around in self.loops(call.region) {
            let varies =
                choice.definitions.iter().any(|it| self.is_region_in(self.tree.definitions[it.index()].region, around));
            if !varies && self.repeats(call, around) {
                return !self.is_guarded(call.region, around);
            }
        }
        let Some(function) = self.function(call.region).filter(|it| seen.len() < MOST_FUNCTIONS && seen.insert(*it))
        else {
            return false;
        };
        if self.is_guarded_in(call.region, |_| true) {
            return false;
        }
        let is_own = choice.parameters.iter().all(|(of, ..)| *of != function);
        if is_own && (self.is_forward_of_module(function) || self.answers_requests(function)) {
            return true;
        }
        if choice.is_of_self && self.tree.functions[function.index()].syntax.name.as_str() == "__init__" {
            return false;
        }
        let runs = self.runs_and_calls_of(function).into_iter().filter(|(run, _)| !self.is_entered(run));
        runs.take(MOST_FUNCTIONS).any(|(run, bound)| {
            let next = self.choice_at(run, bound, function, choice);
            !next.is_fresh && self.is_choice_repeated(run, &next, seen)
        })
    }

    /// Checks whether a loop repeats a call as such, unlike a loop over names that the call takes.
    fn repeats(&self, call: &Call<'a>, around: LoopId) -> bool {
        let Some(iterated) = self.tree.loops[around.index()].iterated else { return true };
        let is_range = self.call(iterated).is_some_and(|it| it.is("range"));
        is_range || self.is_step_loop(around) || !self.takes_element_of(call, around)
    }

    fn takes_element_of(&self, call: &Call<'a>, around: LoopId) -> bool {
        self.expressions((call.id, self.node(call.id).last)).any(|(_, it)| {
            let Some(name) = it.as_name_expr() else { return false };
            let definition = &self.tree.definitions[self.definition(name).index()];
            matches!(definition.binding, Binding::Element(..)) && self.is_region_in(definition.region, around)
        })
    }

    fn is_guarded(&self, region: RegionId, around: LoopId) -> bool {
        self.is_guarded_in(region, |kind| !matches!(kind, RegionKind::Loop(id) if id == around))
    }

    /// Checks whether a condition may skip all but the first time: `if self.handle is None:`.
    fn is_guarded_in(&self, region: RegionId, goes_on: impl Fn(RegionKind<'a>) -> bool) -> bool {
        self.regions(region).take_while(|kind| goes_on(*kind)).any(|kind| match kind {
            RegionKind::If(it, _) => {
                let test = self.source(&*it.test);
                let words = ["is None", "not ", "hasattr", "first", "debug", "verbose", "profile"];
                words.iter().any(|word| test.contains(word)) || (test.contains("==") && !test.contains('%'))
            }
            RegionKind::Handler(_) => true,
            _ => false,
        })
    }

    fn is_forward_of_module(&self, function: FunctionId) -> bool {
        let it = &self.tree.functions[function.index()];
        let is_batch = matches!(it.syntax.name.as_str(), "forward" | "training_step" | "on_train_batch_start");
        is_batch && it.class.is_some_and(|class| self.value_of_instance(class) == ValueKind::Module)
    }

    /// Checks for the handler of a web server: `@app.post("/heatmap")`.
    fn answers_requests(&self, function: FunctionId) -> bool {
        let routes = ["route", "get", "post", "put", "websocket", "api_route", "callback"];
        let decorators = self.tree.functions[function.index()].syntax.decorator_list.iter();
        decorators
            .filter_map(|it| it.expression.as_call_expr()?.func.as_attribute_expr())
            .any(|it| routes.contains(&it.attr.as_str()) && it.value.is_name_expr())
    }

    /// Returns the calls that run a function, those of an object with `__call__` too.
    fn runs_and_calls_of(&self, function: FunctionId) -> Vec<(&Call<'a>, usize)> {
        let mut runs = self.runs_of(function);
        let it = &self.tree.functions[function.index()];
        if let Some(class) = it.class.filter(|_| it.syntax.name.as_str() == "__call__") {
            let is_object = |call: &&Call<'a>| {
                self.callee(call).is_none()
                    && call.path.is_none()
                    && self.class_of_object(&call.syntax.func) == Some(class)
            };
            runs.extend(self.calls().iter().filter(is_object).map(|call| (call, 1)));
        }
        runs
    }

    /// Checks whether a call makes the manager of a `with`, which removes the hooks at its end.
    fn is_entered(&self, call: &Call<'a>) -> bool {
        matches!(self.node(self.node(call.id).parent).syntax, Syntax::Statement(Stmt::With(_)))
    }

    /// Returns the choice as the caller makes it, by arguments and by the object of a method.
    fn choice_at(&self, run: &Call<'a>, bound: usize, function: FunctionId, choice: &Choice<'a>) -> Choice<'a> {
        let of_function = choice.parameters.iter().filter(|(of, ..)| *of == function);
        let arguments: Vec<&'a Expr> =
            of_function.filter_map(|(_, index, name)| run.argument(name, index.checked_sub(bound)?)).collect();
        let mut next = self.choice(arguments);
        let others: Vec<Parameter<'a>> = choice.parameters.iter().filter(|(of, ..)| *of != function).copied().collect();
        let object = run.method().map(|(it, _)| it).filter(|it| self.source(*it) != "self" && bound == 1);
        let Some(object) = object.filter(|_| !others.is_empty() || choice.is_of_self) else {
            next.parameters.extend(others);
            next.is_of_self |= choice.is_of_self;
            return next;
        };
        // `tap = Tap(model)` and `tap.attach()`: the arguments of the constructor choose the module.
        let made = self.origins(object).into_iter().find_map(|it| self.call(it));
        let given: Vec<&'a Expr> = made.filter(|_| !choice.is_of_self).map_or_else(
            || vec![object],
            |made| others.iter().filter_map(|(_, index, name)| made.argument(name, index.checked_sub(1)?)).collect(),
        );
        let object = self.choice(given);
        next.definitions.extend(object.definitions);
        next.parameters.extend(object.parameters);
        next.is_fresh |= object.is_fresh;
        next
    }

    /// Follows expressions to the definitions that choose their objects.
    fn choice(&self, expressions: impl IntoIterator<Item = &'a Expr>) -> Choice<'a> {
        let mut choice = Choice::default();
        let mut pending: Vec<&'a Expr> = expressions.into_iter().collect();
        // The values that methods assign to attributes of `self`.
        let mut own: FxHashSet<NodeId> = FxHashSet::default();
        // The values of names: their definitions tell how old they are.
        let mut named: FxHashSet<NodeId> = FxHashSet::default();
        let mut visited = FxHashSet::default();
        while let Some(expression) = pending.pop().filter(|_| visited.len() < MOST_VISITED) {
            let Some(id) = self.id(expression).filter(|id| visited.insert(*id)) else { continue };
            match expression {
                Expr::Name(name) => {
                    let before = pending.len();
                    self.choose(self.definition(name), &mut choice, &mut pending);
                    named.extend(pending.iter().skip(before).filter_map(|it| self.id(*it)));
                }
                Expr::Attribute(it) => {
                    let class = it.value.as_name_expr().and_then(|base| self.class_of_self(self.definition(base)));
                    let values: Vec<&'a Expr> =
                        class.map(|class| self.assigned_values(class, it.attr.as_str()).collect()).unwrap_or_default();
                    own.extend(values.iter().filter_map(|it| self.id(*it)));
                    choice.is_of_self |= class.is_some() && values.is_empty();
                    choice.is_weight |= matches!(it.attr.as_str(), "weight" | "bias");
                    pending.extend(values);
                    pending.extend(class.is_none().then_some(&*it.value));
                }
                Expr::Subscript(it) => pending.extend([&*it.value, &*it.slice]),
                Expr::Tuple(it) => pending.extend(&it.elts),
                Expr::List(it) => pending.extend(&it.elts),
                Expr::Call(_) => match self.call(expression).and_then(|call| self.accessed(call)) {
                    Some((parts, is_weight)) => {
                        choice.is_weight |= is_weight;
                        let ids = parts.iter().filter_map(|it| self.id(*it));
                        if own.contains(&id) {
                            own.extend(ids);
                        } else if named.contains(&id) {
                            named.extend(ids);
                        }
                        pending.extend(parts);
                    }
                    // A fresh object that `self` keeps is as old as `self`.
                    None if own.contains(&id) => choice.is_of_self = true,
                    None => choice.is_fresh |= !named.contains(&id),
                },
                Expr::If(it) => pending.extend([&*it.body, &*it.orelse]),
                Expr::BinOp(it) => pending.extend([&*it.left, &*it.right]),
                _ => {}
            }
        }
        choice
    }

    fn choose(&self, definition: DefinitionId, choice: &mut Choice<'a>, pending: &mut Vec<&'a Expr>) {
        let mut definitions = vec![definition];
        while let Some(definition) = definitions.pop().filter(|_| choice.definitions.len() < MOST_VISITED) {
            if definition == UNBOUND || choice.definitions.contains(&definition) {
                continue;
            }
            choice.definitions.push(definition);
            match &self.tree.definitions[definition.index()].binding {
                Binding::Value(value) if !value.is_call_expr() => pending.push(value),
                Binding::Value(value) => {
                    pending.extend(self.call(value).and_then(|it| self.accessed(it)).map(|_| *value));
                }
                Binding::Element(value, _) | Binding::Item(value, _) => pending.push(value),
                Binding::Parameter(function, index, parameter) => {
                    let is_self = *index == 0 && self.tree.functions[function.index()].class.is_some();
                    choice.parameters.extend((!is_self).then_some((*function, *index, parameter.name.as_str())));
                }
                Binding::Outer(symbol) => definitions.extend(self.tree.symbols[symbol.index()].bindings.iter().take(4)),
                Binding::Join(inputs, _) => definitions.extend(inputs.iter().take(4)),
                _ => {}
            }
        }
    }

    /// Returns the parts of a call that finds an existing object, and true for weights: `model.named_modules()`, `dict(modules)[name]`.
    fn accessed(&self, call: &Call<'a>) -> Option<(Vec<&'a Expr>, bool)> {
        let arguments = call.syntax.arguments.args.iter();
        if call.is_any(&["dict", "list", "enumerate", "zip", "reversed", "filter", "iter", "next"])
            || self.source(&*call.syntax.func) == "getattr"
        {
            return Some((arguments.collect(), false));
        }
        let (receiver, method) = call.method().filter(|_| call.path.is_none())?;
        let is_weight = matches!(method, "parameters" | "named_parameters" | "get_parameter");
        let finds = matches!(
            method,
            "modules"
                | "named_modules"
                | "children"
                | "named_children"
                | "get_submodule"
                | "get_input_embeddings"
                | "get_output_embeddings"
                | "items"
                | "values"
                | "keys"
                | "eval"
                | "train"
                | "cuda"
                | "to"
                | "cpu"
                | "half"
                | "get_decoder"
                | "get_encoder"
        );
        (finds || is_weight).then(|| (std::iter::once(receiver).chain(arguments).collect(), is_weight))
    }
}
