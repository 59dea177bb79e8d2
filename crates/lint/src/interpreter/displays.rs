//! Literals, displays of collections, comprehensions, and yielded elements.

use ruff_python_ast::{Comprehension, Expr, ExprDict, Number};

use super::Interpreter;
use super::loops::LoopHead;
use super::value::{AbstractValue, ObjectKind, existing};

impl<'a> Interpreter<'_, 'a> {
    /// Literals, displays, comprehensions and yielded values.
    pub(super) fn value_of_display(&mut self, expression: &'a Expr) -> AbstractValue<'a> {
        match expression {
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
            Expr::FString(_) | Expr::BytesLiteral(_) | Expr::EllipsisLiteral(_) | Expr::Slice(_) => {
                AbstractValue::Plain
            }
            _ => AbstractValue::Unknown,
        }
    }

    pub(super) fn display(&mut self, kind: ObjectKind<'a>, elements: &'a [Expr]) -> AbstractValue<'a> {
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

    pub(super) fn dict(&mut self, dict: &'a ExprDict) -> AbstractValue<'a> {
        let mut entries = Vec::new();
        let mut content = None;
        for item in &dict.items {
            let value = self.evaluate(&item.value);
            match item.key.as_ref().map(|key| self.evaluate(key)) {
                Some(AbstractValue::Text(key)) => entries.push((key, value)),
                Some(_) => content = Some(content.map_or(value, |it| existing(it, value))),
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

    pub(super) fn comprehension(
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

    pub(super) fn generate(&mut self, generators: &'a [Comprehension], body: &mut dyn FnMut(&mut Self)) {
        let Some((generator, rest)) = generators.split_first() else { return body(self) };
        let iterable = self.evaluate(&generator.iter);
        let head = LoopHead {
            at: self.node(&generator.iter),
            iterated: Some(&generator.iter),
            test: None,
            is_of_framework: false,
        };
        self.repeat(&head, iterable, |run, value| {
            run.assign(&generator.target, value);
            generator.ifs.iter().for_each(|test| _ = run.evaluate(test));
            run.generate(rest, body);
        });
    }

    /// Adds a yielded value to the elements of the running generator.
    pub(super) fn give(&mut self, at: &'a Expr, value: AbstractValue<'a>) {
        let at = self.node(at);
        if let Some(id) = self.frames.last().and_then(|frame| frame.yielded) {
            self.note_store(id, value, at);
            self.add_content(id, value);
        }
    }
}
