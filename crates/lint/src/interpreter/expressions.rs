//! Expressions.

use ruff_python_ast::{CmpOp, Expr, ExprCompare, ExprName, ExprSubscript, Operator, StmtAugAssign, UnaryOp};

use super::value::{AbstractValue, ObjectId, ObjectKind, TensorValue};
use super::{Interpreter, MOST_NESTED, Mode};
use crate::semantics::{Graph, TensorDevice};

impl<'a> Interpreter<'_, 'a> {
    /// Returns the value of an expression.
    pub(super) fn evaluate(&mut self, expression: &'a Expr) -> AbstractValue<'a> {
        self.steps = self.steps.saturating_add(1);
        if self.is_over() || self.nested >= MOST_NESTED {
            return AbstractValue::Unknown;
        }
        self.nested += 1;
        let value = self.value_of(expression);
        self.nested -= 1;
        value
    }

    fn value_of(&mut self, expression: &'a Expr) -> AbstractValue<'a> {
        match expression {
            Expr::Name(name) => self.value_of_name(name),
            Expr::Attribute(it) => self.value_of_attribute(it),
            Expr::Call(it) => self.value_of_call(expression, it),
            Expr::BinOp(it) => {
                let (left, right) = (self.evaluate(&it.left), self.evaluate(&it.right));
                let value = self.combine(left, right);
                let is_sum = matches!(it.op, Operator::Add | Operator::Sub);
                match (left, right, value) {
                    (AbstractValue::Tensor(one), AbstractValue::Tensor(other), AbstractValue::Tensor(sum))
                        if is_sum =>
                    {
                        AbstractValue::Tensor(TensorValue { is_scaled: one.is_scaled && other.is_scaled, ..sum })
                    }
                    _ => self.scaled(value, it.op, &it.left, &it.right),
                }
            }
            Expr::UnaryOp(it) => {
                let value = self.evaluate(&it.operand);
                if it.op == UnaryOp::Not { AbstractValue::Plain } else { value }
            }
            Expr::BoolOp(it) => {
                let values: Vec<AbstractValue<'a>> = it.values.iter().map(|value| self.evaluate(value)).collect();
                let known = values.iter().find(|it| it.object().is_some()).copied();
                match (it.op, known) {
                    // `criterion or nn.MSELoss()`
                    (ruff_python_ast::BoolOp::Or, Some(known)) => known,
                    _ => values
                        .into_iter()
                        .reduce(|one, other| self.either(one, other))
                        .unwrap_or(AbstractValue::Unknown),
                }
            }
            Expr::Compare(it) => self.value_of_comparison(it),
            Expr::If(it) => self.value_of_choice(it),
            Expr::Named(it) => {
                let value = self.evaluate(&it.value);
                self.assign(&it.target, value);
                value
            }
            Expr::Subscript(it) => self.value_of_subscript(it),
            Expr::Await(it) => self.evaluate(&it.value),
            Expr::Starred(it) => self.evaluate(&it.value),
            Expr::Lambda(_) => {
                let (at, env) = (self.node(expression), self.env());
                self.new_object(ObjectKind::Lambda(at, env))
            }
            _ => self.value_of_display(expression),
        }
    }

    fn value_of_choice(&mut self, it: &'a ruff_python_ast::ExprIf) -> AbstractValue<'a> {
        let decided = self.truth(&it.test);
        self.evaluate(&it.test);
        match decided {
            Some(true) => self.evaluate(&it.body),
            Some(false) => self.evaluate(&it.orelse),
            None => {
                let (one, other) = (self.evaluate(&it.body), self.evaluate(&it.orelse));
                self.either(one, other)
            }
        }
    }

    /// `phase == "train"`: known if both sides are.
    pub(super) fn value_of_comparison(&mut self, it: &'a ExprCompare) -> AbstractValue<'a> {
        let left = self.evaluate(&it.left);
        let right: Vec<AbstractValue<'a>> = it.comparators.iter().map(|value| self.evaluate(value)).collect();
        let is_equal = match (left, right.as_slice()) {
            (AbstractValue::Text(one), [AbstractValue::Text(other)]) => one == *other,
            _ => return AbstractValue::Plain,
        };
        match it.ops.first() {
            Some(CmpOp::Eq) => AbstractValue::Int(i64::from(is_equal)),
            Some(CmpOp::NotEq) => AbstractValue::Int(i64::from(!is_equal)),
            _ => AbstractValue::Plain,
        }
    }

    // Names and attributes.

    fn value_of_name(&mut self, name: &'a ExprName) -> AbstractValue<'a> {
        if name.id.as_str() == "__name__" {
            // An imported file is no main program.
            let is_main = self.model.is_run_from(self.envs[self.env().0 as usize].file.0);
            return AbstractValue::Text(if is_main { "__main__" } else { "module" });
        }
        let found = self.variable(self.env(), name.id.as_str());
        let known = found.map_or(AbstractValue::Unknown, |(_, value)| value);
        match known {
            AbstractValue::Unknown => {}
            AbstractValue::Tensor(tensor)
                if tensor.graph == Graph::Unsure && self.model.is_backwarded(self.model.definition(name)) =>
            {
                return AbstractValue::Tensor(TensorValue { graph: self.graph_of_mode(), ..tensor });
            }
            known => return known,
        }
        let learned = match self.object_of_named_class(name.id.as_str()) {
            Some(object) if found.is_some() => object,
            _ => self.value_by_use(name),
        };
        if let (Some((env, _)), AbstractValue::Object(_)) = (found, learned) {
            self.set_variable(env, name.id.as_str(), learned);
        }
        learned
    }

    /// Returns the value that the uses of a name tell: a tensor with a graph, a module, a loader.
    fn value_by_use(&mut self, name: &'a ExprName) -> AbstractValue<'a> {
        let definition = self.model.definition(name);
        if self.model.is_backwarded(definition) {
            return AbstractValue::Tensor(TensorValue::new(self.graph_of_mode(), TensorDevice::Unsure));
        }
        if self.model.is_module_by_use(definition) {
            let module = self.allocate(ObjectKind::Module);
            let is_named = super::unknown::is_called_module(name.id.as_str()) && name.id.as_str() != "module";
            self.object_mut(module).is_guess = !is_named && !self.model.has_parameters_by_use(definition);
            return AbstractValue::Object(module);
        }
        AbstractValue::Unknown
    }

    fn value_of_subscript(&mut self, subscript: &'a ExprSubscript) -> AbstractValue<'a> {
        let base = self.evaluate(&subscript.value);
        let index = self.evaluate(&subscript.slice);
        match base {
            AbstractValue::Tensor(tensor) if tensor.graph != Graph::Unsure => base,
            AbstractValue::Object(id) => self.item(id, index, subscript.slice.is_slice_expr()),
            known => {
                let key = self.model.source(&*subscript.slice);
                let base = subscript.value.as_name_expr().map(|it| self.model.definition(it));
                if base.is_some_and(|it| self.model.is_backwarded_entry(it, key)) {
                    let tensor = known.tensor().unwrap_or(TensorValue::new(Graph::Unsure, TensorDevice::Unsure));
                    return AbstractValue::Tensor(TensorValue { graph: self.graph_of_mode(), ..tensor });
                }
                known
            }
        }
    }

    /// Returns an item of an object.
    pub(super) fn item(&mut self, id: ObjectId, index: AbstractValue<'a>, is_slice: bool) -> AbstractValue<'a> {
        let object = self.object(id);
        match (object.kind, index) {
            (ObjectKind::Module, _) => AbstractValue::Object(id),
            (ObjectKind::Instance(_), _) => match self.method_function(id, "__getitem__") {
                Some((function, env)) => {
                    let arguments = super::arguments::CallArguments::of(vec![index]);
                    self.call_function(function, env, Some(AbstractValue::Object(id)), &arguments)
                }
                None => AbstractValue::Unknown,
            },
            (_, AbstractValue::Text(key)) => {
                let known = object.entries.get(key).copied().or(object.content);
                known.unwrap_or_else(|| self.make_missing(id, AbstractValue::Text(key)))
            }
            (_, AbstractValue::Int(index)) if object.content.is_none() => {
                let at = usize::try_from(index).ok();
                at.and_then(|at| object.elements.get(at).copied()).unwrap_or_else(|| object.any_element())
            }
            _ if is_slice => AbstractValue::Object(id),
            _ if object.content.is_none() && object.entries.is_empty() && object.elements.is_empty() => {
                self.make_missing(id, AbstractValue::Plain)
            }
            _ => object.any_element(),
        }
    }

    /// Makes the value of a missing key of a `defaultdict`.
    fn make_missing(&mut self, id: ObjectId, key: AbstractValue<'a>) -> AbstractValue<'a> {
        let Some(factory) = self.object(id).factory else { return AbstractValue::Unknown };
        let value = self.apply(factory, &super::arguments::CallArguments::default());
        if let AbstractValue::Object(made) = value {
            self.object_mut(made).born = self.object(id).born;
            self.object_mut(made).is_many = !matches!(key, AbstractValue::Text(_));
        }
        match key {
            AbstractValue::Text(key) => _ = self.object_mut(id).entries.insert(key, value),
            _ => self.add_content(id, value),
        }
        value
    }

    // Arithmetic.

    /// Returns the value of an operation on two values.
    pub(super) fn combine(&mut self, left: AbstractValue<'a>, right: AbstractValue<'a>) -> AbstractValue<'a> {
        let off = self.mode() == Mode::Off;
        let found = match (left, right) {
            (AbstractValue::Tensor(one), AbstractValue::Tensor(other)) => AbstractValue::Tensor(one.with(other)),
            (AbstractValue::Tensor(one), AbstractValue::Unknown)
            | (AbstractValue::Unknown, AbstractValue::Tensor(one)) => {
                let graph = if one.graph == Graph::Recorded { Graph::Recorded } else { Graph::Unsure };
                AbstractValue::Tensor(TensorValue { graph, ..one })
            }
            (tensor @ AbstractValue::Tensor(_), _) | (_, tensor @ AbstractValue::Tensor(_)) => tensor,
            (AbstractValue::Object(one), AbstractValue::Object(other)) => self.concatenate(one, other),
            (object @ AbstractValue::Object(_), _) | (_, object @ AbstractValue::Object(_)) => object,
            (one, other) if one.is_plain() && other.is_plain() => AbstractValue::Plain,
            _ => AbstractValue::Unknown,
        };
        match found {
            AbstractValue::Tensor(tensor) if off => {
                self.note_read(tensor);
                AbstractValue::Tensor(tensor.detached())
            }
            AbstractValue::Tensor(tensor) => AbstractValue::Tensor(tensor.computed()),
            found => found,
        }
    }

    /// `list + list`
    fn concatenate(&mut self, one: ObjectId, other: ObjectId) -> AbstractValue<'a> {
        if !self.object(one).is_container() {
            return AbstractValue::Unknown;
        }
        let content = super::value::existing(self.object(one).any_element(), self.object(other).any_element());
        let id = self.allocate(ObjectKind::List);
        self.object_mut(id).content = Some(content);
        AbstractValue::Object(id)
    }

    /// Returns the value that `target += value` assigns; a list takes the elements itself.
    pub(super) fn augmented(&mut self, statement: &'a StmtAugAssign) -> AbstractValue<'a> {
        let before = self.evaluate(&statement.target);
        let value = self.evaluate(&statement.value);
        if let Some(id) = before.object().filter(|&id| self.object(id).is_container()) {
            let at = self.node(&statement.value);
            let element = self.element_of(value);
            self.note_store(id, element, at);
            self.add_content(id, element);
            return before;
        }
        let combined = self.combine(before, value);
        self.scaled(combined, statement.op, &statement.target, &statement.value)
    }

    /// Marks a tensor as scaled: divided by something that is no literal, or multiplied by a scale of accumulation.
    fn scaled(&self, value: AbstractValue<'a>, op: Operator, left: &'a Expr, right: &'a Expr) -> AbstractValue<'a> {
        let AbstractValue::Tensor(tensor) = value else { return value };
        let is_scale = |it: &'a Expr| {
            let text = self.model.source(it).to_ascii_lowercase();
            ["accum", "micro", "scale", "steps"].iter().any(|word| text.contains(word))
        };
        let is_scaling = match op {
            // `(one + other) / 2` is a mean of two losses.
            Operator::Div => !right.is_literal_expr() || self.model.source(right).parse().is_ok_and(|it: f64| it > 2.0),
            Operator::Mult => is_scale(left) || is_scale(right),
            _ => false,
        };
        AbstractValue::Tensor(TensorValue { is_scaled: tensor.is_scaled || is_scaling, ..tensor })
    }
}
