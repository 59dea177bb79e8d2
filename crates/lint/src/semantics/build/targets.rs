//! Bindings of assignments, and assignments to attributes of `self`.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{Expr, HasNodeIndex, StmtAugAssign};

use super::super::bound;
use super::super::data::{Binding, ClassId, DefinitionId, Syntax, id_of};
use super::{TargetKind, TreeBuilder};

impl<'a> TreeBuilder<'a> {
    pub(super) fn augmented_assignment(&mut self, statement: &'a StmtAugAssign) {
        self.visit_expr(&statement.value);
        self.visit_expr(&statement.target);
        if let Expr::Name(name) = &*statement.target {
            let before = self.resolve(name.id.as_str());
            let definition = self.bind(name.id.as_str(), Binding::Augmented(before, statement));
            self.note(name, definition);
        }
        self.attribute(&statement.target, &statement.value);
    }

    /// Binds the names of a target. `path` is the path of indices from the value to the part that the target takes.
    pub(super) fn target(&mut self, target: &'a Expr, value: &'a Expr, kind: TargetKind, path: &mut Vec<usize>) {
        match target {
            Expr::Tuple(it) => self.targets(&it.elts, value, kind, path),
            Expr::List(it) => self.targets(&it.elts, value, kind, path),
            Expr::Starred(it) => self.unknown(&it.value),
            _ => self.node(Syntax::Expression(target), target, |builder, _| {
                if let Expr::Name(name) = target {
                    let definition = builder.bind(name.id.as_str(), kind.binding(value, path));
                    builder.note(name, definition);
                } else {
                    walk_expr(builder, target);
                    if kind == TargetKind::Value && path.is_empty() {
                        builder.attribute(target, value);
                    }
                }
            }),
        }
    }

    pub(super) fn targets(&mut self, elements: &'a [Expr], value: &'a Expr, kind: TargetKind, path: &mut Vec<usize>) {
        for (index, element) in elements.iter().enumerate() {
            path.push(index);
            self.target(element, value, kind, path);
            path.pop();
        }
    }

    /// Binds names to an unknown value.
    pub(super) fn unknown(&mut self, target: &'a Expr) {
        bound::target(target, &mut |name| {
            self.bind(name, Binding::Other);
        });
    }

    /// Records an assignment to an attribute of `self`.
    pub(super) fn attribute(&mut self, target: &'a Expr, value: &'a Expr) {
        let (Expr::Attribute(attribute), Some(class)) = (target, self.method_of()) else { return };
        if attribute.value.as_name_expr().is_some_and(|name| name.id.as_str() == "self") {
            let class = &mut self.tree.classes[class.index()];
            class.attributes.entry(attribute.attr.as_str()).or_default().push(value);
        }
    }

    pub(super) fn method_of(&self) -> Option<ClassId> {
        self.tree.functions[self.function?.index()].class
    }

    pub(super) fn note(&mut self, name: &impl HasNodeIndex, definition: DefinitionId) {
        if let Some(id) = id_of(name) {
            self.tree.nodes[id.index()].definition = definition;
        }
    }
}
