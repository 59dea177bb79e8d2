//! What the interpreter asks of the tree: files, functions at a definition, and facts about names by their use.

use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::data::{ClassId, DefinitionId, FunctionId, Mode};
use super::names::last;
use super::{Model, ValueKind};

/// Builtins that are no names of libraries.
const MORE_BUILTINS: &[&str] =
    &["isinstance", "hasattr", "getattr", "print", "callable", "issubclass", "hash", "id", "ord", "chr", "frozenset"];

impl<'a> Model<'a> {
    /// Returns the index of the file in which a node lies.
    pub(crate) fn file_of_range(&self, syntax: &impl Ranged) -> usize {
        let start = syntax.range().start().to_usize();
        self.linked.starts.partition_point(|&it| it <= start)
    }

    /// Checks whether a node lies in the linted file.
    pub(crate) fn is_own_node(&self, id: super::NodeId) -> bool {
        id < self.end()
    }

    /// Returns the text of the linted file alone.
    pub(crate) fn own_text(&self) -> &'a str {
        let end = self.linked.starts.first().copied().unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or(self.text)
    }

    /// Checks whether a file is the linted one or imports it.
    pub(crate) fn is_run_from(&self, file: usize) -> bool {
        file == 0 || self.linked.importers.iter().any(|it| it.0 == file)
    }

    /// Returns the top-level statements of a file.
    pub(crate) fn file_body(&self, index: usize) -> Option<&'a [Stmt]> {
        match index.checked_sub(1) {
            None => Some(self.main),
            Some(index) => self.linked.files.get(index).map(|it| &**it.parsed.suite()),
        }
    }

    /// Returns the linked file that a file imports under a dotted name.
    pub(crate) fn imported_file(&self, file: usize, name: &str) -> Option<usize> {
        let modules = match file.checked_sub(1) {
            None => &self.linked.modules,
            Some(index) => &self.linked.files.get(index)?.modules,
        };
        modules.get(name).map(|id| id.0)
    }

    /// Returns the name of an unbound builtin.
    pub(crate) fn builtin(&self, expression: &'a Expr) -> Option<&'a str> {
        let name = expression.as_name_expr()?;
        let is_builtin = MORE_BUILTINS.contains(&name.id.as_str()) || super::names::is_builtin(name.id.as_str());
        (self.definition(name) == super::build::UNBOUND && is_builtin).then_some(name.id.as_str())
    }

    pub(crate) fn function_at(&self, statement: &StmtFunctionDef) -> Option<FunctionId> {
        let start = statement.range().start();
        let index = self.function_starts.get(&start.to_u32())?;
        Some(*index)
    }

    pub(crate) fn class_at(&self, statement: &StmtClassDef) -> Option<ClassId> {
        let start = statement.range().start();
        let index = self.tree.classes.iter().position(|it| it.syntax.range().start() == start)?;
        u32::try_from(index).ok().map(ClassId)
    }

    /// Returns a class that derives from a class and is not derived from; the class itself if there is none.
    pub(crate) fn leaf_class(&self, class: ClassId) -> ClassId {
        let count = u32::try_from(self.tree.classes.len()).unwrap_or(u32::MAX);
        let mut all = (0..count).map(ClassId);
        let is_leaf = |&it: &ClassId| it != class && self.own_and_bases(it).contains(&class);
        all.rfind(is_leaf).unwrap_or(class)
    }

    /// Returns the module class after which a parameter is named; for `model` and its like, the last module class of the file.
    pub(crate) fn class_named_like(&self, name: &str, file: usize) -> Option<ClassId> {
        let plain = name.replace('_', "").to_ascii_lowercase();
        let is_general = matches!(name, "model" | "net" | "network" | "module");
        if plain.len() < 3 {
            return None;
        }
        let count = u32::try_from(self.tree.classes.len()).unwrap_or(u32::MAX);
        let modules = (0..count).map(ClassId).filter(|&it| self.is_module_class(it));
        let is_named = |it: &ClassId| {
            let syntax = self.tree.classes[it.index()].syntax;
            if is_general {
                return self.file_of_range(syntax) == file;
            }
            let class = syntax.name.as_str().to_ascii_lowercase();
            class == plain || (plain.len() > 3 && class.ends_with(&plain))
        };
        let named: Vec<ClassId> = modules.filter(is_named).collect();
        match named.as_slice() {
            [only] => Some(*only),
            [.., last] if is_general => Some(*last),
            _ => None,
        }
    }

    /// Checks whether a class is a module.
    pub(crate) fn is_module_class(&self, class: ClassId) -> bool {
        self.value_of_instance(class) == ValueKind::Module
    }

    /// Returns the fields that a class declares by annotations, in order.
    pub(crate) fn annotated_fields(&self, class: ClassId) -> Vec<&'a str> {
        let body = &self.tree.classes[class.index()].syntax.body;
        let name =
            |it: &'a Stmt| it.as_ann_assign_stmt().and_then(|it| it.target.as_name_expr()).map(|it| it.id.as_str());
        body.iter().filter_map(name).collect()
    }

    /// Checks for a function that yields.
    pub(crate) fn is_generator(&self, function: FunctionId) -> bool {
        self.tree.functions[function.index()].yields
    }

    pub(crate) fn is_static(&self, function: FunctionId) -> bool {
        self.is_decorated(function, &["staticmethod"])
    }

    pub(crate) fn is_property(&self, function: FunctionId) -> bool {
        self.is_decorated(function, &["property", "cached_property"])
    }

    fn is_decorated(&self, function: FunctionId, names: &[&str]) -> bool {
        let decorators = &self.tree.functions[function.index()].syntax.decorator_list;
        decorators.iter().any(|it| names.contains(&last(self.source(&it.expression))))
    }

    pub(crate) fn is_backwarded(&self, definition: DefinitionId) -> bool {
        definition != super::build::UNBOUND && self.evidence.is_backwarded(definition)
    }

    pub(crate) fn is_backwarded_attribute(&self, definition: DefinitionId, name: &'a str) -> bool {
        self.evidence.is_backwarded_attribute(definition, name)
    }

    pub(crate) fn is_backwarded_entry(&self, definition: DefinitionId, key: &'a str) -> bool {
        self.evidence.is_backwarded_entry(definition, key)
    }

    pub(crate) fn is_module_by_use(&self, definition: DefinitionId) -> bool {
        self.evidence.is_module(definition)
    }

    pub(crate) fn has_parameters_by_use(&self, definition: DefinitionId) -> bool {
        self.evidence.has_parameters(definition)
    }

    pub(crate) fn is_module_attribute_by_use(&self, definition: DefinitionId, name: &'a str) -> bool {
        self.evidence.is_module_attribute(definition, name)
    }

    /// Checks whether a framework calls a function in each training step.
    pub(crate) fn is_training_step(&self, function: FunctionId) -> bool {
        self.hook(function) == Some(super::frameworks::Hook::Training)
    }

    /// Checks whether a `torch.no_grad()` that is never entered precedes a call in its function.
    pub(crate) fn means_no_grad_at(&self, at: super::NodeId) -> bool {
        let index = self.calls.binary_search_by_key(&at, |call| call.id).ok();
        index.and_then(|index| self.calls.get(index)).is_some_and(|call| self.means_no_grad(call))
    }

    /// Returns the mode in which a function runs that no known call reaches.
    pub(crate) fn mode_of_entry(&self, function: FunctionId) -> Mode {
        let of_module = self.tree.functions[function.index()].class.is_some_and(|it| self.is_module_class(it));
        let is_uncalled = self.callers(function).next().is_none();
        if self.evidence.switches_mode {
            return Mode::Unsure;
        }
        match self.mode_of_function(function) {
            Mode::Unsure if is_uncalled && !of_module => Mode::On,
            mode => mode,
        }
    }

    /// Checks whether a framework calls a function for each batch of an evaluation.
    pub(crate) fn is_evaluation_step(&self, function: FunctionId) -> bool {
        self.hook(function) == Some(super::frameworks::Hook::Evaluation)
    }

    /// Checks whether nothing tells the mode in which a function runs.
    pub(crate) fn mode_of_callers_is_unsure(&self, function: FunctionId) -> bool {
        self.mode_of_function(function) == Mode::Unsure
    }

    /// Returns the mode set for a function by decorators or a framework.
    pub(crate) fn declared_mode(&self, function: FunctionId) -> Option<Mode> {
        self.mode_of_definition(function)
    }
}
