//! Scopes: functions, classes, lambdas, comprehensions. Note `[Deferred bodies]` in `build.rs`.

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Comprehension, Expr, ExprLambda, Parameters, StmtClassDef, StmtFunctionDef};
use rustc_hash::FxHashMap;

use super::super::bound;
use super::super::data::{Binding, Class, ClassId, Function, FunctionId, NodeId, RegionKind, Scope, ScopeId};
use super::{Deferred, TargetKind, TreeBuilder};

impl<'a> TreeBuilder<'a> {
    pub(super) fn function_definition(&mut self, statement: &'a StmtFunctionDef) {
        statement.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        self.defaults(&statement.parameters);
        let annotations = statement.parameters.iter().filter_map(|it| it.as_parameter().annotation());
        annotations.chain(statement.returns.as_deref()).for_each(|it| self.visit_annotation(it));
        let function = FunctionId::next(&self.tree.functions);
        let first = NodeId::next(&self.tree.nodes);
        let class = self.class.filter(|_| self.tree.scopes[self.scope.index()].is_class);
        self.tree.functions.push(Function {
            syntax: statement,
            class,
            outside: self.region,
            body: (first, first),
            returned: Vec::new(),
            yields: false,
        });
        if let Some(class) = class {
            self.tree.classes[class.index()].methods.insert(statement.name.as_str(), function);
        }
        self.bind(statement.name.as_str(), Binding::Function(function));
        let scope = self.new_scope(false);
        self.deferred.push(Deferred { function, scope });
    }

    pub(super) fn defaults(&mut self, parameters: &'a Parameters) {
        parameters.iter_non_variadic_params().filter_map(|it| it.default()).for_each(|it| self.visit_expr(it));
    }

    pub(super) fn new_scope(&mut self, is_class: bool) -> ScopeId {
        let id = ScopeId::next(&self.tree.scopes);
        self.tree.scopes.push(Scope { parent: Some(self.scope), is_class, symbols: FxHashMap::default() });
        id
    }

    pub(super) fn function_body(&mut self, deferred: Deferred) {
        let function = &self.tree.functions[deferred.function.index()];
        let (statement, outside) = (function.syntax, function.outside);
        self.scope = deferred.scope;
        self.region = outside;
        self.parent = None;
        self.class = None;
        self.function = Some(deferred.function);
        self.is_alive = true;
        self.frames.clear();
        self.journal.clear();
        let first = NodeId::next(&self.tree.nodes);
        self.within(RegionKind::Function(deferred.function), |builder| {
            builder.parameters(deferred.function, &statement.parameters);
            bound::names(&statement.body, &mut |name| _ = builder.symbol(deferred.scope, name));
            builder.visit_body(&statement.body);
        });
        self.tree.functions[deferred.function.index()].body = (first, self.last_node());
    }

    pub(super) fn parameters(&mut self, function: FunctionId, parameters: &'a Parameters) {
        for (index, parameter) in parameters.iter_non_variadic_params().enumerate() {
            let parameter = &parameter.parameter;
            self.bind(parameter.name.as_str(), Binding::Parameter(function, index, parameter));
        }
        let rest = parameters.vararg.iter().chain(&parameters.kwarg);
        rest.for_each(|parameter| _ = self.bind(parameter.name.as_str(), Binding::Other));
    }

    pub(super) fn class_definition(&mut self, statement: &'a StmtClassDef) {
        statement.decorator_list.iter().for_each(|decorator| self.visit_expr(&decorator.expression));
        statement.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
        let class = ClassId::next(&self.tree.classes);
        let (methods, attributes) = (FxHashMap::default(), FxHashMap::default());
        self.tree.classes.push(Class { syntax: statement, methods, attributes });
        let (scope, outer) = (self.new_scope(true), (self.scope, self.class.replace(class)));
        self.scope = scope;
        self.within(RegionKind::Class, |builder| builder.visit_body(&statement.body));
        (self.scope, self.class) = outer;
        self.bind(statement.name.as_str(), Binding::Class(class));
    }

    pub(super) fn lambda(&mut self, lambda: &'a ExprLambda) {
        lambda.parameters.iter().for_each(|parameters| self.defaults(parameters));
        let arm = self.arm(|builder| {
            for parameter in lambda.parameters.iter().flat_map(|it| it.iter()) {
                builder.bind(parameter.as_parameter().name.as_str(), Binding::Other);
            }
            builder.within(RegionKind::Lambda, |builder| builder.visit_expr(&lambda.body));
        });
        drop(arm);
    }

    pub(super) fn comprehension(&mut self, generators: &'a [Comprehension], elements: &[&'a Expr]) {
        // The bindings of a comprehension end with its scope.
        let arm = self.arm(|builder| {
            builder.within(RegionKind::Comprehension, |builder| {
                for generator in generators {
                    builder.visit_expr(&generator.iter);
                    builder.target(&generator.target, &generator.iter, TargetKind::Element, &mut Vec::new());
                    generator.ifs.iter().for_each(|test| builder.visit_expr(test));
                }
                for element in elements {
                    builder.visit_expr(element);
                }
            });
        });
        drop(arm);
    }
}
