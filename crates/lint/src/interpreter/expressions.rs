//! Expressions.

use ruff_python_ast::{
    Comprehension, Expr, ExprAttribute, ExprName, ExprSubscript, Number, Operator, StmtAugAssign, UnaryOp,
};

use super::loops::LoopHead;
use super::value::{ObjectId, ObjectKind, TensorValue, AbstractValue};
use super::{EnvId, FunctionId, Interpreter, MOST_NESTED, Mode};
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
                    (AbstractValue::Tensor(one), AbstractValue::Tensor(other), AbstractValue::Tensor(sum)) if is_sum => {
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
                    _ => values.into_iter().reduce(|one, other| self.either(one, other)).unwrap_or(AbstractValue::Unknown),
                }
            }
            Expr::Compare(it) => {
                self.evaluate(&it.left);
                it.comparators.iter().for_each(|value| _ = self.evaluate(value));
                AbstractValue::Plain
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
                let value = it.value.as_deref().map_or(AbstractValue::Nothing, |value| self.evaluate(value));
                self.give(it.value.as_deref().unwrap_or(expression), value);
                AbstractValue::Unknown
            }
            Expr::YieldFrom(it) => {
                let value = self.evaluate(&it.value);
                let element = self.element_of(value);
                self.give(&it.value, element);
                AbstractValue::Unknown
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

    /// Literals, displays and comprehensions.
    fn value_of_display(&mut self, expression: &'a Expr) -> AbstractValue<'a> {
        match expression {
            Expr::NoneLiteral(_) => AbstractValue::Nothing,
            Expr::StringLiteral(it) => AbstractValue::Text(it.value.to_str()),
            Expr::NumberLiteral(it) => match &it.value {
                Number::Int(number) => number.as_i64().map_or(AbstractValue::Plain, AbstractValue::Int),
                _ => AbstractValue::Plain,
            },
            Expr::BooleanLiteral(it) => AbstractValue::Int(i64::from(it.value)),
            Expr::List(it) => self.display(ObjectKind::List, &it.elts),
            Expr::Set(it) => self.display(ObjectKind::List, &it.elts),
            Expr::Tuple(it) => self.display(ObjectKind::Tuple, &it.elts),
            Expr::Dict(it) => self.dict(it),
            Expr::ListComp(it) => self.comprehension(expression, ObjectKind::List, &it.generators, &it.elt),
            Expr::SetComp(it) => self.comprehension(expression, ObjectKind::List, &it.generators, &it.elt),
            Expr::Generator(it) => self.comprehension(expression, ObjectKind::Iterator, &it.generators, &it.elt),
            Expr::DictComp(it) => self.comprehension(expression, ObjectKind::Dict, &it.generators, &it.value),
            Expr::FString(_) | Expr::BytesLiteral(_) | Expr::EllipsisLiteral(_) | Expr::Slice(_) => AbstractValue::Plain,
            _ => AbstractValue::Unknown,
        }
    }

    fn display(&mut self, kind: ObjectKind<'a>, elements: &'a [Expr]) -> AbstractValue<'a> {
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
        AbstractValue::Object(id)
    }

    fn dict(&mut self, dict: &'a ruff_python_ast::ExprDict) -> AbstractValue<'a> {
        let mut entries = Vec::new();
        let mut content = None;
        for item in &dict.items {
            let value = self.evaluate(&item.value);
            match item.key.as_ref().map(|key| self.evaluate(key)) {
                Some(AbstractValue::Text(key)) => entries.push((key, value)),
                Some(_) => content = Some(content.map_or(value, |it| super::value::existing(it, value))),
                None => match value.object() {
                    Some(id) => {
                        entries.extend(self.object(id).entries.iter().map(|(key, value)| (*key, *value)));
                        content = self.object(id).content.or(content);
                    }
                    None => content = Some(AbstractValue::Unknown),
                },
            }
        }
        let id = self.allocate(ObjectKind::Dict);
        let object = self.object_mut(id);
        object.entries.extend(entries);
        object.content = content;
        AbstractValue::Object(id)
    }

    fn comprehension(
        &mut self,
        expression: &'a Expr,
        kind: ObjectKind<'a>,
        generators: &'a [Comprehension],
        element: &'a Expr,
    ) -> AbstractValue<'a> {
        let id = self.allocate(kind);
        self.generate(generators, &mut |run| {
            let value = run.evaluate(element);
            let at = run.node(element);
            run.note_store(id, value, at);
            run.add_content(id, value);
        });
        let _ = expression;
        AbstractValue::Object(id)
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
    fn give(&mut self, at: &'a Expr, value: AbstractValue<'a>) {
        let at = self.node(at);
        if let Some(id) = self.frames.last().and_then(|frame| frame.yielded) {
            self.note_store(id, value, at);
            self.add_content(id, value);
        }
    }

    // Names and attributes.

    fn value_of_name(&mut self, name: &'a ExprName) -> AbstractValue<'a> {
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
        let learned = self.value_by_use(name);
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
            let is_named = super::calls::is_called_module(name.id.as_str()) && name.id.as_str() != "module";
            self.object_mut(module).is_guess = !is_named && !self.model.has_parameters_by_use(definition);
            return AbstractValue::Object(module);
        }
        AbstractValue::Unknown
    }

    fn value_of_attribute(&mut self, attribute: &'a ExprAttribute) -> AbstractValue<'a> {
        let base = self.evaluate(&attribute.value);
        let name = attribute.attr.as_str();
        let known = self.attribute_of(base, name);
        if !matches!(known, AbstractValue::Unknown) {
            return known;
        }
        let Some(definition) = attribute.value.as_name_expr().map(|it| self.model.definition(it)) else {
            return AbstractValue::Unknown;
        };
        if self.model.is_backwarded_attribute(definition, name) {
            return AbstractValue::Tensor(TensorValue::new(self.graph_of_mode(), TensorDevice::Unsure));
        }
        if self.model.is_module_attribute_by_use(definition, name) {
            let module = self.new_object(ObjectKind::Module);
            if let AbstractValue::Object(id) = base {
                self.object_mut(id).fields.insert(name, module);
            }
            return module;
        }
        AbstractValue::Unknown
    }

    /// Returns an attribute of a value.
    pub(super) fn attribute_of(&mut self, base: AbstractValue<'a>, name: &'a str) -> AbstractValue<'a> {
        match base {
            AbstractValue::Tensor(tensor) => match crate::semantics::tensor_part(name) {
                Some(crate::semantics::Gives::Plain) => AbstractValue::Plain,
                Some(crate::semantics::Gives::Detached) => AbstractValue::Tensor(tensor.detached()),
                Some(_) => base,
                None => AbstractValue::Unknown,
            },
            AbstractValue::File(file) => {
                let env = self.run_file(file);
                env.and_then(|env| self.variable(env, name)).map_or(AbstractValue::Unknown, |(_, value)| value)
            }
            AbstractValue::Function(function, _) => {
                let id = self.attributes_of(function);
                self.object(id).fields.get(name).copied().unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Class(class) => {
                let env = self.class_env(class);
                let known = env.and_then(|env| self.envs[env.0 as usize].variables.get(name).copied());
                known.unwrap_or(AbstractValue::Unknown)
            }
            AbstractValue::Object(id) => self.attribute_of_object(id, name),
            _ => AbstractValue::Unknown,
        }
    }

    fn attribute_of_object(&mut self, id: ObjectId, name: &'a str) -> AbstractValue<'a> {
        if let Some(value) = self.field(id, name) {
            return value;
        }
        if let Some((function, env)) = self.method_function(id, name) {
            if self.model.is_property(function) {
                return self.call_function(
                    function,
                    env,
                    Some(AbstractValue::Object(id)),
                    &super::arguments::CallArguments::default(),
                );
            }
            return self.new_object(ObjectKind::Method(AbstractValue::Object(id), function));
        }
        match self.object(id).kind {
            ObjectKind::Module if name == "module" => AbstractValue::Object(id),
            ObjectKind::List | ObjectKind::Dict => self.new_object(ObjectKind::LibraryMethod(AbstractValue::Object(id), name)),
            // A part of a module: its state follows the whole.
            ObjectKind::Module if !crate::semantics::is_module_method(name) => self.part_of_module(id, name),
            _ => AbstractValue::Unknown,
        }
    }

    /// Returns a submodule of a library's module.
    pub(super) fn part_of_module(&mut self, id: ObjectId, name: &'a str) -> AbstractValue<'a> {
        let is_data = [
            "config",
            "device",
            "dtype",
            "training",
            "loss",
            "weight",
            "bias",
            "shape",
            "name",
            "num_",
            "hidden_size",
            "n_",
            "dim",
        ];
        if is_data.iter().any(|it| name.starts_with(it) || name.ends_with(it)) {
            return AbstractValue::Unknown;
        }
        let part = self.allocate(ObjectKind::Module);
        let whole = self.object(id).clone();
        let object = self.object_mut(part);
        (object.is_eval, object.is_frozen, object.is_optimized) = (whole.is_eval, whole.is_frozen, whole.is_optimized);
        object.born = whole.born;
        self.object_mut(id).fields.insert(name, AbstractValue::Object(part));
        AbstractValue::Object(part)
    }

    /// Returns a method of a class of the tree, with the namespace of its class.
    pub(super) fn method_function(&mut self, id: ObjectId, name: &str) -> Option<(FunctionId, EnvId)> {
        let ObjectKind::Instance(class) = self.object(id).kind else { return None };
        let owner = self
            .model
            .own_and_bases(class)
            .into_iter()
            .find(|it| self.model.tree.classes[it.index()].methods.contains_key(name))?;
        let function = *self.model.tree.classes[owner.index()].methods.get(name)?;
        let env = self.class_env(owner)?;
        // A method does not see the names of its class.
        Some((function, self.envs[env.0 as usize].around.unwrap_or(env)))
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
            (AbstractValue::Tensor(one), AbstractValue::Unknown) | (AbstractValue::Unknown, AbstractValue::Tensor(one)) => {
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
            AbstractValue::Tensor(tensor) if off => AbstractValue::Tensor(tensor.detached()),
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
            AbstractValue::Tensor(tensor) if is_scaling => AbstractValue::Tensor(TensorValue { is_scaled: true, ..tensor }),
            value => value,
        }
    }
}
