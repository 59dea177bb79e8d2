//! The move of a model to the GPU in the source; shared by the remedies that precede or replace the move.

use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node, Span};
use crate::why::Why;

/// A statement that moves a model to the GPU and has no other effect.
pub(super) struct Move<'a> {
    statement: &'a Node,
    /// The model's name after the move.
    pub(super) model: &'a str,
    /// `.cuda()` of `model = Net().cuda()`; `None` for `model.cuda()`, where the model has its name already.
    suffix: Option<Span>,
    /// The call of `to` or `cuda`.
    call: &'a Node,
}

impl<'a> Move<'a> {
    /// The move on the line.
    pub(super) fn find(site: &ChangeSite<'a>) -> Result<Move<'a>, Why> {
        let call = site.call("to or cuda", is_move)?;
        let unfit = || Why::Unfit(format!("the model is moved within `{}`", site.source.slice(call.span)));
        let statement = site.statement()?;
        let receiver = call.receiver().ok_or_else(unfit)?;
        let name = site.source.slice(receiver.span);
        let target = statement.targets().first().map(|target| site.source.slice(target.span));
        let is_bare = statement.kind == Kind::Expression && statement.children.first() == Some(call);
        let is_value = statement.targets().len() == 1 && statement.value() == Some(call);
        let (model, is_named) = match target {
            None if is_bare && receiver.dotted().is_some() => (name, true),
            Some(target) if is_value => (target, target == name),
            _ => return Err(unfit()),
        };
        let suffix = (!is_named).then_some(Span::new(receiver.span.end, call.span.end));
        Ok(Move { statement, model, suffix, call })
    }

    /// The target device, as an expression.
    pub(super) fn device(&self, site: &ChangeSite<'_>) -> Result<String, Why> {
        let torch = site.torch()?;
        match self.call.arguments() {
            [] => Ok(format!("{torch}.device(\"cuda\")")),
            [only] if !matches!(only.kind, Kind::Keyword(_)) && self.call.called() == Some("to") => {
                Ok(format!("{torch}.device({})", site.source.slice(only.span)))
            }
            _ => Err(Why::Unfit(format!("`{}` does more than name a device", site.source.slice(self.call.span)))),
        }
    }

    /// `lines` straight before the model is moved.
    pub(super) fn insert_before(&self, site: &ChangeSite<'_>, lines: &[String]) -> Result<Vec<Edit>, Why> {
        let Some(suffix) = self.suffix else { return Ok(vec![layout::before(site.source, self.statement, lines)?]) };
        let moved = format!("{}{}", self.model, site.source.slice(suffix));
        let lines: Vec<String> = lines.iter().cloned().chain([moved]).collect();
        Ok(vec![Edit::delete(suffix), layout::after(site.source, self.statement, &lines)?])
    }

    /// `line` in the place of the move.
    pub(super) fn replace_with(&self, site: &ChangeSite<'_>, line: String) -> Result<Vec<Edit>, Why> {
        match self.suffix {
            Some(suffix) => Ok(vec![Edit::delete(suffix), layout::after(site.source, self.statement, &[line])?]),
            None => Ok(vec![Edit::replace(self.statement.span, line)]),
        }
    }
}

fn is_move(call: &Node) -> bool {
    matches!(call.called(), Some("to" | "cuda")) && call.receiver().is_some()
}
