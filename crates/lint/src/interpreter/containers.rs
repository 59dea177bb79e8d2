//! Methods of lists, dicts, queues and iterators.

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind};
use super::{Interpreter, NodeId};

impl<'a> Interpreter<'_, 'a> {
    pub(super) fn call_method_of_container(
        &mut self,
        id: ObjectId,
        name: &'a str,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        let first = arguments.first().unwrap_or(AbstractValue::Unknown);
        match name {
            "append" | "appendleft" | "add" | "put" | "put_nowait" | "push" => {
                self.note_store(id, first, at);
                self.add_content(id, first);
                AbstractValue::Nothing
            }
            "insert" => {
                let value = arguments.positional.get(1).copied().unwrap_or(AbstractValue::Unknown);
                self.note_store(id, value, at);
                self.add_content(id, value);
                AbstractValue::Nothing
            }
            "extend" | "extendleft" => {
                if let Some(source) = first.object() {
                    self.mark_collected(source);
                }
                let element = self.element_of(first);
                self.note_store(id, element, at);
                self.add_content(id, element);
                AbstractValue::Nothing
            }
            "update" => self.update(id, arguments, at),
            "setdefault" => {
                let default = arguments.positional.get(1).copied().unwrap_or(AbstractValue::Nothing);
                self.set_default(id, first, default, at)
            }
            _ => self.read_container(id, name, arguments),
        }
    }

    /// Methods that return elements, or leave none.
    fn read_container(&mut self, id: ObjectId, name: &'a str, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        match name {
            "get" => {
                let default = arguments.positional.get(1).copied().unwrap_or(AbstractValue::Nothing);
                let object = self.object(id);
                let known = match arguments.first().unwrap_or(AbstractValue::Unknown) {
                    AbstractValue::Text(key) => object.entries.get(key).copied().or(object.content),
                    _ if object.kind == ObjectKind::List || object.content.is_some() || !object.entries.is_empty() => {
                        Some(object.any_element())
                    }
                    _ => None,
                };
                known.map_or(default, |known| known.or(default))
            }
            "clear" => {
                self.empty(id);
                AbstractValue::Nothing
            }
            "pop" | "popleft" | "popitem" | "remove" | "get_nowait" => {
                let element = self.object(id).any_element();
                let now = self.tick();
                self.object_mut(id).emptied = now;
                element
            }
            "items" => {
                let value = self.object(id).any_element();
                self.tuples(vec![AbstractValue::Plain, value])
            }
            "values" => {
                let value = self.object(id).any_element();
                self.iterator_over(value)
            }
            "keys" | "index" | "count" | "join" => AbstractValue::Plain,
            "copy" => {
                let copy = self.object(id).clone();
                let made = self.allocate(copy.kind);
                let object = self.object_mut(made);
                (object.entries, object.content, object.elements) = (copy.entries, copy.content, copy.elements);
                AbstractValue::Object(made)
            }
            _ => AbstractValue::Unknown,
        }
    }

    pub(super) fn update(&mut self, id: ObjectId, arguments: &CallArguments<'a>, at: NodeId) -> AbstractValue<'a> {
        let mut named: Vec<(&'a str, AbstractValue<'a>)> = arguments.named.clone();
        let mut rest = arguments.named_rest;
        if let Some(source) = arguments.first().and_then(AbstractValue::object) {
            let source = self.object(source);
            named.extend(source.entries.iter().map(|(key, value)| (*key, *value)));
            rest = rest.or(source.content);
        }
        for (key, value) in named {
            self.set_entry(id, AbstractValue::Text(key), value, at);
        }
        if let Some(value) = rest {
            self.note_store(id, value, at);
            self.add_content(id, value);
        }
        AbstractValue::Nothing
    }

    pub(super) fn set_default(
        &mut self,
        id: ObjectId,
        key: AbstractValue<'a>,
        default: AbstractValue<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        let object = self.object(id);
        let known = match key {
            AbstractValue::Text(key) => object.entries.get(key).copied(),
            _ => object.content,
        };
        if let Some(known) = known {
            return known;
        }
        // The default lives as long as the mapping.
        if let Some(made) = default.object() {
            self.object_mut(made).born = self.object(id).born;
        }
        self.set_entry(id, key, default, at);
        default
    }
}
