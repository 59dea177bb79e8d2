//! Walks over a file once: numbers the nodes, records the regions around them, and resolves each name to its definition.
//!
//! # Note [Definitions]
//! Every binding of a name makes a definition, and every use of a name refers to the definition that reaches it, as in static single
//! assignment. A join is made where branches meet with different definitions. A loop begins with a join for each name that its body binds:
//! the definition before the loop, and the last one of the body. A variable carried over from the previous step is thus a join of its loop.
//! `break`, `continue`, `return` and `raise` are followed; an exception may be raised at any statement of a `try`.
//!
//! # Note [Deferred bodies]
//! The body of a function is walked after the module, because it runs later: a name of an outer scope stands for all of its bindings.
//!
//! # Note [Aliases]
//! All files of a tree are walked, the linted one first; each has a scope of its own. The top-level names of every file have a definition
//! before the walk, which stands for all bindings. `from file import name` binds an alias of it; `file.name` is resolved by `names.rs`.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, HasNodeIndex, NodeIndex, Stmt, StmtImportFrom};
use rustc_hash::FxHashMap;

use super::SyntaxTree;
use super::bound;
use super::data::{
    Binding, ClassId, Definition, DefinitionId, FileNames, FunctionId, NodeId, Region, RegionId, RegionKind, Scope,
    ScopeId, SymbolId, Syntax, SyntaxNode,
};
use crate::project::{ModuleId, ModuleNames};

mod branches;
mod scopes;
mod targets;
mod ways;

/// A file to walk, and the linked files that it imports.
#[derive(Clone, Copy)]
pub(crate) struct FileBody<'a> {
    pub(crate) body: &'a [Stmt],
    pub(crate) modules: &'a ModuleNames,
}

/// Walks the linted file, then the linked ones.
pub(crate) fn build<'a>(files: &[FileBody<'a>]) -> SyntaxTree<'a> {
    let mut builder = TreeBuilder::new();
    if files.len() > 1 {
        for file in files {
            builder.declare_exports(file.body);
        }
    }
    // The body of a function appends the bodies of nested functions.
    let mut next = 0;
    for (index, file) in files.iter().enumerate() {
        builder.begin_file(index, file.modules);
        builder.visit_body(file.body);
        while let Some(deferred) = builder.deferred.get(next).copied() {
            builder.function_body(deferred);
            next += 1;
        }
        builder.end_file();
    }
    builder.tree
}

/// A function body to walk later.
#[derive(Clone, Copy)]
struct Deferred {
    function: FunctionId,
    scope: ScopeId,
}

/// The result of one branch of a statement.
struct Arm {
    /// The names bound by the branch, each with its last definition.
    bound: Vec<(SymbolId, DefinitionId)>,
    /// True if the branch reaches the end of the statement.
    goes_on: bool,
}

/// A loop during the walk.
struct Frame {
    /// The length of the journal at the start of the loop.
    mark: usize,
    continues: Vec<Arm>,
    breaks: Vec<Arm>,
}

struct TreeBuilder<'a> {
    tree: SyntaxTree<'a>,
    /// The current definition of each symbol.
    current: Vec<DefinitionId>,
    /// The overwritten entries of `current`, undone to walk another branch.
    journal: Vec<(SymbolId, DefinitionId)>,
    outer: FxHashMap<SymbolId, DefinitionId>,
    frames: Vec<Frame>,
    deferred: Vec<Deferred>,
    scope: ScopeId,
    region: RegionId,
    parent: Option<NodeId>,
    class: Option<ClassId>,
    function: Option<FunctionId>,
    /// True if the current point is reachable.
    is_alive: bool,
    /// The scope of the walked file.
    file_scope: ScopeId,
    /// The linked files that the walked file imports.
    modules: Option<&'a ModuleNames>,
    /// The linked files of which the walked file imports all names.
    stars: Vec<ModuleId>,
}

impl<'a> TreeBuilder<'a> {
    fn new() -> TreeBuilder<'a> {
        let unbound = Definition { binding: Binding::Unbound, symbol: SymbolId(0), region: RegionId(0) };
        let module = Scope { parent: None, is_class: false, symbols: FxHashMap::default() };
        let tree = SyntaxTree {
            regions: vec![Region { kind: RegionKind::Module, parent: RegionId(0) }],
            definitions: vec![unbound],
            scopes: vec![module],
            ..SyntaxTree::default()
        };
        TreeBuilder {
            tree,
            current: Vec::new(),
            journal: Vec::new(),
            outer: FxHashMap::default(),
            frames: Vec::new(),
            deferred: Vec::new(),
            scope: ScopeId(0),
            region: RegionId(0),
            parent: None,
            class: None,
            function: None,
            is_alive: true,
            file_scope: ScopeId(0),
            modules: None,
            stars: Vec::new(),
        }
    }

    // Files: Note [Aliases].

    fn declare_exports(&mut self, body: &'a [Stmt]) {
        let scope = if self.tree.files.is_empty() { ScopeId(0) } else { ScopeId::next(&self.tree.scopes) };
        if scope != ScopeId(0) {
            self.tree.scopes.push(Scope { parent: None, is_class: false, symbols: FxHashMap::default() });
        }
        let mut names = Vec::new();
        bound::names(body, &mut |name| names.push(name));
        let mut exports = FxHashMap::default();
        for name in names {
            let symbol = self.symbol(scope, name);
            exports.insert(name, self.outer(symbol));
        }
        self.tree.files.push(FileNames { scope, exports });
    }

    fn begin_file(&mut self, index: usize, modules: &'a ModuleNames) {
        self.file_scope = self.tree.files.get(index).map_or(ScopeId(0), |file| file.scope);
        (self.scope, self.region, self.parent) = (self.file_scope, RegionId(0), None);
        (self.class, self.function, self.is_alive) = (None, None, true);
        self.frames.clear();
        self.journal.clear();
        self.modules = Some(modules);
        self.stars.clear();
        if index > 0 {
            self.region = RegionId::next(&self.tree.regions);
            self.tree.regions.push(Region { kind: RegionKind::Module, parent: self.region });
        }
    }

    fn end_file(&mut self) {
        let end = (NodeId::next(&self.tree.nodes), DefinitionId::next(&self.tree.definitions));
        self.tree.ends.push(end);
    }

    /// Returns the definition of a name imported from a linked file.
    fn export(&self, module: &str, name: &str) -> Option<DefinitionId> {
        let id = self.modules?.get(module)?;
        self.tree.files.get(id.0)?.exports.get(name).copied()
    }

    // Nodes and regions.

    fn node(&mut self, syntax: Syntax<'a>, index: &impl HasNodeIndex, walk: impl FnOnce(&mut Self, NodeId)) {
        let id = NodeId::next(&self.tree.nodes);
        index.node_index().set(NodeIndex::from(id.0));
        let parent = self.parent.unwrap_or(id);
        self.tree.nodes.push(SyntaxNode { syntax, parent, region: self.region, last: id, definition: UNBOUND });
        let outer = self.parent.replace(id);
        walk(self, id);
        self.parent = outer;
        self.tree.nodes[id.index()].last = self.last_node();
    }

    fn last_node(&self) -> NodeId {
        NodeId(NodeId::next(&self.tree.nodes).0.saturating_sub(1))
    }

    fn within(&mut self, kind: RegionKind<'a>, walk: impl FnOnce(&mut Self)) {
        let region = Region { kind, parent: self.region };
        let outer = std::mem::replace(&mut self.region, RegionId::next(&self.tree.regions));
        self.tree.regions.push(region);
        walk(self);
        self.region = outer;
    }

    // Statements.

    fn statement(&mut self, statement: &'a Stmt, id: NodeId) {
        match statement {
            Stmt::FunctionDef(it) => self.function_definition(it),
            Stmt::ClassDef(it) => self.class_definition(it),
            Stmt::Assign(it) => {
                self.visit_expr(&it.value);
                it.targets.iter().for_each(|target| self.target(target, &it.value, TargetKind::Value, &mut Vec::new()));
            }
            Stmt::AugAssign(it) => self.augmented_assignment(it),
            Stmt::AnnAssign(it) => {
                self.visit_annotation(&it.annotation);
                if let Some(value) = it.value.as_deref() {
                    self.visit_expr(value);
                    self.target(&it.target, value, TargetKind::Value, &mut Vec::new());
                }
            }
            Stmt::For(it) => self.for_loop(it, id),
            Stmt::While(it) => self.while_loop(it, id),
            Stmt::If(it) => self.conditional(it),
            Stmt::With(it) => self.with_statement(it),
            Stmt::Match(it) => self.match_statement(it),
            Stmt::Try(it) => self.try_statement(it),
            _ => self.simple(statement),
        }
    }

    fn simple(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(it) => {
                for alias in &it.names {
                    let name = bound::bound_by_import(alias);
                    let path = if alias.asname.is_some() { alias.name.as_str() } else { name };
                    self.bind(name, Binding::Import(path.into()));
                }
            }
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Global(it) => it.names.iter().for_each(|name| self.declare_outer(self.file_scope, name.as_str())),
            Stmt::Delete(it) => {
                walk_stmt(self, statement);
                it.targets.iter().for_each(|target| self.forget(target));
            }
            Stmt::Break(_) => self.end(|frame, arm| frame.breaks.push(arm)),
            Stmt::Continue(_) => self.end(|frame, arm| frame.continues.push(arm)),
            Stmt::Return(it) => {
                walk_stmt(self, statement);
                self.record_return(it.value.as_deref());
                self.is_alive = false;
            }
            Stmt::Raise(_) => {
                walk_stmt(self, statement);
                self.is_alive = false;
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn record_return(&mut self, value: Option<&'a Expr>) {
        if let (Some(function), Some(value)) = (self.function, value) {
            self.tree.functions[function.index()].returned.push(value);
        }
    }

    fn record_yield(&mut self) {
        if let Some(function) = self.function {
            self.tree.functions[function.index()].yields = true;
        }
    }

    fn import_from(&mut self, import: &'a StmtImportFrom) {
        let dots = ".".repeat(import.level as usize);
        let module = import.module.as_ref().map_or("", |module| module.as_str());
        let whole = format!("{dots}{module}");
        for alias in &import.names {
            if alias.name.as_str() == "*" {
                self.stars.extend(self.modules.and_then(|modules| modules.get(&*whole)));
            }
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            let separator = if module.is_empty() { "" } else { "." };
            let binding = match self.export(&whole, alias.name.as_str()) {
                Some(definition) => Binding::Alias(definition),
                None => Binding::Import(format!("{whole}{separator}{}", alias.name.as_str()).into()),
            };
            self.bind(name, binding);
        }
    }

    /// `global`: the name refers to the module, and stands for all bindings there.
    fn declare_outer(&mut self, scope: ScopeId, name: &'a str) {
        let symbol = self.symbol(scope, name);
        self.tree.scopes[self.scope.index()].symbols.insert(name, symbol);
        let outer = self.outer(symbol);
        self.set(symbol, outer);
    }

    fn forget(&mut self, target: &'a Expr) {
        if let Expr::Name(name) = target {
            self.bind(name.id.as_str(), Binding::Other);
        }
    }

    fn expression(&mut self, expression: &'a Expr, id: NodeId) {
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.tree.nodes[id.index()].definition = self.resolve(name.id.as_str());
            }
            Expr::Name(name) => self.tree.nodes[id.index()].definition = self.resolve(name.id.as_str()),
            Expr::Named(it) => {
                self.visit_expr(&it.value);
                self.target(&it.target, &it.value, TargetKind::Value, &mut Vec::new());
            }
            Expr::Lambda(it) => self.lambda(it),
            Expr::ListComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::SetComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::Generator(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::DictComp(it) => match it.key.as_deref() {
                Some(key) => self.comprehension(&it.generators, &[key, &it.value]),
                None => self.comprehension(&it.generators, &[&it.value]),
            },
            Expr::Call(_) => {
                self.tree.calls.push(id);
                walk_expr(self, expression);
            }
            Expr::Yield(it) => {
                walk_expr(self, expression);
                self.record_return(it.value.as_deref());
                self.record_yield();
            }
            Expr::YieldFrom(_) => {
                walk_expr(self, expression);
                self.record_yield();
            }
            _ => walk_expr(self, expression),
        }
    }
}

/// The way in which a target takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TargetKind {
    Value,
    Element,
    Context,
}

impl TargetKind {
    fn binding<'a>(self, value: &'a Expr, path: &[usize]) -> Binding<'a> {
        match self {
            TargetKind::Value if path.is_empty() => Binding::Value(value),
            TargetKind::Value => Binding::Item(value, path.into()),
            TargetKind::Element => Binding::Element(value, path.into()),
            TargetKind::Context if path.is_empty() => Binding::Context(value),
            TargetKind::Context => Binding::Other,
        }
    }
}

/// The definition of an unbound name.
pub(crate) const UNBOUND: DefinitionId = DefinitionId(0);

impl<'a> Visitor<'a> for TreeBuilder<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        self.node(Syntax::Statement(statement), statement, |builder, id| builder.statement(statement, id));
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        self.node(Syntax::Expression(expression), expression, |builder, id| builder.expression(expression, id));
    }
}
