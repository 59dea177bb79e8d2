//! Expressions.

use ruff_python_ast::{Comprehension, Expr, ExprAttribute, ExprName, ExprSubscript, Number, Operator, StmtAugAssign, UnaryOp};

use super::loops::LoopHead;
use super::value::{ObjectId, ObjectKind, TensorValue, Value};
use super::{EnvId, FunctionId, Interpreter, MOST_NESTED, Mode};
use crate::semantics::{Graph, TensorDevice};

impl<'a> Interpreter<'_, 'a> {
    /// Returns the value of an expression.
    pub(super) fn evaluate(&mut self, expression: &'a Expr) -> Value<'a> {
        self.steps = self.steps.saturating_add(1);
        if self.is_over() || self.nested >= MOST_NESTED {
            return Value::Unknown;
        }
        self.nested += 1;
        let value = self.value_of(expression);
        self.nested -= 1;
        value
    }

    fn value_of(&mut self, expression: &'a Expr) -> Value<'a> {
        match expression {
            Expr::Name(name) => self.value_of_name(name),
            Expr::Attribute(it) => self.value_of_attribute(it),
            Expr::Call(it) => self.value_of_call(expression, it),
            Expr::BinOp(it) => {
                let (left, right) = (self.evaluate(&it.left), self.evaluate(&it.right));
                let value = self.combine(left, right);
                let is_sum = matches!(it.op, Operator::Add | Operator::Sub);
                match (left, right, value) {
                    (Value::Tensor(one), Value::Tensor(other), Value::Tensor(sum)) if is_sum => {
                        Value::Tensor(TensorValue { is_scaled: one.is_scaled && other.is_scaled, ..sum })
                    }
                    _ => self.scaled(value, it.op, &it.left, &it.right),
                }
            }
            Expr::UnaryOp(it) => {
                let value = self.evaluate(&it.operand);
                if it.op == UnaryOp::Not { Value::Plain } else { value }
            }
            Expr::BoolOp(it) => {
                let values: Vec<Value<'a>> = it.values.iter().map(|value| self.evaluate(value)).collect();
                let known = values.iter().find(|it| it.object().is_some()).copied();
                match (it.op, known) {
                    // `criterion or nn.MSELoss()`
                    (ruff_python_ast::BoolOp::Or, Some(known)) => known,
                    _ => values.into_iter().reduce(|one, other| self.either(one, other)).unwrap_or(Value::Unknown),
                }
            }
            Expr::Compare(it) => {
                self.evaluate(&it.left);
                it.comparators.iter().for_each(|value| _ = self.evaluate(value));
                Value::Plain
            }
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
            Expr::Yield(it) => {
                let value = it.value.as_deref().map_or(Value::Nothing, |value| self.evaluate(value));
                self.give(it.value.as_deref().unwrap_or(expression), value);
                Value::Unknown
            }
            Expr::YieldFrom(it) => {
                let value = self.evaluate(&it.value);
                let element = self.element_of(value);
                self.give(&it.value, element);
                Value::Unknown
            }
            _ => self.value_of_display(expression),
        }
    }

    fn value_of_choice(&mut self, it: &'a ruff_python_ast::ExprIf) -> Value<'a> {
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

    /// Literals, displays and comprehensions.
    fn value_of_display(&mut self, expression: &'a Expr) -> Value<'a> {
        match expression {
            Expr::NoneLiteral(_) => Value::Nothing,
            Expr::StringLiteral(it) => Value::Text(it.value.to_str()),
            Expr::NumberLiteral(it) => match &it.value {
                Number::Int(number) => number.as_i64().map_or(Value::Plain, Value::Int),
                _ => Value::Plain,
            },
            Expr::BooleanLiteral(it) => Value::Int(i64::from(it.value)),
            Expr::List(it) => self.display(ObjectKind::List, &it.elts),
            Expr::Set(it) => self.display(ObjectKind::List, &it.elts),
            Expr::Tuple(it) => self.display(ObjectKind::Tuple, &it.elts),
            Expr::Dict(it) => self.dict(it),
            Expr::ListComp(it) => self.comprehension(expression, ObjectKind::List, &it.generators, &it.elt),
            Expr::SetComp(it) => self.comprehension(expression, ObjectKind::List, &it.generators, &it.elt),
            Expr::Generator(it) => self.comprehension(expression, ObjectKind::Iterator, &it.generators, &it.elt),
            Expr::DictComp(it) => self.comprehension(expression, ObjectKind::Dict, &it.generators, &it.value),
            Expr::FString(_) | Expr::BytesLiteral(_) | Expr::EllipsisLiteral(_) | Expr::Slice(_) => Value::Plain,
            _ => Value::Unknown,
        }
    }

    fn display(&mut self, kind: ObjectKind<'a>, elements: &'a [Expr]) -> Value<'a> {
        let mut values = Vec::with_capacity(elements.len());
        let mut content = None;
        for element in elements {
            let value = self.evaluate(element);
            match element {
                Expr::Starred(_) => match self.elements_of(value) {
                    Some(known) => values.extend(known),
                    None => content = Some(self.element_of(value)),
                },
                _ => values.push(value),
            }
        }
        let id = self.allocate(kind);
        let object = self.object_mut(id);
        (object.elements, object.content) = (values, content);
        Value::Object(id)
    }

    fn dict(&mut self, dict: &'a ruff_python_ast::ExprDict) -> Value<'a> {
        let mut entries = Vec::new();
        let mut content = None;
        for item in &dict.items {
            let value = self.evaluate(&item.value);
            match item.key.as_ref().map(|key| self.evaluate(key)) {
                Some(Value::Text(key)) => entries.push((key, value)),
                Some(_) => content = Some(content.map_or(value, |it| super::value::existing(it, value))),
                None => match value.object() {
                    Some(id) => {
                        entries.extend(self.object(id).entries.iter().map(|(key, value)| (*key, *value)));
                        content = self.object(id).content.or(content);
                    }
                    None => content = Some(Value::Unknown),
                },
            }
        }
        let id = self.allocate(ObjectKind::Dict);
        let object = self.object_mut(id);
        object.entries.extend(entries);
        object.content = content;
        Value::Object(id)
    }

    fn comprehension(
        &mut self,
        expression: &'a Expr,
        kind: ObjectKind<'a>,
        generators: &'a [Comprehension],
        element: &'a Expr,
    ) -> Value<'a> {
        let id = self.allocate(kind);
        self.generate(generators, &mut |run| {
            let value = run.evaluate(element);
            let at = run.node(element);
            run.note_store(id, value, at);
            run.add_content(id, value);
        });
        let _ = expression;
        Value::Object(id)
    }

    fn generate(&mut self, generators: &'a [Comprehension], body: &mut dyn FnMut(&mut Self)) {
        let Some((generator, rest)) = generators.split_first() else { return body(self) };
        let iterable = self.evaluate(&generator.iter);
        let head = LoopHead { at: self.node(&generator.iter), iterated: Some(&generator.iter), test: None };
        self.repeat(&head, iterable, |run, value| {
            run.assign(&generator.target, value);
            generator.ifs.iter().for_each(|test| _ = run.evaluate(test));
            run.generate(rest, body);
        });
    }

    /// Adds a yielded value to the elements of the running generator.
    fn give(&mut self, at: &'a Expr, value: Value<'a>) {
        let at = self.node(at);
        if let Some(id) = self.frames.last().and_then(|frame| frame.yielded) {
            self.note_store(id, value, at);
            self.add_content(id, value);
        }
    }

    // Names and attributes.

    fn value_of_name(&mut self, name: &'a ExprName) -> Value<'a> {
        let found = self.variable(self.env(), name.id.as_str());
        let known = found.map_or(Value::Unknown, |(_, value)| value);
        match known {
            Value::Unknown => {}
            Value::Tensor(tensor)
                if tensor.graph == Graph::Unsure && self.model.is_backwarded(self.model.definition(name)) =>
            {
                return Value::Tensor(TensorValue { graph: self.graph_of_mode(), ..tensor });
            }
            known => return known,
        }
        let learned = self.value_by_use(name);
        if let (Some((env, _)), Value::Object(_)) = (found, learned) {
            self.set_variable(env, name.id.as_str(), learned);
        }
        learned
    }

    /// Returns the value that the uses of a name tell: a tensor with a graph, a module, a loader.
    fn value_by_use(&mut self, name: &'a ExprName) -> Value<'a> {
        let definition = self.model.definition(name);
        if self.model.is_backwarded(definition) {
            return Value::Tensor(TensorValue::new(self.graph_of_mode(), TensorDevice::Unsure));
        }
        if self.model.is_module_by_use(definition) {
            let module = self.allocate(ObjectKind::Module);
            let is_named = super::calls::is_called_module(name.id.as_str()) && name.id.as_str() != "module";
            self.object_mut(module).is_guess = !is_named && !self.model.has_parameters_by_use(definition);
            return Value::Object(module);
        }
        Value::Unknown
    }

    fn value_of_attribute(&mut self, attribute: &'a ExprAttribute) -> Value<'a> {
        let base = self.evaluate(&attribute.value);
        let name = attribute.attr.as_str();
        let known = self.attribute_of(base, name);
        if !matches!(known, Value::Unknown) {
            return known;
        }
        let Some(definition) = attribute.value.as_name_expr().map(|it| self.model.definition(it)) else {
            return Value::Unknown;
        };
        if self.model.is_backwarded_attribute(definition, name) {
            return Value::Tensor(TensorValue::new(self.graph_of_mode(), TensorDevice::Unsure));
        }
        if self.model.is_module_attribute_by_use(definition, name) {
            let module = self.new_object(ObjectKind::Module);
            if let Value::Object(id) = base {
                self.object_mut(id).fields.insert(name, module);
            }
            return module;
        }
        Value::Unknown
    }

    /// Returns an attribute of a value.
    pub(super) fn attribute_of(&mut self, base: Value<'a>, name: &'a str) -> Value<'a> {
        match base {
            Value::Tensor(tensor) => match crate::semantics::tensor_part(name) {
                Some(crate::semantics::Gives::Plain) => Value::Plain,
                Some(crate::semantics::Gives::Detached) => Value::Tensor(tensor.detached()),
                Some(_) => base,
                None => Value::Unknown,
            },
            Value::File(file) => {
                let env = self.run_file(file);
                env.and_then(|env| self.variable(env, name)).map_or(Value::Unknown, |(_, value)| value)
            }
            Value::Function(function, _) => {
                let id = self.attributes_of(function);
                self.object(id).fields.get(name).copied().unwrap_or(Value::Unknown)
            }
            Value::Class(class) => {
                let env = self.class_env(class);
                let known = env.and_then(|env| self.envs[env.0 as usize].variables.get(name).copied());
                known.unwrap_or(Value::Unknown)
            }
            Value::Object(id) => self.attribute_of_object(id, name),
            _ => Value::Unknown,
        }
    }

    fn attribute_of_object(&mut self, id: ObjectId, name: &'a str) -> Value<'a> {
        if let Some(value) = self.field(id, name) {
            return value;
        }
        if let Some((function, env)) = self.method_function(id, name) {
            if self.model.is_property(function) {
                return self.call_function(function, env, Some(Value::Object(id)), &super::arguments::Arguments::default());
            }
            return self.new_object(ObjectKind::Method(Value::Object(id), function));
        }
        match self.object(id).kind {
            ObjectKind::Module if name == "module" => Value::Object(id),
            ObjectKind::List | ObjectKind::Dict => self.new_object(ObjectKind::LibraryMethod(Value::Object(id), name)),
            // A part of a module: its state follows the whole.
            ObjectKind::Module if !crate::semantics::is_module_method(name) => self.part_of_module(id, name),
            _ => Value::Unknown,
        }
    }

    /// Returns a submodule of a library's module.
    pub(super) fn part_of_module(&mut self, id: ObjectId, name: &'a str) -> Value<'a> {
        let is_data = ["config", "device", "dtype", "training", "loss", "weight", "bias", "shape", "name", "num_", "hidden_size", "n_", "dim"];
        if is_data.iter().any(|it| name.starts_with(it) || name.ends_with(it)) {
            return Value::Unknown;
        }
        let part = self.allocate(ObjectKind::Module);
        let whole = self.object(id).clone();
        let object = self.object_mut(part);
        (object.is_eval, object.is_frozen, object.is_optimized) = (whole.is_eval, whole.is_frozen, whole.is_optimized);
        object.born = whole.born;
        self.object_mut(id).fields.insert(name, Value::Object(part));
        Value::Object(part)
    }

    /// Returns a method of a class of the tree, with the namespace of its class.
    pub(super) fn method_function(&mut self, id: ObjectId, name: &str) -> Option<(FunctionId, EnvId)> {
        let ObjectKind::Instance(class) = self.object(id).kind else { return None };
        let owner = self.model.own_and_bases(class).into_iter().find(|it| {
            self.model.tree.classes[it.index()].methods.contains_key(name)
        })?;
        let function = *self.model.tree.classes[owner.index()].methods.get(name)?;
        let env = self.class_env(owner)?;
        // A method does not see the names of its class.
        Some((function, self.envs[env.0 as usize].around.unwrap_or(env)))
    }

    fn value_of_subscript(&mut self, subscript: &'a ExprSubscript) -> Value<'a> {
        let base = self.evaluate(&subscript.value);
        let index = self.evaluate(&subscript.slice);
        match base {
            Value::Tensor(tensor) if tensor.graph != Graph::Unsure => base,
            Value::Object(id) => self.item(id, index, subscript.slice.is_slice_expr()),
            known => {
                let key = self.model.source(&*subscript.slice);
                let base = subscript.value.as_name_expr().map(|it| self.model.definition(it));
                if base.is_some_and(|it| self.model.is_backwarded_entry(it, key)) {
                    let tensor = known.tensor().unwrap_or(TensorValue::new(Graph::Unsure, TensorDevice::Unsure));
                    return Value::Tensor(TensorValue { graph: self.graph_of_mode(), ..tensor });
                }
                known
            }
        }
    }

    /// Returns an item of an object.
    pub(super) fn item(&mut self, id: ObjectId, index: Value<'a>, is_slice: bool) -> Value<'a> {
        let object = self.object(id);
        match (object.kind, index) {
            (ObjectKind::Module, _) => Value::Object(id),
            (ObjectKind::Instance(_), _) => match self.method_function(id, "__getitem__") {
                Some((function, env)) => {
                    let arguments = super::arguments::Arguments::of(vec![index]);
                    self.call_function(function, env, Some(Value::Object(id)), &arguments)
                }
                None => Value::Unknown,
            },
            (_, Value::Text(key)) => {
                let known = object.entries.get(key).copied().or(object.content);
                known.unwrap_or_else(|| self.make_missing(id, Value::Text(key)))
            }
            (_, Value::Int(index)) if object.content.is_none() => {
                let at = usize::try_from(index).ok();
                at.and_then(|at| object.elements.get(at).copied()).unwrap_or_else(|| object.any_element())
            }
            _ if is_slice => Value::Object(id),
            _ if object.content.is_none() && object.entries.is_empty() && object.elements.is_empty() => {
                self.make_missing(id, Value::Plain)
            }
            _ => object.any_element(),
        }
    }

    /// Makes the value of a missing key of a `defaultdict`.
    fn make_missing(&mut self, id: ObjectId, key: Value<'a>) -> Value<'a> {
        let Some(factory) = self.object(id).factory else { return Value::Unknown };
        let value = self.apply(factory, &super::arguments::Arguments::default());
        if let Value::Object(made) = value {
            self.object_mut(made).born = self.object(id).born;
            self.object_mut(made).is_many = !matches!(key, Value::Text(_));
        }
        match key {
            Value::Text(key) => _ = self.object_mut(id).entries.insert(key, value),
            _ => self.add_content(id, value),
        }
        value
    }

    // Arithmetic.

    /// Returns the value of an operation on two values.
    pub(super) fn combine(&mut self, left: Value<'a>, right: Value<'a>) -> Value<'a> {
        let off = self.mode() == Mode::Off;
        let found = match (left, right) {
            (Value::Tensor(one), Value::Tensor(other)) => Value::Tensor(one.with(other)),
            (Value::Tensor(one), Value::Unknown) | (Value::Unknown, Value::Tensor(one)) => {
                let graph = if one.graph == Graph::Recorded { Graph::Recorded } else { Graph::Unsure };
                Value::Tensor(TensorValue { graph, ..one })
            }
            (tensor @ Value::Tensor(_), _) | (_, tensor @ Value::Tensor(_)) => tensor,
            (Value::Object(one), Value::Object(other)) => self.concatenate(one, other),
            (object @ Value::Object(_), _) | (_, object @ Value::Object(_)) => object,
            (one, other) if one.is_plain() && other.is_plain() => Value::Plain,
            _ => Value::Unknown,
        };
        match found {
            Value::Tensor(tensor) if off => Value::Tensor(tensor.detached()),
            found => found,
        }
    }

    /// `list + list`
    fn concatenate(&mut self, one: ObjectId, other: ObjectId) -> Value<'a> {
        if !self.object(one).is_container() {
            return Value::Unknown;
        }
        let content = super::value::existing(self.object(one).any_element(), self.object(other).any_element());
        let id = self.allocate(ObjectKind::List);
        self.object_mut(id).content = Some(content);
        Value::Object(id)
    }

    /// Returns the value that `target += value` assigns; a list takes the elements itself.
    pub(super) fn augmented(&mut self, statement: &'a StmtAugAssign) -> Value<'a> {
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
    fn scaled(&self, value: Value<'a>, op: Operator, left: &'a Expr, right: &'a Expr) -> Value<'a> {
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
        match value {
            Value::Tensor(tensor) if is_scaling => Value::Tensor(TensorValue { is_scaled: true, ..tensor }),
            value => value,
        }
    }
}
