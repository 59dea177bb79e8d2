//! Collections of Python's library, and functions of iterables.

use ruff_python_ast::{Expr, ExprCall};

use super::arguments::CallArguments;
use super::value::{AbstractValue, ObjectId, ObjectKind};
use super::{Interpreter, NodeId};

impl<'a> Interpreter<'_, 'a> {
    /// Collections, and functions of iterables.
    pub(super) fn call_collection(
        &mut self,
        path: &str,
        syntax: Option<&'a ExprCall>,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        match path {
            "list"
            | "set"
            | "sorted"
            | "collections.deque"
            | "queue.Queue"
            | "queue.SimpleQueue"
            | "queue.LifoQueue"
            | "multiprocessing.Queue"
            | "frozenset"
            | "asyncio.Queue" => {
                let list = self.collect(ObjectKind::List, arguments.first());
                if let (Some(id), Some(limit)) = (list.object(), arguments.get("maxlen", 1)) {
                    self.object_mut(id).limit = match limit {
                        AbstractValue::Int(limit) => Some(limit),
                        AbstractValue::Nothing => None,
                        _ => Some(0),
                    };
                }
                list
            }
            "tuple" => self.collect(ObjectKind::Tuple, arguments.first()),
            "dict" | "collections.OrderedDict" | "collections.Counter" | "types.SimpleNamespace" => {
                self.dict_of(arguments)
            }
            "collections.defaultdict" => {
                let dict = self.new_object(ObjectKind::Dict);
                self.set_factory(dict, arguments, syntax.and_then(|it| it.arguments.args.first()));
                dict
            }
            "itertools.accumulate" => {
                if let Some(id) = arguments.first().and_then(AbstractValue::object) {
                    self.mark_collected(id);
                }
                arguments.first().unwrap_or(AbstractValue::Unknown)
            }
            "heapq.heappush" | "heapq.heappushpop" | "heapq.heapreplace" | "bisect.insort" => {
                self.push_to_heap(arguments, at);
                AbstractValue::Nothing
            }
            _ => self.call_iterable(path, syntax, arguments, at),
        }
    }

    /// Functions of iterables.
    fn call_iterable(
        &mut self,
        path: &str,
        syntax: Option<&'a ExprCall>,
        arguments: &CallArguments<'a>,
        at: NodeId,
    ) -> AbstractValue<'a> {
        match path {
            "sum" => self.sum(arguments),
            "max"
            | "min"
            | "next"
            | "reversed"
            | "iter"
            | "filter"
            | "itertools.chain"
            | "itertools.cycle"
            | "itertools.islice"
            | "tqdm"
            | "tqdm.tqdm"
            | "tqdm.auto.tqdm"
            | "tqdm.notebook.tqdm"
            | "rich.progress.track"
            | "track" => {
                let first = arguments.first().unwrap_or(AbstractValue::Unknown);
                if matches!(path, "max" | "min" | "next") { self.element_of(first) } else { self.iterate(first) }
            }
            "enumerate" => {
                let element = arguments.first().map_or(AbstractValue::Unknown, |it| self.element_of(it));
                self.tuples(vec![AbstractValue::Plain, element])
            }
            "zip" => {
                let elements = arguments.positional.iter().map(|&it| self.element_of(it)).collect();
                self.tuples(elements)
            }
            "map" => {
                let Some((&function, iterables)) = arguments.positional.split_first() else {
                    return AbstractValue::Unknown;
                };
                let elements = iterables.iter().map(|&it| self.element_of(it)).collect();
                let value = self.apply(function, &CallArguments::of(elements));
                self.iterator_over(value)
            }
            _ => self.call_torch(path, syntax, arguments, at),
        }
    }

    fn push_to_heap(&mut self, arguments: &CallArguments<'a>, at: NodeId) {
        if let (Some(AbstractValue::Object(id)), Some(value)) = (arguments.first(), arguments.positional.get(1)) {
            self.note_store(id, *value, at);
            self.add_content(id, *value);
        }
    }

    /// Returns an iterator whose elements have a value.
    pub(super) fn iterator_over(&mut self, element: AbstractValue<'a>) -> AbstractValue<'a> {
        let iterator = self.allocate(ObjectKind::Iterator);
        self.object_mut(iterator).content = Some(element);
        AbstractValue::Object(iterator)
    }

    /// Returns an iterator over the elements of a value.
    pub(super) fn iterate(&mut self, value: AbstractValue<'a>) -> AbstractValue<'a> {
        match value.object().map(|id| self.object(id).kind) {
            Some(ObjectKind::Dict) => AbstractValue::Plain,
            _ => value,
        }
    }

    /// Returns an iterator of tuples.
    pub(super) fn tuples(&mut self, elements: Vec<AbstractValue<'a>>) -> AbstractValue<'a> {
        let tuple = self.allocate(ObjectKind::Tuple);
        self.object_mut(tuple).elements = elements;
        let iterator = self.allocate(ObjectKind::Iterator);
        self.object_mut(iterator).content = Some(AbstractValue::Object(tuple));
        AbstractValue::Object(iterator)
    }

    /// Returns a new collection with the elements of a value.
    pub(super) fn collect(&mut self, kind: ObjectKind<'a>, from: Option<AbstractValue<'a>>) -> AbstractValue<'a> {
        let id = self.allocate(kind);
        if let Some(from) = from {
            if let Some(elements) = self.elements_of(from) {
                self.object_mut(id).elements = elements;
            } else if let Some(source) = from.object() {
                self.mark_collected(source);
                self.object_mut(id).content = Some(self.element_of(from)).filter(|_| !self.is_empty(source));
            } else {
                self.object_mut(id).content = Some(self.element_of(from));
            }
        }
        AbstractValue::Object(id)
    }

    pub(super) fn is_empty(&self, id: ObjectId) -> bool {
        let object = self.object(id);
        object.is_container() && object.content.is_none() && object.elements.is_empty() && object.entries.is_empty()
    }

    pub(super) fn dict_of(&mut self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let id = self.allocate(ObjectKind::Dict);
        if let Some(source) = arguments.first().and_then(AbstractValue::object) {
            let from = self.object(source).clone();
            let object = self.object_mut(id);
            (object.entries, object.content) = (from.entries, from.content);
        }
        self.object_mut(id).entries.extend(arguments.named.iter().copied());
        AbstractValue::Object(id)
    }

    /// `sum(values)`: the graph of any element is that of the sum.
    pub(super) fn sum(&mut self, arguments: &CallArguments<'a>) -> AbstractValue<'a> {
        let Some(first) = arguments.first() else { return AbstractValue::Unknown };
        if let Some(id) = first.object() {
            self.mark_collected(id);
        }
        let of_dict = first.object().filter(|&id| self.object(id).kind == ObjectKind::Dict);
        match of_dict {
            Some(_) => AbstractValue::Plain,
            None => self.element_of(first),
        }
    }

    /// Remembers the function that makes missing values.
    pub(super) fn set_factory(
        &mut self,
        object: AbstractValue<'a>,
        arguments: &CallArguments<'a>,
        syntax: Option<&'a Expr>,
    ) {
        let Some(id) = object.object() else { return };
        let given = arguments.named.iter().find(|(name, _)| *name == "default_factory").map(|(_, value)| *value);
        let given = given.or(arguments.first()).filter(|it| !matches!(it, AbstractValue::Unknown));
        let made = syntax.and_then(|it| {
            self.model.builtin(it).map(str::to_owned).or_else(|| self.model.path(it).map(|it| it.to_string()))
        });
        let factory = given.or_else(|| {
            let kind = match made.as_deref()? {
                "list" | "set" | "collections.deque" => ObjectKind::List,
                "dict" | "collections.defaultdict" | "collections.Counter" | "collections.OrderedDict" => {
                    ObjectKind::Dict
                }
                _ => return None,
            };
            let maker = self.allocate(ObjectKind::LibraryMethod(
                AbstractValue::Nothing,
                match kind {
                    ObjectKind::List => "list",
                    _ => "dict",
                },
            ));
            Some(AbstractValue::Object(maker))
        });
        self.object_mut(id).factory = factory;
    }
}
