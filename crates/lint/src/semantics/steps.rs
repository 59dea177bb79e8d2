//! Code that runs again with every step of work: in a loop of steps, in functions that such a loop calls, in the wrapper of a decorator, in a
//! context manager, in a callback, in a comprehension over batches, and below a condition that asks for a GPU.

use std::cell::RefCell;

use ruff_python_ast::{Expr, Stmt, StmtIf};
use rustc_hash::FxHashMap;

use super::data::{Binding, FunctionId, LoopId, NodeId, RegionId, RegionKind, Syntax};
use super::names::last;
use super::{Call, Model};

/// Words of conditions that let some steps pass.
const OCCASIONAL: [&str; 10] =
    ["%", "interval", "every", "freq", "step", "iter", "last", "elapsed", "thresh", "memory"];

/// The methods that register a function to run at every forward.
const HOOKS: [&str; 3] = ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"];

/// Cached answers: false while an answer is computed.
#[derive(Debug, Default)]
pub(crate) struct StepAnswers {
    /// Does a function run in every step?
    repeated: RefCell<FxHashMap<FunctionId, bool>>,
    /// Does a function hold a loop of steps, or call one that does?
    looping: RefCell<FxHashMap<FunctionId, bool>>,
    /// Is a loop one of steps?
    loops: RefCell<FxHashMap<LoopId, bool>>,
}

impl<'a> Model<'a> {
    /// Checks whether a call runs in every step of training, evaluation or generation.
    pub(crate) fn runs_with_steps(&self, call: &Call<'a>) -> bool {
        self.is_repeated(call.id)
    }

    fn is_repeated(&self, id: NodeId) -> bool {
        let region = self.node(id).region;
        if self.is_occasional(region) || self.is_skipped(id) {
            return false;
        }
        if self.is_in_comprehension_over_steps(id) {
            return true;
        }
        for around in self.loops(region) {
            if self.is_loop_of_steps(around) {
                return true;
            }
            if self.holds_loop_of_steps(around) {
                return false;
            }
        }
        self.function(region).is_some_and(|function| self.is_repeated_function(function))
    }

    /// Checks whether conditions between a region and the loop of steps, or the function, let some steps pass.
    fn is_occasional(&self, region: RegionId) -> bool {
        for kind in self.regions(region) {
            match kind {
                RegionKind::If(condition, _)
                    if !self.asks_for_gpu(&condition.test) && !self.always_holds(&condition.test) =>
                {
                    return true;
                }
                RegionKind::Maybe | RegionKind::Handler(_) => return true,
                RegionKind::Loop(around) if self.is_loop_of_steps(around) => return false,
                _ => {}
            }
        }
        false
    }

    /// Checks whether a condition only asks for a GPU: `torch.cuda.is_available()`, `device.type == "cuda"`, or a name of such a value.
    pub(crate) fn asks_for_gpu(&self, test: &'a Expr) -> bool {
        let asks = |it: &Expr| {
            let written = self.source(it);
            written.contains("is_available()") || written.contains("\"cuda\"") || written.contains("'cuda'")
        };
        asks(test) || self.origins(test).iter().any(|it| asks(it))
    }

    /// `step % self.every == 0` with 1 in place of `every`, and flags that are true by default and in all calls.
    fn always_holds(&self, test: &'a Expr) -> bool {
        match test {
            Expr::Compare(it) => it
                .left
                .as_bin_op_expr()
                .is_some_and(|it| it.op == ruff_python_ast::Operator::Mod && self.known_number(&it.right) == Some(1)),
            Expr::Name(_) | Expr::Attribute(_) => self.is_known_bool(test, true),
            _ => false,
        }
    }

    /// Checks for a `return` or `continue` before a node, below a condition that holds in some steps.
    fn is_skipped(&self, id: NodeId) -> bool {
        let region = self.node(id).region;
        let function = self.function(region);
        let first = match self.loops(region).next() {
            Some(around) => self.tree.loops[around.index()].body.0,
            None => self.body(function).0,
        };
        let mut before = self.statements_between(first, id);
        before.any(|(at, statement)| {
            let region = self.node(at).region;
            matches!(statement, Stmt::Return(_) | Stmt::Continue(_))
                && self.function(region) == function
                && self.regions(region).any(|kind| matches!(kind, RegionKind::If(it, _) if self.is_occasional_test(it)))
        })
    }

    fn is_occasional_test(&self, condition: &'a StmtIf) -> bool {
        let text = self.source(&*condition.test);
        OCCASIONAL.iter().any(|word| text.contains(word))
    }

    fn statements_between(&self, first: NodeId, end: NodeId) -> impl Iterator<Item = (NodeId, &'a Stmt)> + '_ {
        let nodes = self.tree.nodes.get(first.index()..end.index()).unwrap_or_default();
        (first.0..).map(NodeId).zip(nodes).filter_map(|(id, node)| match node.syntax {
            Syntax::Statement(statement) => Some((id, statement)),
            Syntax::Expression(_) => None,
        })
    }

    /// Checks whether an iterated object yields batches, by its value or by its name: `enumerate(train_loader)`, `train_batches(data)`.
    pub(crate) fn is_called_batches(&self, iterated: &'a Expr) -> bool {
        let name = match iterated {
            Expr::Name(it) => it.id.as_str(),
            Expr::Attribute(it) => it.attr.as_str(),
            Expr::Subscript(it) => return self.is_called_batches(&it.value),
            Expr::Call(it) => {
                let is_wrapper = self.call(iterated).is_some_and(|call| {
                    super::known::wraps_iterable(call) || call.path.as_deref().is_some_and(|path| last(path) == "tqdm")
                });
                if is_wrapper {
                    return it.arguments.args.iter().any(|it| self.is_called_batches(it));
                }
                last(self.source(&*it.func))
            }
            _ => return false,
        };
        let name = name.to_ascii_lowercase();
        self.gives_batches(iterated) || name.ends_with("loader") || name.ends_with("batches")
    }

    /// Checks whether each iteration of a loop is one piece of work on a model, and no loop within is.
    pub(crate) fn is_loop_of_steps(&self, id: LoopId) -> bool {
        cached(&self.step_answers.loops, id, || self.works(id) && !self.holds_loop_of_steps(id))
    }

    fn works(&self, id: LoopId) -> bool {
        let it = &self.tree.loops[id.index()];
        self.work_of_loop(id).backwards > 0
            || it.iterated.is_some_and(|iterated| self.is_called_batches(iterated))
            || self.calls_between(it.body).iter().any(|call| self.is_step_forward(call, id))
    }

    /// Checks for a forward directly in a loop that is not over the modules themselves.
    fn is_step_forward(&self, call: &Call<'a>, around: LoopId) -> bool {
        if self.loops(call.region).next() != Some(around) || !(self.is_forward(call) || self.is_run_of_model(call)) {
            return false;
        }
        let Some(root) = Self::root(&call.syntax.func) else { return true };
        let (first, end) = self.tree.loops[around.index()].definitions;
        let definition = self.definition(root);
        let is_outer = matches!(self.tree.definitions[definition.index()].binding, Binding::Outer(_));
        is_outer || !(first <= definition && definition < end)
    }

    /// `model.generate(ids)`, `pipe.encode(text)`
    fn is_run_of_model(&self, call: &Call<'a>) -> bool {
        let Some((object, name)) = call.method() else { return false };
        let text = self.source(object).to_ascii_lowercase();
        let is_model = || {
            self.value(object) == super::ValueKind::Module
                || ["model", "pipe", "net", "encoder", "generator"].iter().any(|it| text.ends_with(it))
        };
        matches!(name, "generate" | "transcribe" | "predict" | "encode" | "sample" | "infer") && is_model()
    }

    /// Checks for a function that is one step of training: a backward outside of loops of its own, and a caller in a loop.
    fn is_step_function(&self, function: FunctionId) -> bool {
        let it = &self.tree.functions[function.index()];
        let is_backward = |call: &Call<'a>| {
            self.function(call.region) == Some(function)
                && self.loops(call.region).next().is_none()
                && self.backward_subject(call).is_some()
        };
        let mut callers = self.callers(function).peekable();
        let is_named =
            || ["step", "batch", "learn", "update", "optimize"].iter().any(|word| it.syntax.name.contains(word));
        let is_repeated = if callers.peek().is_none() {
            it.class.is_some() && is_named()
        } else {
            callers.any(|call| self.loops(call.region).next().is_some())
        };
        is_repeated && self.calls_between(it.body).iter().any(is_backward)
    }

    /// Checks whether a loop holds another loop of steps, in its body or in a called function.
    fn holds_loop_of_steps(&self, id: LoopId) -> bool {
        let body = self.tree.loops[id.index()].body;
        self.inner_loops(id).any(|inner| self.is_loop_over_steps(inner)) || self.calls_loop_of_steps(body)
    }

    /// Checks for a loop over batches, or around a backward; loops over layers are none.
    fn is_loop_over_steps(&self, id: LoopId) -> bool {
        let it = &self.tree.loops[id.index()];
        self.work_of_loop(id).backwards > 0 || it.iterated.is_some_and(|iterated| self.is_called_batches(iterated))
    }

    fn calls_loop_of_steps(&self, range: (NodeId, NodeId)) -> bool {
        self.calls_between(range)
            .iter()
            .any(|call| self.callee(call).is_some_and(|callee| self.runs_loop_of_steps(callee)))
    }

    fn runs_loop_of_steps(&self, function: FunctionId) -> bool {
        cached(&self.step_answers.looping, function, || {
            let body = self.tree.functions[function.index()].body;
            let loops = (0_u32..).map(LoopId).zip(&self.tree.loops);
            let mut own = loops.filter(|(_, it)| body.0 <= it.node && it.node <= body.1);
            own.any(|(id, _)| self.is_loop_over_steps(id))
                || self.follow(|| self.calls_loop_of_steps(body)).unwrap_or(false)
        })
    }

    /// `[self.step(batch) for batch in loader]`
    fn is_in_comprehension_over_steps(&self, origin: NodeId) -> bool {
        let mut id = origin;
        loop {
            let node = self.node(id);
            let Syntax::Expression(expression) = node.syntax else { return false };
            let generators = match expression {
                Expr::ListComp(it) => &*it.generators,
                Expr::Generator(it) => &*it.generators,
                Expr::SetComp(it) => &*it.generators,
                Expr::DictComp(it) => &*it.generators,
                _ => &[],
            };
            // The first iterated object is evaluated once.
            let is_iterated = generators
                .first()
                .and_then(|it| self.id(&it.iter))
                .is_some_and(|it| it <= origin && origin <= self.node(it).last);
            if !is_iterated && generators.iter().any(|it| self.is_called_batches(&it.iter)) {
                return true;
            }
            if node.parent == id {
                return false;
            }
            id = node.parent;
        }
    }

    /// Checks whether a function runs in every step.
    fn is_repeated_function(&self, function: FunctionId) -> bool {
        cached(&self.step_answers.repeated, function, || {
            let is_called = || {
                self.callers(function).any(|call| self.is_repeated(call.id))
                    || self.wrapped_by(function).into_iter().any(|it| self.is_repeated_function(it))
                    || self.entry_nodes(function).into_iter().any(|it| self.is_repeated(it))
            };
            self.is_batch_callback(function)
                || self.is_passed_as_callback(function)
                || self.is_step_function(function)
                || self.follow(is_called).unwrap_or(false)
        })
    }

    /// Checks for a method that a module, a framework or a loader calls for every batch.
    fn is_batch_callback(&self, function: FunctionId) -> bool {
        let it = &self.tree.functions[function.index()];
        let Some(class) = it.class else { return false };
        match it.syntax.name.as_str() {
            "forward" => self.value_of_instance(class) == super::ValueKind::Module,
            "__getitem__" => self.derives(class, &|path| last(path).ends_with("Dataset")),
            name => is_name_of_step_callback(name) || self.hook(function).is_some(),
        }
    }

    /// `pipe(prompt, callback_on_step_end=function)`, `DataLoader(data, collate_fn=function)`, `layer.register_forward_hook(function)`
    fn is_passed_as_callback(&self, function: FunctionId) -> bool {
        let is_it = |value: &'a Expr| self.named(value).and_then(|it| self.function_of(it)) == Some(function);
        self.calls().iter().any(|call| {
            let arguments = &call.syntax.arguments;
            let by_keyword = arguments.keywords.iter().any(|keyword| {
                let name = keyword.arg.as_ref().map_or("", |it| it.as_str());
                (matches!(name, "collate_fn" | "callback" | "step_callback") || is_name_of_step_callback(name))
                    && is_it(&keyword.value)
            });
            let is_hook = call.method().is_some_and(|(_, name)| HOOKS.contains(&name));
            by_keyword || (is_hook && arguments.args.first().is_some_and(is_it))
        })
    }

    /// Returns the functions whose decorator made a function: a wrapper runs when they are called.
    fn wrapped_by(&self, wrapper: FunctionId) -> Vec<FunctionId> {
        let outer = self.enclosing_functions(wrapper);
        if outer.is_empty() {
            return Vec::new();
        }
        let is_wrapped = |id: &FunctionId| {
            let decorators = &self.tree.functions[id.index()].syntax.decorator_list;
            decorators.iter().any(|it| {
                let decorator = it.expression.as_call_expr().map_or(&it.expression, |call| &*call.func);
                self.named(decorator).and_then(|it| self.function_of(it)).is_some_and(|it| outer.contains(&it))
            })
        };
        (0_u32..).map(FunctionId).take(self.tree.functions.len()).filter(is_wrapped).collect()
    }

    fn enclosing_functions(&self, function: FunctionId) -> Vec<FunctionId> {
        let mut found = Vec::new();
        let mut next = self.function(self.tree.functions[function.index()].outside);
        while let Some(outer) = next.filter(|_| found.len() < 3) {
            found.push(outer);
            next = self.function(self.tree.functions[outer.index()].outside);
        }
        found
    }

    /// Returns the nodes that run a method without naming it: `with` statements of `__enter__` and `__exit__`, calls of an object, and reads of a
    /// property.
    fn entry_nodes(&self, function: FunctionId) -> Vec<NodeId> {
        let it = &self.tree.functions[function.index()];
        let Some(class) = it.class else { return Vec::new() };
        let name = it.syntax.name.as_str();
        match name {
            "__enter__" | "__exit__" => {
                let enters = |statement: &'a Stmt| {
                    let Stmt::With(with) = statement else { return false };
                    with.items.iter().any(|item| self.class_of_object(&item.context_expr) == Some(class))
                };
                self.statements().filter(|(_, statement)| enters(statement)).map(|(id, _)| id).collect()
            }
            "__call__" => {
                let calls = self.calls().iter().filter(|call| self.class_of_object(&call.syntax.func) == Some(class));
                calls.filter(|call| !self.is_class(&call.syntax.func)).map(|call| call.id).collect()
            }
            _ if it.syntax.decorator_list.iter().any(|it| self.source(&it.expression) == "property") => {
                let reads = |it: &'a Expr| {
                    it.as_attribute_expr()
                        .is_some_and(|it| it.attr.as_str() == name && self.class_of_object(&it.value) == Some(class))
                };
                self.expressions(self.whole_text()).filter(|(_, it)| reads(it)).map(|(id, _)| id).collect()
            }
            _ => Vec::new(),
        }
    }

    fn is_class(&self, expression: &'a Expr) -> bool {
        self.named(expression).is_some_and(|it| self.class_of(it).is_some())
    }
}

fn cached<K: Copy + Eq + std::hash::Hash>(
    answers: &RefCell<FxHashMap<K, bool>>,
    key: K,
    ask: impl FnOnce() -> bool,
) -> bool {
    if let Some(&known) = answers.borrow().get(&key) {
        return known;
    }
    answers.borrow_mut().insert(key, false);
    let answer = ask();
    answers.borrow_mut().insert(key, answer);
    answer
}

/// Checks for a name such as `on_train_batch_end`, `after_iter` or `callback_on_step_end`.
fn is_name_of_step_callback(name: &str) -> bool {
    let has = |words: &[&str]| name.split('_').any(|part| words.contains(&part));
    has(&["batch", "step", "iter", "iteration", "minibatch", "substep"])
        && has(&["on", "before", "after", "end", "start", "begin", "pre", "post"])
        && !has(&["epoch", "n", "every"])
}
