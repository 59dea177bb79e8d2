//! Variables, fields and entries: reading, writing, and what a write says of a loop.

use ruff_python_ast::Expr;

use super::value::{AbstractValue, EnvId, ObjectId, ObjectKind, StoredPlace};
use super::{Interpreter, Mode, NodeId};
use crate::semantics::TensorDevice;

impl<'a> Interpreter<'_, 'a> {
    /// Returns the value of a variable, looked up from a namespace outwards.
    pub(super) fn variable(&self, env: EnvId, name: &str) -> Option<(EnvId, AbstractValue<'a>)> {
        let mut next = Some(env);
        while let Some(id) = next {
            let env = &self.envs[id.0 as usize];
            if let Some(value) = env.variables.get(name) {
                return Some((id, *value));
            }
            next = env.around.or_else(|| self.files.get(env.file.0).copied().flatten().filter(|&it| it != id));
        }
        None
    }

    pub(super) fn set_variable(&mut self, env: EnvId, name: &'a str, value: AbstractValue<'a>) {
        self.envs[env.0 as usize].variables.insert(name, value);
    }

    /// Assigns to a name of the current function.
    pub(super) fn assign_name(&mut self, name: &'a str, value: AbstractValue<'a>, at: NodeId) {
        let env = self.env();
        let owner = if self.envs[env.0 as usize].outer.contains(name) {
            let around = self.envs[env.0 as usize].around;
            let file = self.files.get(self.envs[env.0 as usize].file.0).copied().flatten();
            around.or(file).and_then(|outer| self.variable(outer, name)).map_or(env, |(owner, _)| owner)
        } else {
            env
        };
        let place = StoredPlace::Variable(owner, name);
        let before = self.envs[owner.0 as usize].variables.get(name).copied();
        self.note_write(place, before, value, at);
        self.set_variable(owner, name, value);
    }

    /// Returns the value of a field of an object: its own, or an attribute of its class.
    pub(super) fn field(&mut self, id: ObjectId, name: &'a str) -> Option<AbstractValue<'a>> {
        if let Some(value) = self.object(id).fields.get(name) {
            return Some(*value);
        }
        let ObjectKind::Instance(class) = self.object(id).kind else { return None };
        let classes = self.model.own_and_bases(class);
        classes.into_iter().find_map(|it| {
            let env = self.class_env(it)?;
            let value = self.envs[env.0 as usize].variables.get(name).copied()?;
            (!matches!(value, AbstractValue::Function(..))).then_some(value)
        })
    }

    pub(super) fn set_field(&mut self, id: ObjectId, name: &'a str, value: AbstractValue<'a>, at: NodeId) {
        // Another method may run a backward on what the object keeps.
        self.note_use(value);
        let before = self.object(id).fields.get(name).copied();
        self.note_write(StoredPlace::Field(id, name), before, value, at);
        self.object_mut(id).fields.insert(name, value);
    }

    /// Writes an entry of a dict or an element of a list.
    pub(super) fn set_entry(&mut self, id: ObjectId, key: AbstractValue<'a>, value: AbstractValue<'a>, at: NodeId) {
        if let AbstractValue::Text(key) = key {
            let before = self.object(id).entries.get(key).copied();
            self.note_write(StoredPlace::Entry(id, key), before, value, at);
            if self.object(id).is_many {
                self.note_store(id, value, at);
            }
            self.object_mut(id).entries.insert(key, value);
        } else {
            self.note_write(StoredPlace::Content(id), None, value, at);
            if matches!(key, AbstractValue::Plain) || self.object(id).is_many {
                self.note_store(id, value, at);
            }
            self.add_content(id, value);
        }
    }

    /// Joins a value into the elements of an object.
    pub(super) fn add_content(&mut self, id: ObjectId, value: AbstractValue<'a>) {
        let object = self.object_mut(id);
        object.content = Some(object.content.map_or(value, |before| super::value::existing(before, value)));
    }

    /// Notes that a container is empty from now on.
    pub(super) fn empty(&mut self, id: ObjectId) {
        let now = self.tick();
        let object = self.object_mut(id);
        object.emptied = now;
        object.content = None;
        object.elements.clear();
        object.entries.clear();
    }

    /// Notes a write to a place: a chain of carried values, or a new start.
    fn note_write(
        &mut self,
        place: StoredPlace<'a>,
        before: Option<AbstractValue<'a>>,
        held: AbstractValue<'a>,
        at: NodeId,
    ) {
        let now = self.tick();
        if let Some(id) = before.and_then(AbstractValue::object).filter(|&id| Some(id) != held.object())
            && self.object(id).is_container()
        {
            self.object_mut(id).emptied = now;
        }
        if let (Some(AbstractValue::Object(before)), AbstractValue::Object(after)) = (before, held)
            && before == after
        {
            return;
        }
        let carried = self.carries_of(place);
        let is_through =
            |it: AbstractValue<'a>| it.tensor().is_some_and(|it| it.through & carried != 0) && it.is_recorded();
        let is_added =
            |it: AbstractValue<'a>| it.tensor().is_some_and(|it| it.added & carried != 0) && it.is_recorded();
        match held {
            held if carried != 0 && self.holds_now(held, &is_through) => self.note_chain(place, at, true),
            // The parts of a state that is made anew of the old one.
            AbstractValue::Object(id) if carried != 0 && self.holds_now(held, &is_added) => {
                let is_state = self.object(id).kind != ObjectKind::Dict;
                self.note_chain(place, at, is_state);
            }
            AbstractValue::Tensor(_) if carried != 0 && is_added(held) => self.note_chain(place, at, false),
            // The held of the step before, unchanged.
            AbstractValue::Tensor(tensor) if tensor.kept & carried != 0 => {}
            _ if matches!(place, StoredPlace::Content(_)) => {}
            _ => self.note_reset(place),
        }
    }

    /// Checks whether a value is, or a tuple or list holds, a tensor for which `is_wanted` holds.
    fn holds_now(&self, value: AbstractValue<'a>, is_wanted: &dyn Fn(AbstractValue<'a>) -> bool) -> bool {
        let is_plain_data =
            |id| matches!(self.object(id).kind, ObjectKind::Tuple | ObjectKind::List | ObjectKind::Dict);
        match value {
            AbstractValue::Object(id) if is_plain_data(id) => {
                let object = self.object(id);
                let mut parts = object.elements.iter().chain(object.entries.values()).copied().chain(object.content);
                parts.any(is_wanted)
            }
            value => is_wanted(value),
        }
    }

    /// Assigns a value to the target of an assignment.
    pub(super) fn assign(&mut self, target: &'a Expr, value: AbstractValue<'a>) {
        let at = self.node(target);
        match target {
            Expr::Name(name) => self.assign_name(name.id.as_str(), value, at),
            Expr::Attribute(attribute) => {
                let object = self.evaluate(&attribute.value);
                self.assign_attribute(object, attribute.attr.as_str(), value, at);
            }
            Expr::Subscript(subscript) => {
                let object = self.evaluate(&subscript.value);
                if subscript.slice.is_slice_expr() && object.tensor().is_none() {
                    if let Some(id) = object.object() {
                        self.empty(id);
                    }
                    return;
                }
                let key = self.evaluate(&subscript.slice);
                match object {
                    AbstractValue::Object(id) => self.set_entry(id, key, value, at),
                    AbstractValue::Tensor(tensor) if tensor.device == TensorDevice::Gpu && self.mode() == Mode::Off => {
                        self.note_buffer(value, at);
                    }
                    AbstractValue::Tensor(tensor) if value.is_recorded() && self.mode() != Mode::Off => {
                        self.write_into_tensor(&subscript.value, tensor, value);
                    }
                    _ => {}
                }
            }
            Expr::Tuple(it) => self.assign_all(&it.elts, value),
            Expr::List(it) => self.assign_all(&it.elts, value),
            Expr::Starred(it) => self.assign(&it.value, AbstractValue::Unknown),
            _ => {}
        }
    }

    /// `buffer[i] = value` with a graph: the whole buffer has the graph from then on.
    pub(super) fn write_into_tensor(
        &mut self,
        base: &'a Expr,
        tensor: super::value::TensorValue,
        held: AbstractValue<'a>,
    ) {
        let Some(written) = held.tensor() else { return };
        if matches!(base, Expr::Name(_) | Expr::Attribute(_)) {
            self.assign(base, AbstractValue::Tensor(tensor.with(written)));
        }
    }

    fn assign_attribute(&mut self, object: AbstractValue<'a>, name: &'a str, value: AbstractValue<'a>, at: NodeId) {
        match object {
            AbstractValue::Object(id) => match self.object(id).kind {
                ObjectKind::ParameterOf(module) if name == "requires_grad" => {
                    let is_frozen = !matches!(value, AbstractValue::Int(1));
                    self.each_part(module, 4, &mut |it| it.is_frozen = is_frozen);
                }
                _ => {
                    if name == "grad" {
                        self.note_cleared(at);
                    }
                    self.set_field(id, name, value, at);
                }
            },
            AbstractValue::Function(function, _) => {
                let id = self.attributes_of(function);
                self.set_field(id, name, value, at);
            }
            AbstractValue::File(file) => {
                if let Some(env) = self.run_file(file) {
                    self.set_variable(env, name, value);
                }
            }
            _ if name == "grad" => self.note_cleared(at),
            _ => {}
        }
    }

    /// Returns the object that holds the attributes of a function.
    pub(super) fn attributes_of(&mut self, function: super::FunctionId) -> ObjectId {
        if let Some(&known) = self.attributes.get(&function) {
            return known;
        }
        let id = self.allocate(ObjectKind::Attributes);
        self.attributes.insert(function, id);
        id
    }

    fn assign_all(&mut self, targets: &'a [Expr], value: AbstractValue<'a>) {
        let elements = self.elements_of(value);
        let starred = targets.iter().position(Expr::is_starred_expr);
        for (index, target) in targets.iter().enumerate() {
            let item = match (&elements, starred) {
                (Some(elements), None) => elements.get(index).copied().unwrap_or(AbstractValue::Unknown),
                (Some(elements), Some(star)) if index < star => {
                    elements.get(index).copied().unwrap_or(AbstractValue::Unknown)
                }
                (Some(elements), Some(star)) if index > star => {
                    let from_end = targets.len() - index;
                    elements
                        .len()
                        .checked_sub(from_end)
                        .and_then(|it| elements.get(it))
                        .copied()
                        .unwrap_or(AbstractValue::Unknown)
                }
                _ => self.element_of(value),
            };
            self.assign(target, item);
        }
    }

    /// Returns the elements of a value of known length.
    pub(super) fn elements_of(&self, value: AbstractValue<'a>) -> Option<Vec<AbstractValue<'a>>> {
        let object = self.object(value.object()?);
        let is_known = matches!(object.kind, ObjectKind::Tuple | ObjectKind::List | ObjectKind::Module)
            && object.content.is_none();
        (is_known && !object.elements.is_empty()).then(|| object.elements.clone())
    }

    /// Returns the elements of a value that are known one by one; there may be others.
    pub(super) fn known_elements(&self, value: AbstractValue<'a>) -> Vec<AbstractValue<'a>> {
        let Some(id) = value.object() else { return Vec::new() };
        let object = self.object(id);
        match object.kind {
            ObjectKind::Tuple | ObjectKind::List | ObjectKind::Module => object.elements.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns an element of a value.
    pub(super) fn element_of(&self, value: AbstractValue<'a>) -> AbstractValue<'a> {
        match value {
            AbstractValue::Tensor(_) => value,
            AbstractValue::Object(id) => {
                let object = self.object(id);
                match object.kind {
                    ObjectKind::Dict => AbstractValue::Plain,
                    ObjectKind::Module if !object.elements.is_empty() => object.any_element(),
                    ObjectKind::Loader | ObjectKind::Instance(_) | ObjectKind::Module => AbstractValue::Unknown,
                    _ => object.any_element(),
                }
            }
            AbstractValue::Plain => AbstractValue::Plain,
            _ => AbstractValue::Unknown,
        }
    }
}
