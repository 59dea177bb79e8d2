//! Settings of the variables from which the allocator of PyTorch reads its options.

use ruff_python_ast::{Expr, Stmt};

use super::data::{Binding, NodeId, Syntax};
use super::{Call, Model};

/// The variables that the allocator reads.
pub(crate) const VARIABLES: [&str; 3] = ["PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"];

/// Functions that change the options of a running allocator.
const RUNTIME_SETTERS: [&str; 3] = [
    "torch.cuda.memory._set_allocator_settings",
    "torch.cuda.memory.set_allocator_settings",
    "torch._C._cuda_cudaCachingAllocator_set_allocator_settings",
];

/// A value for a variable of the allocator, or for a variable with a similar name.
#[derive(Clone, Debug)]
pub(crate) struct AllocatorSetting<'a> {
    /// The expression or statement that sets the variable.
    pub(crate) at: NodeId,
    pub(crate) variable: String,
    pub(crate) assigned: &'a Expr,
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
            match statement {
                Stmt::Assign(it) => {
                    it.targets.iter().for_each(|target| self.settings_of_item(id, target, &it.value, &mut found));
                }
                Stmt::AugAssign(it) if self.is_environment(&it.target) => {
                    self.settings_of_dict(id, &it.value, true, &mut found);
                }
                Stmt::AugAssign(it) => self.settings_of_item(id, &it.target, &it.value, &mut found),
                _ => {}
            }
        }
        self.calls().iter().for_each(|call| self.settings_of_call(call, &mut found));
        for index in 0..self.tree.nodes.len() {
            let id = NodeId(u32::try_from(index).unwrap_or(u32::MAX));
            if let Syntax::Expression(dict @ Expr::Dict(_)) = self.node(id).syntax {
                self.settings_of_dict(id, dict, false, &mut found);
            }
        }
        found.sort_by_key(|it| it.at);
        found
    }

    /// `os.environ["PYTORCH_ALLOC_CONF"] = text`, `env["PYTORCH_ALLOC_CONF"] = text`
    fn settings_of_item(&self, at: NodeId, target: &'a Expr, value: &'a Expr, found: &mut Vec<AllocatorSetting<'a>>) {
        let Some(it) = target.as_subscript_expr() else { return };
        let is_of_process = self.is_environment(&it.value);
        let entries = self.settings_behind(&it.slice, value).into_iter();
        found.extend(entries.map(|(variable, value)| AllocatorSetting {
            at,
            variable,
            assigned: value,
            is_of_process,
        }));
    }

    fn settings_of_dict(&self, at: NodeId, dict: &'a Expr, is_of_process: bool, found: &mut Vec<AllocatorSetting<'a>>) {
        let Some(dict) = dict.as_dict_expr() else { return };
        for item in &dict.items {
            let variable = item.key.as_ref().and_then(|key| self.variable(key));
            let value = &item.value;
            found.extend(variable.map(|variable| AllocatorSetting { at, variable, assigned: value, is_of_process }));
        }
    }

    fn is_environment(&self, object: &'a Expr) -> bool {
        self.path(object).as_deref() == Some("os.environ")
    }

    /// Returns the variable and the value that a key and a value stand for; those of a dict for the variables of a loop over its items.
    fn settings_behind(&self, key: &'a Expr, value: &'a Expr) -> Vec<(String, &'a Expr)> {
        if let Some(variable) = self.variable(key) {
            return vec![(variable, value)];
        }
        let Some(name) = key.as_name_expr() else { return Vec::new() };
        let Binding::Element(iterated, _) = &self.tree.definitions[self.definition(name).index()].binding else {
            return Vec::new();
        };
        let Some((dict, "items")) = self.call(iterated).and_then(Call::method) else { return Vec::new() };
        let dicts = self.option_values(dict).into_iter().filter_map(Expr::as_dict_expr);
        let items = dicts.flat_map(|it| &it.items);
        items.filter_map(|it| Some((self.variable(it.key.as_ref()?)?, &it.value))).collect()
    }

    fn variable(&self, key: &'a Expr) -> Option<String> {
        let is_named = |it: &str| it.contains("ALLOC") && it.contains("CONF");
        match key {
            Expr::StringLiteral(it) => Some(it.value.to_str().to_owned()).filter(|it| is_named(it)),
            Expr::Name(_) | Expr::Attribute(_) => {
                // A key may have many values: all must be the variable.
                let texts = self.texts(key);
                let is_known = texts.iter().all(|it| is_named(it));
                texts.into_iter().next().filter(|_| is_known)
            }
            _ => None,
        }
    }

    fn settings_of_call(&self, call: &Call<'a>, found: &mut Vec<AllocatorSetting<'a>>) {
        let (at, arguments) = (call.id, &call.syntax.arguments);
        let is_update = call.is("os.environ.update");
        if call.is_any(&["os.environ.setdefault", "os.putenv", "os.environ.__setitem__"])
            && let [key, value] = &*arguments.args
        {
            let entries = self.settings_behind(key, value).into_iter();
            found.extend(entries.map(|(variable, value)| AllocatorSetting {
                at,
                variable,
                assigned: value,
                is_of_process: true,
            }));
        }
        if call.is_any(&RUNTIME_SETTERS)
            && let Some(value) = arguments.args.first()
        {
            let variable = VARIABLES.first().map_or_else(String::new, |it| (*it).to_owned());
            found.push(AllocatorSetting { at, variable, assigned: value, is_of_process: false });
        }
        for keyword in &arguments.keywords {
            let name = keyword.arg.as_ref().map_or("", |it| it.as_str());
            if name.contains("ALLOC_CONF") {
                let variable = name.to_owned();
                found.push(AllocatorSetting { at, variable, assigned: &keyword.value, is_of_process: is_update });
            }
        }
        if is_update {
            let unpacked = arguments.keywords.iter().filter(|it| it.arg.is_none()).map(|it| &it.value);
            for dict in arguments.args.iter().chain(unpacked) {
                for value in self.option_values(dict) {
                    self.settings_of_dict(at, value, true, found);
                }
            }
        }
    }
}
