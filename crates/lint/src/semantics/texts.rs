//! The strings that an expression may be, as far as literals, names, arguments and joins tell them.

use ruff_python_ast::{Expr, ExprCall, ExprList, FStringPart, InterpolatedStringElement, Operator};

use super::Model;
use super::data::{Binding, DefinitionId};

/// The largest number of steps of a query.
const STEPS: usize = 6;
/// The largest number of strings of one expression.
const MOST: usize = 4;
/// Stands for an unknown part of a string.
pub(crate) const UNKNOWN_PART: char = '\u{0}';

impl<'a> Model<'a> {
    /// Returns the strings that an expression may be; empty if none is known. Unknown parts are [`UNKNOWN_PART`].
    pub(crate) fn texts(&self, expression: &'a Expr) -> Vec<String> {
        self.texts_within(expression, STEPS)
    }

    fn texts_within(&self, expression: &'a Expr, left: usize) -> Vec<String> {
        let Some(left) = left.checked_sub(1) else { return Vec::new() };
        let mut found = match expression {
            Expr::StringLiteral(it) => vec![it.value.to_str().to_owned()],
            Expr::FString(it) => it.value.iter().fold(vec![String::new()], |before, part| match part {
                FStringPart::Literal(text) => product(&before, &[text.value.to_string()]),
                FStringPart::FString(text) => {
                    text.elements.iter().fold(before, |before, it| product(&before, &self.texts_of_part(it, left)))
                }
            }),
            Expr::BinOp(it) if it.op == Operator::Add => {
                product(&self.texts_within(&it.left, left), &self.texts_within(&it.right, left))
            }
            Expr::BinOp(it) if it.op == Operator::Mod => {
                let before = self.texts_within(&it.left, left);
                before.iter().map(|it| filled(it, &["%s", "%d", "%r"])).collect()
            }
            Expr::If(it) => [&it.body, &it.orelse].into_iter().flat_map(|it| self.texts_within(it, left)).collect(),
            Expr::BoolOp(it) => it.values.iter().flat_map(|it| self.texts_within(it, left)).collect(),
            Expr::Name(_) | Expr::Attribute(_) => self
                .assigned_expressions(expression, left)
                .into_iter()
                .flat_map(|it| self.texts_within(it, left))
                .collect(),
            Expr::Call(call) => self.texts_of_call(expression, call, left),
            _ => Vec::new(),
        };
        found.truncate(MOST);
        found
    }

    fn texts_of_part(&self, part: &'a InterpolatedStringElement, left: usize) -> Vec<String> {
        match part {
            InterpolatedStringElement::Literal(it) => vec![it.value.to_string()],
            InterpolatedStringElement::Interpolation(it) => {
                let known = self.texts_within(&it.expression, left);
                if known.is_empty() { vec![UNKNOWN_PART.to_string()] } else { known }
            }
        }
    }

    /// `os.environ.get(name, text)`, `",".join(parts)`, a function of the tree that returns strings.
    fn texts_of_call(&self, expression: &'a Expr, syntax: &'a ExprCall, left: usize) -> Vec<String> {
        let Some(call) = self.call(expression) else { return Vec::new() };
        if call.is_any(&["os.environ.get", "os.getenv"]) {
            return call.argument("default", 1).map_or_else(Vec::new, |it| self.texts_within(it, left));
        }
        if let Some((pattern, "format")) = call.method().filter(|_| call.path.is_none()) {
            return self.texts_within(pattern, left).iter().map(|it| filled(it, &["{}"])).collect();
        }
        if let (Some((separator, "join")), [parts]) = (call.method(), &*syntax.arguments.args) {
            return self.joined_texts(separator, parts, left);
        }
        let Some(callee) = self.callee(call) else { return Vec::new() };
        let returned = &self.tree.functions[callee.index()].returned;
        returned.iter().flat_map(|it| self.texts_within(it, left)).collect()
    }

    fn joined_texts(&self, separator: &'a Expr, parts: &'a Expr, left: usize) -> Vec<String> {
        let Some(separator) = separator.as_string_literal_expr().map(|it| it.value.to_str()) else { return Vec::new() };
        let elements = match parts {
            Expr::List(it) => &it.elts,
            Expr::Tuple(it) => &it.elts,
            Expr::Generator(it) => return self.joined_items(separator, &it.generators, left),
            Expr::ListComp(it) => return self.joined_items(separator, &it.generators, left),
            Expr::Name(_) => {
                let lists = self.option_values(parts).into_iter().filter_map(Expr::as_list_expr);
                return lists.flat_map(|it| self.joined_elements(separator, it, left)).collect();
            }
            // `map(":".join, options.items())`
            Expr::Call(it) if self.call(parts).is_some_and(|it| it.is("map")) => {
                let [_, items] = &*it.arguments.args else { return Vec::new() };
                return self.joined_entries(separator, items, left);
            }
            _ => return Vec::new(),
        };
        self.join_all(separator, elements.iter().collect(), left)
    }

    /// Joins the elements of a list and those appended later under no condition of their own.
    fn joined_elements(&self, separator: &str, list: &'a ExprList, left: usize) -> Vec<String> {
        let region = self.id(list).map(|id| self.node(id).region);
        let is_list = |object: &'a Expr| self.option_values(object).into_iter().any(|it| is_same_list(it, list));
        let later = self.calls().iter().filter(|call| Some(call.region) == region).filter_map(|call| {
            let (object, name) = call.method()?;
            let added = call.syntax.arguments.args.first()?;
            (name == "append" && is_list(object)).then_some(added)
        });
        let elements: Vec<&'a Expr> = list.elts.iter().chain(later).collect();
        self.join_all(separator, elements, left)
    }

    fn join_all(&self, separator: &str, elements: Vec<&'a Expr>, left: usize) -> Vec<String> {
        let mut found = vec![String::new()];
        for (index, element) in elements.into_iter().enumerate() {
            let texts: Vec<String> = self.texts_within(element, left);
            let texts = if texts.is_empty() { vec![UNKNOWN_PART.to_string()] } else { texts };
            let before = if index == 0 { "" } else { separator };
            found = product(&found, &texts.iter().map(|it| format!("{before}{it}")).collect::<Vec<_>>());
        }
        found
    }

    /// `",".join(f"{key}:{value}" for key, value in options.items())`
    fn joined_items(
        &self,
        separator: &str,
        generators: &'a [ruff_python_ast::Comprehension],
        left: usize,
    ) -> Vec<String> {
        match generators {
            [generator] => self.joined_entries(separator, &generator.iter, left),
            _ => Vec::new(),
        }
    }

    fn joined_entries(&self, separator: &str, items: &'a Expr, left: usize) -> Vec<String> {
        let items = self.call(items).and_then(super::Call::method).filter(|(_, name)| *name == "items");
        let Some((object, _)) = items.filter(|_| left > 0) else { return Vec::new() };
        let entries = |it: &'a Expr| {
            let dict = it.as_dict_expr()?;
            let entry = |item: &'a ruff_python_ast::DictItem| {
                let key = item.key.as_ref()?.as_string_literal_expr()?.value.to_str();
                Some(format!("{key}:{}", self.source(&item.value).trim_matches(['"', '\''])))
            };
            Some(dict.items.iter().filter_map(entry).collect::<Vec<_>>().join(separator))
        };
        self.option_values(object).into_iter().filter_map(entries).collect()
    }

    /// Returns the expressions whose value a name has: assigned values, arguments, defaults; those of an attribute of `self`, or of a
    /// field of a dataclass.
    pub(crate) fn assigned_expressions(&self, object: &'a Expr, left: usize) -> Vec<&'a Expr> {
        let mut found = Vec::new();
        match object {
            Expr::Attribute(it) if self.named(object).is_none() => match self.class_of_object(&it.value) {
                Some(class) => {
                    found.extend(self.assigned_values(class, it.attr.as_str()));
                    found.extend(self.field_default(class, it.attr.as_str()));
                }
                None => found.extend(self.origins(object)),
            },
            _ => {
                if let Some(definition) = self.named(object) {
                    self.expressions_of(definition, left, &mut found);
                }
            }
        }
        found.truncate(MOST);
        found
    }

    /// Returns the default of a field in the body of a class: `device: str = "cuda"`.
    pub(crate) fn field_default(&self, class: super::data::ClassId, name: &str) -> Option<&'a Expr> {
        self.tree.classes[class.index()].syntax.body.iter().find_map(|statement| match statement {
            ruff_python_ast::Stmt::AnnAssign(it) if is_name(&it.target, name) => it.value.as_deref(),
            ruff_python_ast::Stmt::Assign(it) if it.targets.iter().any(|target| is_name(target, name)) => {
                Some(&it.value)
            }
            _ => None,
        })
    }

    fn expressions_of(&self, definition: DefinitionId, left: usize, found: &mut Vec<&'a Expr>) {
        let Some(left) = left.checked_sub(1).filter(|_| found.len() < MOST) else { return };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => match value {
                Expr::Name(_) => found.extend(self.assigned_expressions(value, left)),
                value => found.push(value),
            },
            Binding::Alias(it) => self.expressions_of(*it, left, found),
            Binding::Join(inputs, _) => inputs.iter().for_each(|&it| self.expressions_of(it, left, found)),
            Binding::Outer(symbol) => {
                let bindings = &self.tree.symbols[symbol.index()].bindings;
                bindings.iter().take(MOST).for_each(|&it| self.expressions_of(it, left, found));
            }
            Binding::Parameter(function, index, parameter) => {
                let name = parameter.name.as_str();
                for call in self.callers(*function).take(MOST) {
                    match self.argument_of(call, *function, *index, name) {
                        Some(argument @ (Expr::Name(_) | Expr::Attribute(_))) => {
                            found.extend(self.assigned_expressions(argument, left));
                        }
                        Some(argument) => found.push(argument),
                        None => {}
                    }
                }
                let parameters = &self.tree.functions[function.index()].syntax.parameters;
                let default = parameters.iter_non_variadic_params().find(|it| it.parameter.name.as_str() == name);
                found.extend(default.and_then(|it| it.default.as_deref()));
            }
            _ => {}
        }
    }
}

fn is_same_list(value: &Expr, list: &ExprList) -> bool {
    value.as_list_expr().is_some_and(|it| std::ptr::eq(it, list))
}

/// Returns a pattern with unknown parts in the places of arguments.
fn filled(pattern: &str, places: &[&str]) -> String {
    places.iter().fold(pattern.to_owned(), |text, place| text.replace(place, &UNKNOWN_PART.to_string()))
}

fn is_name(target: &Expr, name: &str) -> bool {
    target.as_name_expr().is_some_and(|it| it.id.as_str() == name)
}

fn product(before: &[String], after: &[String]) -> Vec<String> {
    let pairs = before.iter().flat_map(|one| after.iter().map(move |other| format!("{one}{other}")));
    pairs.take(MOST).collect()
}
