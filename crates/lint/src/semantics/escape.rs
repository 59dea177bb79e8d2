//! Objects that outlive a step of a loop: running totals, and lists and dicts created before the loop.

use ruff_python_ast::{Expr, ExprName, Operator, Stmt};
use rustc_hash::FxHashSet;

use super::build::UNBOUND;
use super::data::{Binding, DefinitionId, LoopId, NodeId, RegionKind, Symbol};
use super::{Model, Syntax};

/// The largest number of values of one name; a name with more is treated as unknown.
const MOST_ORIGINS: usize = 64;

impl<'a> Model<'a> {
    /// Returns the innermost loop around `at` that carries a definition from one step to the next.
    pub(crate) fn carrying_loop(&self, at: NodeId, definition: DefinitionId) -> Option<LoopId> {
        self.carried_by(definition).filter(|&id| self.is_in(at, id))
    }

    fn carried_by(&self, definition: DefinitionId) -> Option<LoopId> {
        let (mut pending, mut seen) = (vec![definition], FxHashSet::default());
        while let Some(definition) = pending.pop().filter(|_| seen.len() < 100) {
            if !seen.insert(definition) {
                continue;
            }
            match &self.tree.definitions[definition.index()].binding {
                Binding::Join(_, Some(id)) => return Some(*id),
                Binding::Join(inputs, None) => pending.extend(inputs),
                Binding::Augmented(before, _) => pending.push(*before),
                _ => {}
            }
        }
        None
    }

    /// Checks whether a loop resets the name of a definition to an independent value: `total = 0`, `losses = []`.
    pub(crate) fn is_reset_in(&self, definition: DefinitionId, around: LoopId) -> bool {
        let Some(symbol) = self.symbol_of(definition) else { return false };
        let (first, end) = self.tree.loops[around.index()].definitions;
        let inside = symbol.bindings.partition_point(|&it| it < first)..symbol.bindings.partition_point(|&it| it < end);
        symbol.bindings.get(inside).unwrap_or_default().iter().any(|&binding| {
            let definition = &self.tree.definitions[binding.index()];
            let is_fresh = match &definition.binding {
                Binding::Value(value) => !self.mentions(value, symbol.name),
                Binding::Augmented(..) => false,
                _ => true,
            };
            is_fresh && self.is_region_in(definition.region, around)
        })
    }

    /// Returns the symbol of a definition; `None` for an unbound name.
    fn symbol_of(&self, definition: DefinitionId) -> Option<&Symbol<'a>> {
        let is_bound = definition != UNBOUND;
        is_bound.then(|| &self.tree.symbols[self.tree.definitions[definition.index()].symbol.index()])
    }

    /// Checks whether a region lies in a loop of its function.
    pub(crate) fn is_region_in(&self, region: super::data::RegionId, around: LoopId) -> bool {
        self.regions(region).any(|kind| matches!(kind, RegionKind::Loop(id) if id == around))
    }

    /// Checks whether a name occurs in an expression.
    pub(crate) fn mentions(&self, expression: &'a Expr, name: &str) -> bool {
        let Some(id) = self.id(expression) else { return false };
        let range = (id, self.node(id).last);
        self.expressions(range).any(|(_, it)| it.as_name_expr().is_some_and(|it| it.id.as_str() == name))
    }

    /// Returns the root name of an object: `self` of `self.losses`, `totals` of `totals["train"]`.
    pub(crate) fn root(mut expression: &'a Expr) -> Option<&'a ExprName> {
        loop {
            match expression {
                Expr::Name(name) => return Some(name),
                Expr::Attribute(it) => expression = &it.value,
                Expr::Subscript(it) => expression = &it.value,
                _ => return None,
            }
        }
    }

    /// Checks whether an object exists before each step of a loop and is not emptied in the loop.
    pub(crate) fn outlives_step(&self, object: &'a Expr, around: LoopId) -> bool {
        let Some(root) = Self::root(object) else { return false };
        let definition = self.definition(root);
        let is_made_inside = self.is_reset_in(definition, around);
        !is_made_inside && !self.is_emptied(object, self.tree.loops[around.index()].body)
    }

    /// Checks whether an object is emptied, shortened or replaced from one node to another.
    pub(crate) fn is_emptied(&self, object: &'a Expr, range: (NodeId, NodeId)) -> bool {
        let text = self.source(object);
        let by_method = self.calls_between(range).iter().any(|call| {
            call.method().is_some_and(|(receiver, method)| {
                matches!(method, "clear" | "pop" | "popleft" | "popitem" | "remove") && self.source(receiver) == text
            })
        });
        let by_statement = self.expressions(range).any(|(id, expression)| match expression {
            Expr::Attribute(it) => !it.ctx.is_load() && self.source(it) == text && !self.is_added_to(id),
            Expr::Name(it) => it.ctx.is_del() && it.id.as_str() == text,
            Expr::Subscript(it) => {
                (it.ctx.is_del() || (it.ctx.is_store() && it.slice.is_slice_expr())) && self.source(&*it.value) == text
            }
            _ => false,
        });
        by_method || by_statement
    }

    /// Checks whether a node is the target of `+=` or its like, or of `target = target + added`.
    fn is_added_to(&self, id: NodeId) -> bool {
        match self.node(self.node(id).parent).syntax {
            Syntax::Statement(Stmt::AugAssign(_)) => true,
            Syntax::Statement(statement) => self.addition(statement).is_some(),
            Syntax::Expression(_) => false,
        }
    }

    /// Returns target and addend of `target += added`, `target = target + added`, `target = added + target`, and of an exponential mean,
    /// `target = 0.9 * target + added`.
    pub(crate) fn addition(&self, statement: &'a Stmt) -> Option<(&'a Expr, &'a Expr)> {
        match statement {
            Stmt::AugAssign(it) if it.op == Operator::Add => Some((&it.target, &it.value)),
            Stmt::Assign(it) => {
                let ([target], Expr::BinOp(sum)) = (it.targets.as_slice(), &*it.value) else { return None };
                let is_target = |side: &Expr| self.is_same_place(side, target);
                let is_share = |side: &Expr| match side {
                    Expr::BinOp(share) if share.op == Operator::Mult => {
                        is_target(&share.left) || is_target(&share.right)
                    }
                    side => is_target(side),
                };
                match (is_share(&sum.left), is_share(&sum.right)) {
                    _ if sum.op != Operator::Add => None,
                    (true, false) => Some((target, &sum.right)),
                    (false, true) => Some((target, &sum.left)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Checks whether two expressions are the same name or the same attribute.
    fn is_same_place(&self, one: &Expr, other: &Expr) -> bool {
        match (one, other) {
            (Expr::Name(one), Expr::Name(other)) => one.id == other.id,
            (Expr::Attribute(one), Expr::Attribute(other)) => self.source(one) == self.source(other),
            _ => false,
        }
    }

    /// Checks whether `backward` runs from a name anywhere: the graph is needed.
    pub(crate) fn is_wanted_with_graph(&self, expression: &'a Expr) -> bool {
        let Some(root) = Self::root(expression) else { return false };
        let definition = self.definition(root);
        let symbol = self.tree.definitions[definition.index()].symbol;
        definition != UNBOUND
            && match expression {
                Expr::Name(_) => self.evidence.is_backwarded_symbol(symbol),
                Expr::Attribute(it) => self.evidence.is_backwarded_symbol_attribute(symbol, it.attr.as_str()),
                _ => false,
            }
    }

    /// Checks whether `backward` is called on just this value.
    pub(crate) fn is_spent(&self, expression: &'a Expr) -> bool {
        match expression {
            Expr::Name(name) => self.evidence.is_backwarded(self.definition(name)),
            Expr::Attribute(it) => it
                .value
                .as_name_expr()
                .is_some_and(|base| self.evidence.is_backwarded_attribute(self.definition(base), it.attr.as_str())),
            _ => false,
        }
    }
}

impl<'a> Model<'a> {
    /// Returns the values assigned to an object: to a name, or to `self.x` by the class.
    pub(crate) fn origins(&self, object: &'a Expr) -> Vec<&'a Expr> {
        match object {
            Expr::Name(name) => {
                let bindings = self.symbol_of(self.definition(name)).map_or(&[][..], |symbol| &symbol.bindings);
                bindings.iter().take(MOST_ORIGINS).filter_map(|&it| self.assigned(it)).collect()
            }
            Expr::Attribute(it) => {
                let class = it.value.as_name_expr().and_then(|base| self.class_of_self(self.definition(base)));
                let assigned =
                    class.and_then(|class| self.tree.classes[class.index()].attributes.get(it.attr.as_str()));
                assigned.cloned().unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// Checks whether a collection has a largest size: `deque(maxlen=100)`.
    pub(crate) fn is_bounded(&self, collection: &'a Expr) -> bool {
        let mut made = self.origins(collection).into_iter();
        made.any(|value| self.call(value).is_some_and(|call| call.keyword("maxlen").is_some()))
    }

    /// Checks whether an object has only assigned values: no parameter, no loop target. Attributes always pass.
    pub(crate) fn is_bound_by_values_alone(&self, object: &'a Expr) -> bool {
        let Some(symbol) = object.as_name_expr().and_then(|name| self.symbol_of(self.definition(name))) else {
            return object.is_attribute_expr();
        };
        symbol.bindings.len() <= MOST_ORIGINS && symbol.bindings.iter().all(|&it| self.assigned(it).is_some())
    }

    fn assigned(&self, definition: DefinitionId) -> Option<&'a Expr> {
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Checks whether an object is reached from `self`.
    pub(crate) fn root_is_self(object: &'a Expr) -> bool {
        Self::root(object).is_some_and(|name| name.id.as_str() == "self")
    }
}

impl<'a> Model<'a> {
    /// Checks whether an expression is a batch of a loader, or a part of one.
    pub(crate) fn comes_from_loader(&self, expression: &'a Expr) -> bool {
        let Some(root) = Self::root(expression) else { return false };
        match &self.tree.definitions[self.definition(root).index()].binding {
            Binding::Element(iterated, _) => self.gives_batches(iterated),
            _ => false,
        }
    }
}
