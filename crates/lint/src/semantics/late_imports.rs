//! Linked files that a file imports late: within a function, or behind statements that use the GPU.

use ruff_python_ast::Stmt;
use rustc_hash::FxHashSet;

use super::Model;
use super::data::NodeId;
use crate::project::ModuleId;

impl<'a> Model<'a> {
    /// Returns the imports of the linted file that first run one of these nodes of linked files, at the top and within functions.
    pub(crate) fn late_imports(&self, nodes: &[NodeId]) -> Vec<(NodeId, &'a Stmt)> {
        let imports = || {
            self.statements()
                .take_while(|(id, _)| *id < self.end())
                .filter(|(_, it)| it.is_import_stmt() || it.is_import_from_stmt())
        };
        let is_top = |id: NodeId| self.function(self.node(id).region).is_none();
        let files: Vec<usize> = nodes.iter().filter_map(|&node| self.file_of(node)).filter(|it| *it > 0).collect();
        let mut early = FxHashSet::default();
        let mut found = Vec::new();
        for (id, statement) in imports().filter(|(id, _)| is_top(*id)) {
            let mut reached = early.clone();
            self.reach(self.imported(statement), &mut reached);
            if files.iter().any(|it| reached.contains(it) && !early.contains(it)) {
                found.push((id, statement));
            }
            early = reached;
        }
        let runs_first = |statement: &'a Stmt| {
            let mut reached = FxHashSet::default();
            self.reach(self.imported(statement), &mut reached);
            files.iter().any(|it| reached.contains(it) && !early.contains(it))
        };
        found.extend(imports().filter(|(id, it)| !is_top(*id) && runs_first(it)));
        found
    }

    fn file_of(&self, node: NodeId) -> Option<usize> {
        self.tree.ends.iter().position(|end| node < end.0)
    }

    fn imported(&self, statement: &Stmt) -> Vec<ModuleId> {
        let named = |name: &str| self.linked.modules.get(name).copied();
        match statement {
            Stmt::Import(it) => it.names.iter().filter_map(|alias| named(alias.name.as_str())).collect(),
            Stmt::ImportFrom(it) => {
                let module = it.module.as_ref().map_or("", |it| it.as_str());
                named(&format!("{}{module}", ".".repeat(it.level as usize))).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Collects files and the files that they import.
    fn reach(&self, mut pending: Vec<ModuleId>, reached: &mut FxHashSet<usize>) {
        while let Some(ModuleId(file)) = pending.pop() {
            if file > 0 && reached.insert(file) {
                let modules = self.linked.files.get(file - 1).map(|it| &it.modules);
                pending.extend(modules.into_iter().flat_map(|it| it.values().copied()));
            }
        }
    }
}
