//! Settings of the variables from which the allocator of PyTorch reads its options.

use ruff_python_ast::{Expr, Stmt};

use super::data::{NodeId, Syntax};
use super::{Call, Model};

/// The variables that the allocator reads.
pub(crate) const VARIABLES: [&str; 3] = ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"];

/// A value for a variable of the allocator, or for a variable with a similar name.
#[derive(Clone, Debug)]
pub(crate) struct AllocatorSetting<'a> {
    /// The expression or statement that sets the variable.
    pub(crate) at: NodeId,
    pub(crate) variable: String,
    pub(crate) value: &'a Expr,
    /// True if the environment of this process is changed; otherwise a dict is, for another process or for later.
    pub(crate) is_of_process: bool,
}

impl<'a> Model<'a> {
    /// Returns the settings in the linted file, in the order of the source.
    pub(crate) fn allocator_settings(&self) -> Vec<AllocatorSetting<'a>> {
        if !self.text.contains("ALLOC") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for (id, statement) in self.statements() {
            if let Stmt::Assign(it) = statement {
                let set = it.targets.iter().filter_map(|target| self.set_item(target));
                found.extend(set.map(|(variable, is_of_process)| AllocatorSetting {
                    at: id,
                    variable,
                    value: &it.value,
                    is_of_process,
                }));
            }
        }
        self.calls().iter().for_each(|call| self.settings_of_call(call, &mut found));
        for index in 0..self.tree.nodes.len() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            if let Syntax::Expression(Expr::Dict(it)) = self.node(id).syntax {
                for item in &it.items {
                    let variable = item.key.as_ref().and_then(|key| self.variable(key));
                    found.extend(variable.map(|variable| AllocatorSetting {
                        at: id,
                        variable,
                        value: &item.value,
                        is_of_process: false,
                    }));
                }
            }
        }
        found.sort_by_key(|it| it.at);
        found
    }

    /// `os.environ["PYTORCH_ALLOC_CONF"]`, `env["PYTORCH_ALLOC_CONF"]`
    fn set_item(&self, target: &'a Expr) -> Option<(String, bool)> {
        let it = target.as_subscript_expr()?;
        Some((self.variable(&it.slice)?, self.path(&it.value).as_deref() == Some("os.environ")))
    }

    fn variable(&self, key: &'a Expr) -> Option<String> {
        let is_named = |it: &str| it.contains("ALLOC") && it.contains("CONF");
        match key {
            Expr::StringLiteral(it) => Some(it.value.to_str().to_owned()).filter(|it| is_named(it)),
            // Constants alone: any other key may have many values.
            Expr::Name(name) if name.id.chars().all(|it| it.is_ascii_uppercase() || it == '_') => {
                self.texts(key).into_iter().find(|it| is_named(it))
            }
            _ => None,
        }
    }

    fn settings_of_call(&self, call: &Call<'a>, found: &mut Vec<AllocatorSetting<'a>>) {
        let is_update = call.is("os.environ.update");
        if call.is_any(&["os.environ.setdefault", "os.putenv"])
            && let [key, value] = &*call.syntax.arguments.args
            && let Some(variable) = self.variable(key)
        {
            found.push(AllocatorSetting { at: call.id, variable, value, is_of_process: true });
        }
        for keyword in &call.syntax.arguments.keywords {
            let name = keyword.arg.as_ref().map_or("", |it| it.as_str());
            if name.contains("ALLOC_CONF") {
                let variable = name.to_owned();
                found.push(AllocatorSetting { at: call.id, variable, value: &keyword.value, is_of_process: is_update });
            }
        }
        if is_update && let Some(Expr::Dict(dict)) = call.syntax.arguments.args.first() {
            for item in &dict.items {
                let variable = item.key.as_ref().and_then(|key| self.variable(key));
                found.extend(variable.map(|variable| AllocatorSetting {
                    at: call.id,
                    variable,
                    value: &item.value,
                    is_of_process: true,
                }));
            }
        }
    }
}
