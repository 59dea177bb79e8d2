//! The GPU that an expression names, followed further than the device of a value: through attributes, settings, options of the command line
//! and arguments of constructors.

use ruff_python_ast::{Expr, ExprCall};

use super::data::{Binding, DefinitionId};
use super::{Call, Model, known};

/// The largest number of steps of a query.
const STEPS: usize = 14;
/// The largest number of places where a device is looked up.
const MOST_VALUES: usize = 12;

/// One of the devices that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceName<'a> {
    Text(&'a str),
    /// A GPU by its number, or the GPU that a framework chose for the process.
    Chosen,
    /// A parameter named after a device that no seen call fills.
    Open,
    Unknown,
}

impl<'a> Model<'a> {
    /// Checks whether an expression names a GPU, or a device that is a GPU if there is one.
    pub(crate) fn names_gpu(&self, device: &'a Expr) -> bool {
        let is_gpu = |it: &DeviceName<'a>| match it {
            DeviceName::Text(text) => text.starts_with("cuda"),
            DeviceName::Chosen => true,
            DeviceName::Open | DeviceName::Unknown => false,
        };
        self.device_names(device).iter().any(is_gpu)
    }

    /// Checks whether an expression names a GPU, or is a device that callers outside of the program choose.
    pub(crate) fn may_name_gpu(&self, device: &'a Expr) -> bool {
        let names = self.device_names(device);
        let is_host = |it: &DeviceName<'a>| matches!(it, DeviceName::Text(text) if !text.starts_with("cuda"));
        self.names_gpu(device)
            || (names.contains(&DeviceName::Open) && !names.iter().any(is_host) && self.moves_model_to_open_device())
    }

    /// Checks whether the program moves a model to a device that its callers choose: the GPU, if there is one.
    fn moves_model_to_open_device(&self) -> bool {
        self.calls().iter().filter(|call| call.is_method("to")).any(|call| {
            let device = call.argument("device", 0).filter(|it| it.is_name_expr() || it.is_attribute_expr());
            device.is_some_and(|it| self.device_names(it).contains(&DeviceName::Open))
                && call.method().is_some_and(|(it, _)| self.is_model(it))
        })
    }

    /// Checks whether an expression names the default GPU in every process: `"cuda"`, `"cuda:0"`.
    pub(crate) fn names_first_gpu(&self, device: &'a Expr) -> bool {
        let names = self.device_names(device);
        let is_first = |it: &DeviceName<'a>| matches!(it, DeviceName::Text("cuda" | "cuda:0"));
        let is_host = |it: &DeviceName<'a>| matches!(it, DeviceName::Text("cpu" | "mps" | "auto"));
        names.iter().any(is_first) && names.iter().all(|it| is_first(it) || is_host(it))
    }

    /// Checks whether a call moves its object to a GPU: `.cuda()`, `.to(self.device)`.
    pub(crate) fn moves_to_gpu(&self, call: &Call<'a>) -> bool {
        self.is_move_to_gpu(call)
            || (call.is_method("to") && call.argument("device", 0).is_some_and(|it| self.names_gpu(it)))
    }

    /// Checks whether a call moves its object to a GPU, or to a device that callers outside of the program choose.
    pub(crate) fn may_move_to_gpu(&self, call: &Call<'a>) -> bool {
        self.is_move_to_gpu(call)
            || (call.is_method("to") && call.argument("device", 0).is_some_and(|it| self.may_name_gpu(it)))
    }

    /// Checks whether a call reads a file onto a GPU: `torch.load(path, map_location="cuda")`.
    pub(crate) fn loads_to_gpu(&self, call: &Call<'a>) -> bool {
        let device = match call.path.as_deref() {
            Some("torch.load") => call.argument("map_location", 1),
            Some("safetensors.torch.load_file") => call.argument("device", 1),
            _ => None,
        };
        device.is_some_and(|it| self.may_name_gpu(it))
    }

    /// Checks whether a call of torch creates a tensor on a GPU.
    pub(crate) fn creates_on_gpu(&self, call: &Call<'a>) -> bool {
        call.path.as_deref().is_some_and(known::makes_tensor)
            && call.keyword("device").is_some_and(|it| self.names_gpu(it))
    }

    fn device_names(&self, device: &'a Expr) -> Vec<DeviceName<'a>> {
        let mut names = Vec::new();
        self.name_device(device, STEPS, &mut names);
        names
    }

    fn name_device(&self, device: &'a Expr, left: usize, names: &mut Vec<DeviceName<'a>>) {
        if names.len() >= MOST_VALUES {
            return;
        }
        let Some(left) = left.checked_sub(1) else { return names.push(DeviceName::Unknown) };
        match device {
            Expr::StringLiteral(text) => names.push(DeviceName::Text(text.value.to_str())),
            Expr::NumberLiteral(_) => names.push(DeviceName::Chosen),
            Expr::FString(_) if self.source(device).contains("cuda") => names.push(DeviceName::Chosen),
            Expr::If(it) => {
                self.name_device(&it.body, left, names);
                self.name_device(&it.orelse, left, names);
            }
            Expr::BoolOp(it) => self.name_devices(&it.values, left, names),
            Expr::Call(it) => self.name_device_of_call(device, it, left, names),
            Expr::Name(name) => self.name_device_of(self.definition(name), left, names),
            Expr::Attribute(it) => {
                let attribute = it.attr.as_str();
                let class = self.class_of_object(&it.value);
                let values = class.map(|it| self.values_of_attribute(it, attribute)).unwrap_or_default();
                if let Some(definition) = self.named(device) {
                    self.name_device_of(definition, left, names);
                } else if !values.is_empty() {
                    self.name_devices(values, left, names);
                } else if is_settings(self.source(&*it.value)) || attribute == "root_device" {
                    self.name_device_of_setting(attribute, left, names);
                } else {
                    names.push(DeviceName::Unknown);
                }
            }
            Expr::Subscript(it) => match it.slice.as_string_literal_expr() {
                Some(key) => self.name_device_of_setting(key.value.to_str(), left, names),
                None => names.push(DeviceName::Unknown),
            },
            _ => names.push(DeviceName::Unknown),
        }
    }

    fn name_devices(&self, devices: impl IntoIterator<Item = &'a Expr>, left: usize, names: &mut Vec<DeviceName<'a>>) {
        for device in devices {
            self.name_device(device, left, names);
        }
    }

    fn name_device_of_call(
        &self,
        device: &'a Expr,
        syntax: &'a ExprCall,
        left: usize,
        names: &mut Vec<DeviceName<'a>>,
    ) {
        let Some(call) = self.call(device) else { return names.push(DeviceName::Unknown) };
        let arguments = &syntax.arguments.args;
        match (call.path.as_deref(), &**arguments) {
            (Some("torch.device" | "str"), [name]) => self.name_device(name, left, names),
            (Some("torch.device"), [_, _]) | (Some("torch.cuda.current_device" | "int"), _) => {
                names.push(DeviceName::Chosen);
            }
            _ if call.is_method("get") || self.source(&*syntax.func) == "getattr" => {
                let key = arguments.iter().rev().nth(1).and_then(|it| it.as_string_literal_expr());
                self.name_devices(arguments.last(), left, names);
                if let Some(key) = key {
                    self.name_device_of_setting(key.value.to_str(), left, names);
                }
            }
            _ => {
                let Some(function) = self.callee(call) else { return names.push(DeviceName::Unknown) };
                let returned = &self.tree.functions[function.index()].returned;
                self.name_devices(returned.iter().copied(), left, names);
            }
        }
    }

    fn name_device_of(&self, definition: DefinitionId, left: usize, names: &mut Vec<DeviceName<'a>>) {
        if names.len() >= MOST_VALUES {
            return;
        }
        let Some(left) = left.checked_sub(1) else { return names.push(DeviceName::Unknown) };
        match &self.tree.definitions[definition.index()].binding {
            Binding::Value(value) => self.name_device(value, left, names),
            Binding::Alias(definition) => self.name_device_of(*definition, left, names),
            Binding::Outer(symbol) => {
                let bindings = &self.tree.symbols[symbol.index()].bindings;
                for &binding in bindings {
                    self.name_device_of(binding, left, names);
                }
            }
            Binding::Join(inputs, None) => {
                let inputs = inputs.iter().filter(|&&it| it != super::build::UNBOUND);
                for &input in inputs {
                    self.name_device_of(input, left, names);
                }
            }
            Binding::Item(Expr::Tuple(values), path) => match path.first().and_then(|&it| values.elts.get(it)) {
                Some(value) => self.name_device(value, left, names),
                None => names.push(DeviceName::Unknown),
            },
            Binding::Parameter(function, index, parameter) => {
                let name = parameter.name.as_str();
                let given = self.given_to(*function, *index, name);
                let default = self.default_of(*function, name);
                if given.is_empty() || given.iter().any(Option::is_none) {
                    match default.filter(|it| !it.is_none_literal_expr()) {
                        Some(default) => self.name_device(default, left, names),
                        None if default.is_none() && given.is_empty() && name.ends_with("device") => {
                            names.push(DeviceName::Open);
                        }
                        None => names.push(DeviceName::Unknown),
                    }
                }
                self.name_devices(given.into_iter().flatten(), left, names);
            }
            _ => names.push(DeviceName::Unknown),
        }
    }

    /// Looks a device up by its name in settings: the default of an option, an entry of a dict, a field of a class. Frameworks have names of their own.
    fn name_device_of_setting(&self, name: &str, left: usize, names: &mut Vec<DeviceName<'a>>) {
        if name == "root_device" {
            return names.push(DeviceName::Chosen);
        }
        let before = names.len();
        let options = self.calls().iter().filter(|call| call.is_method("add_argument") && is_option(call, name));
        let defaults = options.filter_map(|call| call.keyword("default"));
        let in_calls = self.calls().iter().filter(|call| call.is("dict")).filter_map(|call| call.keyword(name));
        let values: Vec<&'a Expr> =
            defaults.chain(in_calls).chain(self.entries(name)).chain(self.fields(name)).take(MOST_VALUES).collect();
        self.name_devices(values, left, names);
        if names.len() == before {
            self.name_devices(self.defaults_of_constructors(name), left, names);
        }
        if names.len() == before {
            names.push(DeviceName::Unknown);
        }
    }

    /// Returns the defaults of a parameter of constructors, which frameworks keep as settings: `self.hparams.device`.
    fn defaults_of_constructors(&self, name: &str) -> Vec<&'a Expr> {
        let constructors = self.tree.classes.iter().filter_map(|it| it.methods.get("__init__"));
        constructors.filter_map(|it| self.default_of(*it, name)).take(MOST_VALUES).collect()
    }

    /// Returns the values of a key in the dict displays of the tree.
    pub(crate) fn entries<'b>(&'b self, key: &'b str) -> impl Iterator<Item = &'a Expr> + 'b {
        let is_key = move |it: &Expr| it.as_string_literal_expr().is_some_and(|it| it.value.to_str() == key);
        self.all_expressions().filter_map(Expr::as_dict_expr).filter_map(move |dict| {
            dict.items.iter().find(|item| item.key.as_ref().is_some_and(is_key)).map(|item| &item.value)
        })
    }

    /// Iterates over the expressions of all files.
    pub(crate) fn all_expressions(&self) -> impl Iterator<Item = &'a Expr> + '_ {
        self.tree.nodes.iter().filter_map(|node| match node.syntax {
            super::Syntax::Expression(expression) => Some(expression),
            super::Syntax::Statement(_) => None,
        })
    }
}

/// Checks by its name whether an object holds settings, unlike a tensor with its `device`.
fn is_settings(object: &str) -> bool {
    let name = object.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    ["arg", "opt", "cfg", "conf", "setting", "param", "flag"].iter().any(|word| name.contains(word))
}

/// Checks whether a call of `add_argument` adds an option: `--local-rank` for `local_rank`.
pub(crate) fn is_option(call: &Call<'_>, name: &str) -> bool {
    call.syntax.arguments.args.iter().filter_map(|it| it.as_string_literal_expr()).any(|it| {
        let option = it.value.to_str().trim_start_matches('-').replace('-', "_");
        option == name
    })
}
