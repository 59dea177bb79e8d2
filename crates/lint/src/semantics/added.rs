//! The values that code adds to a collection after its display: by `append`, by `extend`, by an assignment to a key.

use ruff_python_ast::{Expr, Stmt};

use super::data::{ClassId, DefinitionId, NodeId};
use super::{Call, Model};

/// The largest number of values of one collection.
const MOST_VALUES: usize = 6;

impl<'a> Model<'a> {
    /// Returns the values that a collection gets in the function that makes it, or in the methods of the class that keeps it.
    pub(crate) fn added_values(&self, collection: &'a Expr) -> Vec<&'a Expr> {
        match collection {
            Expr::Name(name) => self.added_to_name(self.definition(name), name.id.as_str()),
            Expr::Attribute(it) => match self.class_of_object(&it.value) {
                Some(class) => self.added_to_attribute(class, it.attr.as_str()),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn added_to_name(&self, definition: DefinitionId, name: &str) -> Vec<&'a Expr> {
        let symbol = self.tree.definitions[definition.index()].symbol;
        let is_collection = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id.as_str() == name);
        let region = self.tree.symbols[symbol.index()].bindings.first();
        let Some(region) = region.map(|it| self.tree.definitions[it.index()].region) else { return Vec::new() };
        let mut values = Vec::new();
        self.add_values(self.body(self.function(region)), &is_collection, &mut values);
        values
    }

    fn added_to_attribute(&self, class: ClassId, name: &str) -> Vec<&'a Expr> {
        let is_collection = |it: &Expr| {
            let attribute = it.as_attribute_expr().filter(|it| it.attr.as_str() == name);
            attribute.is_some_and(|it| it.value.as_name_expr().is_some_and(|it| it.id.as_str() == "self"))
        };
        let mut values = Vec::new();
        let mut methods: Vec<_> = self.tree.classes[class.index()].methods.values().copied().collect();
        methods.sort_unstable();
        for method in methods {
            self.add_values(self.body(Some(method)), &is_collection, &mut values);
        }
        values
    }

    fn add_values(&self, range: (NodeId, NodeId), is_collection: &dyn Fn(&Expr) -> bool, values: &mut Vec<&'a Expr>) {
        for call in self.calls_between(range) {
            if let Some(value) = added(call, is_collection).filter(|_| values.len() < MOST_VALUES) {
                values.push(value);
            }
        }
        let subscripts = self.expressions(range).filter_map(|(id, it)| Some((id, it.as_subscript_expr()?)));
        for (id, target) in subscripts.filter(|(_, it)| it.ctx.is_store() && is_collection(&it.value)) {
            if let super::Syntax::Statement(Stmt::Assign(it)) = self.node(self.node(id).parent).syntax
                && values.len() < MOST_VALUES
                && it.targets.iter().any(|it| it.as_subscript_expr() == Some(target))
            {
                values.push(&it.value);
            }
        }
    }
}

fn added<'a>(call: &Call<'a>, is_collection: &dyn Fn(&Expr) -> bool) -> Option<&'a Expr> {
    let (receiver, method) = call.method().filter(|_| call.path.is_none())?;
    match (method, &*call.syntax.arguments.args) {
        ("append" | "extend" | "appendleft" | "add" | "update", [value]) | ("insert", [_, value]) => {
            is_collection(receiver).then_some(value)
        }
        _ => None,
    }
}
