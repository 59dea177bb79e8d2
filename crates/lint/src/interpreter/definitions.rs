//! Definitions of functions and classes, and imports.

use ruff_python_ast::{Expr, StmtClassDef, StmtFunctionDef, StmtImport, StmtImportFrom};

use super::value::{AbstractValue, EnvId};
use super::{CallFrame, ClassId, FunctionId, Interpreter};

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn define_function(&mut self, statement: &'a StmtFunctionDef) {
        let Some(function) = self.model.function_at(statement) else { return };
        let env = self.env();
        let defaults = statement.parameters.iter_non_variadic_params().map(|it| it.default());
        let defaults = defaults.map(|it| it.map(|value| self.evaluate(value))).collect();
        self.defaults.insert(function, defaults);
        let mut value = AbstractValue::Function(function, env);
        for decorator in statement.decorator_list.iter().rev() {
            value = self.decorate(function, value, &decorator.expression);
        }
        let name = statement.name.as_str();
        self.set_variable(env, name, value);
    }

    pub(super) fn decorate(
        &mut self,
        function: FunctionId,
        held: AbstractValue<'a>,
        decorator: &'a Expr,
    ) -> AbstractValue<'a> {
        if let Some(mode) = self.model.mode_of_manager(decorator) {
            self.decorated.insert(function, mode);
            return held;
        }
        match self.evaluate(decorator) {
            decorating @ (AbstractValue::Function(..) | AbstractValue::Object(_)) => {
                let arguments = super::arguments::CallArguments::of(vec![held]);
                match self.apply(decorating, &arguments) {
                    AbstractValue::Unknown => held,
                    decorated => decorated,
                }
            }
            _ => held,
        }
    }

    pub(super) fn define_class(&mut self, statement: &'a StmtClassDef) {
        let Some(class) = self.model.class_at(statement) else { return };
        self.run_class(class, statement);
        let env = self.env();
        self.set_variable(env, statement.name.as_str(), AbstractValue::Class(class));
    }

    /// Runs the body of a class once.
    pub(super) fn run_class(&mut self, class: ClassId, statement: &'a StmtClassDef) {
        let around = self.env();
        let file = self.envs[around.0 as usize].file.0;
        let env = self.new_env(Some(around), file);
        self.class_envs.insert(class, env);
        let at = self.call;
        self.frames.push(CallFrame { function: None, env, returned: None, yielded: None, at, is_given_graph: false });
        self.block(&statement.body);
        self.frames.pop();
    }

    /// Returns the namespace of a class.
    pub(super) fn class_env(&mut self, class: ClassId) -> Option<EnvId> {
        if !self.class_envs.contains_key(&class) {
            let file = self.model.file_of_range(self.model.tree.classes[class.index()].syntax);
            self.run_file(file);
        }
        self.class_envs.get(&class).copied()
    }

    pub(super) fn import(&mut self, statement: &'a StmtImport) {
        let env = self.env();
        for alias in &statement.names {
            let file = self.imported_file(alias.name.as_str());
            if let (Some(file), Some(name)) = (file, alias.asname.as_ref().or(Some(&alias.name))) {
                self.run_file(file);
                if !name.as_str().contains('.') {
                    self.set_variable(env, name.as_str(), AbstractValue::File(file));
                }
            }
        }
    }

    pub(super) fn import_from(&mut self, statement: &'a StmtImportFrom) {
        let dots = ".".repeat(statement.level as usize);
        let module = statement.module.as_ref().map_or("", |module| module.as_str());
        let whole = format!("{dots}{module}");
        let env = self.env();
        let source = self.imported_file(&whole).and_then(|file| self.run_file(file));
        for alias in &statement.names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
            if alias.name.as_str() == "*" {
                let all = source.map(|it| self.envs[it.0 as usize].variables.clone()).unwrap_or_default();
                self.envs[env.0 as usize].variables.extend(all);
                continue;
            }
            let value = source.and_then(|it| self.envs[it.0 as usize].variables.get(alias.name.as_str()).copied());
            let separator = if module.is_empty() { "" } else { "." };
            let value = value.or_else(|| {
                let file = self.imported_file(&format!("{whole}{separator}{}", alias.name))?;
                self.run_file(file)?;
                Some(AbstractValue::File(file))
            });
            if let Some(value) = value {
                self.set_variable(env, name, value);
            }
        }
    }

    pub(super) fn imported_file(&self, name: &str) -> Option<usize> {
        let file = self.envs[self.env().0 as usize].file.0;
        self.model.imported_file(file, name)
    }
}
