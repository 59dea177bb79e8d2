//! Options behind dicts, objects of settings and `**options`: what value has a key?

use ruff_python_ast::{Expr, ExprCall, ExprDict, Operator, Stmt};

use super::data::{Binding, ClassId, FunctionId};
use super::names::last;
use super::unpacked::GivenArgument;
use super::{Call, Model};

/// The largest number of steps of a query.
const STEPS: usize = 6;
/// The largest number of callers that are asked.
const MOST_CALLERS: usize = 8;

/// Calls that return their argument, or its fields, as a dict or as an object with the same keys.
const KEEPING: [&str; 16] = [
    "deepcopy",
    "copy",
    "create",
    "to_container",
    "OmegaConf",
    "EasyDict",
    "edict",
    "ConfigDict",
    "MappingProxyType",
    "Munch",
    "Box",
    "AttrDict",
    "OrderedDict",
    "SimpleNamespace",
    "Namespace",
    "dict",
];

/// Functions and methods that turn an object of settings into a dict.
const FIELDS_OF: [&str; 7] = ["asdict", "vars", "_asdict", "model_dump", "to_dict", "as_dict", "dict"];

impl<'a> Model<'a> {
    /// Returns the value of a key in a dict or an object of settings.
    pub(crate) fn option(&self, options: &'a Expr, name: &str) -> GivenArgument<'a> {
        self.option_within(options, name, STEPS)
    }

    fn option_within(&self, options: &'a Expr, name: &str, left: usize) -> GivenArgument<'a> {
        let Some(left) = left.checked_sub(1) else { return GivenArgument::Unsure };
        let is_named = options.is_name_expr() || options.is_attribute_expr();
        if is_named && self.is_dict_changed(options) {
            return GivenArgument::Unsure;
        }
        match options {
            Expr::Dict(it) => self.option_of_dict(it, name, left),
            Expr::If(it) => self.agreed(vec![&*it.body, &*it.orelse], name, left),
            Expr::BoolOp(it) => self.agreed(it.values.iter().collect(), name, left),
            Expr::BinOp(it) if it.op == Operator::BitOr => {
                later(self.option_within(&it.right, name, left), || self.option_within(&it.left, name, left))
            }
            Expr::Call(it) => self.option_of_call(options, it, name, left),
            Expr::Attribute(it) if it.attr.as_str() == "__dict__" => self.option_of_object(&it.value, name),
            Expr::Name(_) if self.rest_of(options).is_some() => {
                self.rest_of(options).map_or(GivenArgument::Unsure, |it| self.option_of_callers(it, name, left))
            }
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                let values = self.values_within(options, left);
                let values = values.into_iter().filter(|it| !std::ptr::eq(*it, options)).collect();
                self.agreed(values, name, left)
            }
            _ => GivenArgument::Unsure,
        }
    }

    /// Returns the value that all dicts have, if the values are equal in the source.
    fn agreed(&self, dicts: Vec<&'a Expr>, name: &str, left: usize) -> GivenArgument<'a> {
        let mut dicts = dicts.into_iter().filter(|it| !it.is_none_literal_expr());
        let Some(first) = dicts.next() else { return GivenArgument::Unsure };
        let first = self.option_within(first, name, left);
        let is_same = |other: GivenArgument<'a>| match (first, other) {
            (GivenArgument::Value(one), GivenArgument::Value(other)) => self.source(one) == self.source(other),
            (GivenArgument::Absent, GivenArgument::Absent) => true,
            _ => false,
        };
        if dicts.all(|it| is_same(self.option_within(it, name, left))) { first } else { GivenArgument::Unsure }
    }

    fn option_of_dict(&self, dict: &'a ExprDict, name: &str, left: usize) -> GivenArgument<'a> {
        let mut is_known = true;
        for item in dict.items.iter().rev() {
            match &item.key {
                None => match self.option_within(&item.value, name, left) {
                    GivenArgument::Absent => {}
                    found => return found,
                },
                Some(Expr::StringLiteral(key)) if key.value.to_str() == name => {
                    return GivenArgument::Value(&item.value);
                }
                Some(key) => is_known &= key.is_string_literal_expr(),
            }
        }
        if is_known { GivenArgument::Absent } else { GivenArgument::Unsure }
    }

    /// `dict(base, num_workers=4)`, `asdict(config)`, `config.copy()`, a function of the tree that returns a dict.
    fn option_of_call(&self, value: &'a Expr, syntax: &'a ExprCall, name: &str, left: usize) -> GivenArgument<'a> {
        let Some(call) = self.call(value) else { return GivenArgument::Unsure };
        if let Some(callee) = self.callee(call) {
            let returned = self.tree.functions[callee.index()].returned.clone();
            return self.agreed(returned, name, left);
        }
        let called = call.path.as_deref().map(last).or(call.method().map(|(_, name)| name)).unwrap_or_default();
        let first = syntax.arguments.args.first();
        let receiver = call.method().filter(|_| call.path.is_none()).map(|(it, _)| it);
        if FIELDS_OF.contains(&called)
            && let Some(object) = receiver.or(first)
            && let found @ (GivenArgument::Value(_) | GivenArgument::Absent) = self.option_of_object(object, name)
        {
            return found;
        }
        if called == "get" && receiver.is_some() {
            return self.agreed(self.items_of(value, left), name, left);
        }
        if !KEEPING.contains(&called) {
            return GivenArgument::Unsure;
        }
        let by_keyword = self.keyword_behind(call, name, left);
        later(by_keyword, || match receiver.or(first) {
            Some(base) => self.option_within(base, name, left),
            None => GivenArgument::Absent,
        })
    }

    /// Returns a keyword of a call, also behind `**options`.
    fn keyword_behind(&self, call: &Call<'a>, name: &str, left: usize) -> GivenArgument<'a> {
        if let Some(value) = call.keyword(name) {
            return GivenArgument::Value(value);
        }
        let unpacked = call.syntax.arguments.keywords.iter().filter(|it| it.arg.is_none());
        let found = unpacked.map(|it| self.option_within(&it.value, name, left));
        found.into_iter().find(|it| !matches!(it, GivenArgument::Absent)).unwrap_or(GivenArgument::Absent)
    }

    /// Returns the function whose `**options` a name is.
    fn rest_of(&self, options: &'a Expr) -> Option<FunctionId> {
        let name = options.as_name_expr()?;
        let definition = &self.tree.definitions[self.definition(name).index()];
        let function = self.function(definition.region)?;
        let rest = self.tree.functions[function.index()].syntax.parameters.kwarg.as_ref()?;
        (matches!(definition.binding, Binding::Other) && rest.name.as_str() == name.id.as_str()).then_some(function)
    }

    /// Returns a keyword that all callers of a function pass, or none does.
    fn option_of_callers(&self, function: FunctionId, name: &str, left: usize) -> GivenArgument<'a> {
        let mut callers = self.callers(function).take(MOST_CALLERS);
        let Some(first) = callers.next().map(|it| self.keyword_behind(it, name, left)) else {
            return GivenArgument::Unsure;
        };
        let is_same = |other| match (first, other) {
            (GivenArgument::Value(one), GivenArgument::Value(other)) => self.source(one) == self.source(other),
            (GivenArgument::Absent, GivenArgument::Absent) => true,
            _ => false,
        };
        if callers.all(|it| is_same(self.keyword_behind(it, name, left))) { first } else { GivenArgument::Unsure }
    }

    /// Returns a field of an object of settings, if the program passes no other value where the class is called.
    fn option_of_object(&self, object: &'a Expr, name: &str) -> GivenArgument<'a> {
        let Some(class) = self.class_of_settings(object, STEPS) else { return GivenArgument::Unsure };
        let mut found = GivenArgument::Absent;
        for base in self.own_and_bases(class) {
            match self.option_of_field(base, name) {
                GivenArgument::Absent => {}
                known => {
                    found = known;
                    break;
                }
            }
        }
        let makes = |call: &&Call<'a>| self.named(&call.syntax.func).and_then(|it| self.class_of(it)) == Some(class);
        let is_passed = |call: &Call<'a>| call.keyword(name).is_some() || call.has_unpacked();
        match found {
            GivenArgument::Value(_) if self.calls().iter().filter(makes).any(is_passed) => GivenArgument::Unsure,
            found => found,
        }
    }

    /// Returns the default of a field in the body of a class.
    fn option_of_field(&self, class: ClassId, name: &str) -> GivenArgument<'a> {
        if let Some(value) = self.field_default(class, name) {
            return GivenArgument::Value(self.default_of_field(value));
        }
        let is_field = |it: &Stmt| {
            let target = it.as_ann_assign_stmt().and_then(|it| it.target.as_name_expr());
            target.is_some_and(|it| it.id.as_str() == name)
        };
        let body = &self.tree.classes[class.index()].syntax.body;
        if body.iter().any(is_field) { GivenArgument::Unsure } else { GivenArgument::Absent }
    }

    /// `field(default=8)`, `field(default_factory=lambda: {"num_workers": 8})`
    fn default_of_field(&self, value: &'a Expr) -> &'a Expr {
        let Some(call) = self.call(value).filter(|it| it.path.as_deref().is_some_and(|it| last(it) == "field")) else {
            return value;
        };
        let factory = || call.keyword("default_factory").and_then(Expr::as_lambda_expr).map(|it| &*it.body);
        call.keyword("default").or_else(factory).unwrap_or(value)
    }

    /// Returns the class of an object of settings, also by the annotation of a field: `config.loader`.
    fn class_of_settings(&self, object: &'a Expr, left: usize) -> Option<ClassId> {
        let left = left.checked_sub(1)?;
        if let Some(class) = self.class_of_object(object) {
            return Some(class);
        }
        match object {
            Expr::Attribute(it) => {
                let class = self.class_of_settings(&it.value, left)?;
                let fields = &self.tree.classes[class.index()].syntax.body;
                let annotation = fields.iter().find_map(|field| {
                    let field = field.as_ann_assign_stmt()?;
                    let is_it = field.target.as_name_expr().is_some_and(|name| name.id == it.attr.id);
                    is_it.then_some(&*field.annotation)
                });
                match annotation {
                    Some(annotation) => self.named(annotation).and_then(|it| self.class_of(it)),
                    None => {
                        self.assigned_values(class, it.attr.as_str()).find_map(|it| self.class_of_settings(it, left))
                    }
                }
            }
            Expr::Name(_) => {
                let made = self.assigned_expressions(object, 4);
                made.into_iter().find_map(|it| self.class_of_settings(it, left))
            }
            _ => None,
        }
    }

    /// Returns the values of an expression: through names, arguments, attributes, fields of settings, and keys of known dicts.
    pub(crate) fn option_values(&self, expression: &'a Expr) -> Vec<&'a Expr> {
        self.values_within(expression, STEPS)
    }

    fn values_within(&self, expression: &'a Expr, left: usize) -> Vec<&'a Expr> {
        let (mut found, mut pending) = (Vec::new(), vec![(expression, left)]);
        while let Some((next, left)) = pending.pop() {
            let behind = if left > 0 { self.values_behind(next, left - 1) } else { Vec::new() };
            if behind.is_empty() {
                found.push(next);
            } else if found.len() + pending.len() < 2 * MOST_CALLERS {
                pending.extend(behind.into_iter().map(|it| (it, left - 1)));
            }
        }
        found
    }

    fn values_behind(&self, expression: &'a Expr, left: usize) -> Vec<&'a Expr> {
        match expression {
            Expr::Name(_) => self.assigned_expressions(expression, 4),
            Expr::Attribute(it) => {
                let made = self.assigned_expressions(expression, 4);
                let made: Vec<&'a Expr> = made.into_iter().map(|it| self.default_of_field(it)).collect();
                if !made.is_empty() {
                    return made;
                }
                match self.option_of_object(&it.value, it.attr.as_str()) {
                    GivenArgument::Value(value) => vec![value],
                    _ => match self.option_within(&it.value, it.attr.as_str(), left) {
                        GivenArgument::Value(value) => vec![value],
                        _ => Vec::new(),
                    },
                }
            }
            Expr::Subscript(_) | Expr::Call(_) => self.items_of(expression, left),
            Expr::If(it) => vec![&*it.body, &*it.orelse],
            _ => Vec::new(),
        }
    }

    /// `config["loader"]`, `config.get("loader", {})`
    fn items_of(&self, expression: &'a Expr, left: usize) -> Vec<&'a Expr> {
        let (options, key, default) = match expression {
            Expr::Subscript(it) => (&*it.value, &*it.slice, None),
            Expr::Call(it) => match self.call(expression).and_then(Call::method) {
                Some((options, "get")) => match &*it.arguments.args {
                    [key] => (options, key, None),
                    [key, default] => (options, key, Some(default)),
                    _ => return Vec::new(),
                },
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let Some(key) = key.as_string_literal_expr() else { return Vec::new() };
        match self.option_within(options, key.value.to_str(), left) {
            GivenArgument::Value(value) => vec![value],
            GivenArgument::Absent => default.into_iter().collect(),
            GivenArgument::Unsure => Vec::new(),
        }
    }

    /// Iterates over an expression and those within.
    pub(crate) fn expressions_below(&self, expression: &'a Expr) -> impl Iterator<Item = &'a Expr> + '_ {
        let range = self.id(expression).map(|id| (id, self.node(id).last));
        range.into_iter().flat_map(|it| self.expressions(it)).map(|(_, it)| it)
    }

    /// Checks whether an expression certainly is a boolean, through names and settings.
    pub(crate) fn is_known_bool(&self, expression: &'a Expr, value: bool) -> bool {
        let values = self.option_values(expression);
        !values.is_empty() && values.into_iter().all(|it| super::is_bool(it, value))
    }

    /// Returns the dotted paths that a called or passed function may have: through names, attributes and branches.
    pub(crate) fn paths_behind(&self, function: &'a Expr) -> Vec<String> {
        if let Some(path) = self.path(function) {
            return vec![path.into_owned()];
        }
        let values = self.option_values(function);
        values.into_iter().filter_map(|it| self.path(it)).map(std::borrow::Cow::into_owned).collect()
    }
}

/// Returns the value that comes later in the source, or else the earlier one.
fn later<'a>(found: GivenArgument<'a>, earlier: impl FnOnce() -> GivenArgument<'a>) -> GivenArgument<'a> {
    match found {
        GivenArgument::Absent => earlier(),
        found => found,
    }
}
