//! Forwards of modules, and the fate of the graphs of the outputs.

use super::arguments::CallArguments;
use super::facts::{Forward, ForwardSite, MOST_SITES};
use super::value::{AbstractValue, ObjectId};
use super::{Interpreter, Mode, NodeId};

impl<'a> Interpreter<'_, 'a> {
    /// Notes a forward of a module with parameters, and returns the bit of the site.
    pub(super) fn note_forward(&mut self, at: NodeId, module: ObjectId, input_has_graph: bool) -> u128 {
        self.note_work(|work| work.forwards += 1);
        let object = self.object(module);
        if self.mode() != Mode::On || object.is_frozen || self.is_in_parts {
            return 0;
        }
        let is_loaded = object.is_loaded && object.is_eval.is_none();
        let is_eval = object.is_eval == Some(true) || (is_loaded && !self.is_assumed);
        // Perhaps no gradients are recorded here, or the module has no parameters.
        let is_doubtful = (self.is_assumed && !is_eval) || object.is_guess;
        let is_eval = is_eval && !object.is_guess;
        let is_fixed = (is_eval || object.is_copy) && !object.is_optimized && !input_has_graph;
        let time = self.tick();
        let caller = self.frames.last().map_or(NodeId(0), |frame| frame.at);
        let site_at = at;
        let at = self.own_node(at);
        // The loop of an entry stands for unknown callers.
        let in_loop = self.loops.iter().any(|run| run.frames > 0);
        let in_constructor = self.frames.iter().any(|frame| {
            let function = frame.function.map(|it| &self.model.tree.functions[it.index()]);
            function.is_some_and(|it| it.syntax.name.as_str() == "__init__")
        });
        self.found.forwards.push(Forward { at, time, is_eval });
        if is_fixed {
            self.found.teachers.push((at, time, module));
        }
        let site = self.site(ForwardSite {
            at: site_at,
            caller,
            is_eval,
            in_loop,
            in_constructor,
            is_doubtful,
            around: self.forward,
            is_gradient: false,
        });
        let now = self.time;
        let index = usize::try_from(site.trailing_zeros()).unwrap_or(usize::MAX);
        if let Some(time) = self.found.training.times.get_mut(index) {
            *time = now;
        }
        if self.remainders.is_empty() {
            self.found.training.irregular &= !site;
        } else {
            self.found.training.irregular |= site;
        }
        site
    }

    /// Notes a gradient with a graph, and returns the bit of the site.
    pub(super) fn note_gradient(&mut self, at: NodeId) -> u128 {
        let caller = self.frames.last().map_or(NodeId(0), |frame| frame.at);
        // The loop of an entry stands for unknown callers.
        let in_loop = self.loops.iter().any(|run| run.frames > 0);
        self.site(ForwardSite {
            at,
            caller,
            is_eval: false,
            in_loop,
            in_constructor: false,
            is_doubtful: false,
            around: 0,
            is_gradient: true,
        })
    }

    /// Returns the bit of a forward at a place; zero beyond the largest number of places.
    pub(super) fn site(&mut self, site: ForwardSite) -> u128 {
        let is_same = |it: &ForwardSite| it.at == site.at && it.caller == site.caller && it.is_eval == site.is_eval;
        let sites = &mut self.found.sites;
        let index = match sites.iter().position(is_same) {
            Some(index) => index,
            None if sites.len() >= MOST_SITES => return 0,
            None => {
                sites.push(site);
                self.found.training.times.push(0);
                sites.len() - 1
            }
        };
        1 << index
    }

    /// Notes a use of a value's graph by a backward or by unknown code.
    pub(super) fn note_use(&mut self, value: AbstractValue<'a>) {
        self.found.used |= self.sources_of(value, 3);
    }

    /// Notes a value returned to an unknown caller.
    pub(super) fn note_returned(&mut self, value: AbstractValue<'a>) {
        let sources = self.sources_of(value, 3);
        self.found.used |= sources;
        self.found.returned |= sources;
    }

    /// Notes a read of a value without the graph.
    pub(super) fn note_read(&mut self, tensor: super::value::TensorValue) {
        self.found.read |= tensor.sources;
    }

    pub(super) fn sources_of(&self, value: AbstractValue<'a>, left: u32) -> u128 {
        match (value, left.checked_sub(1)) {
            (AbstractValue::Tensor(tensor), _) => tensor.sources,
            (AbstractValue::Object(id), Some(left)) if !self.object(id).is_module => {
                let object = self.object(id);
                let parts = object.elements.iter().chain(object.entries.values()).chain(object.fields.values());
                parts.copied().chain(object.content).fold(0, |set, part| set | self.sources_of(part, left))
            }
            _ => 0,
        }
    }

    /// Notes a read of all tensors of a call.
    pub(super) fn note_reads(&mut self, arguments: &CallArguments<'a>) {
        for tensor in arguments.all().filter_map(AbstractValue::tensor) {
            self.note_read(tensor);
        }
    }

    /// Notes a use of the graphs of all values of a call.
    pub(super) fn note_uses(&mut self, arguments: &CallArguments<'a>) {
        for value in arguments.all() {
            self.note_use(value);
        }
    }
}
