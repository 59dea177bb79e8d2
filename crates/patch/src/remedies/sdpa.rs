//! sdpa: `attn_implementation="sdpa"` where the model or its configuration is made; `need_weights=False` for `nn.MultiheadAttention`.

use trace::run::RemedyAction;

use super::Patch;
use crate::edit::Edit;
use crate::layout;
use crate::site::ChangeSite;
use crate::syntax::{Kind, Node};
use crate::why::Why;

pub(super) const PATCH: Patch =
    Patch::new(edits, |_| "model = AutoModelForCausalLM.from_pretrained(..., attn_implementation=\"sdpa\")".to_owned());

const KEYWORD: &str = "attn_implementation";

fn edits(site: &ChangeSite<'_>) -> Result<Vec<Edit>, Why> {
    if matches!(site.action, RemedyAction::SetArgument { callee, .. } if callee == "MultiheadAttention") {
        let call = site.call("an attention of query, key and value", |call| positional(call) >= 3)?;
        return layout::keyword(site.source, call, "need_weights", "False");
    }
    let text = "\"sdpa\"";
    if let Some(call) = site.only_call(|call| call.keyword(KEYWORD).is_some()) {
        let value = call.keyword(KEYWORD).and_then(Node::value).ok_or(Why::NoStatement(site.line))?;
        let is_there = matches!(&value.kind, Kind::Text(text) if text == "sdpa");
        return Ok(if is_there { Vec::new() } else { vec![Edit::replace(value.span, text)] });
    }
    let makes = |call: &Node| {
        call.called().is_some_and(|name| matches!(name, "from_pretrained" | "from_config") && !is_tokenizer(call))
    };
    let call = match site.call("from_pretrained or from_config", makes) {
        Ok(call) => call,
        Err(why) => site.only_call(makes).ok_or(why)?,
    };
    layout::keyword(site.source, call, KEYWORD, text)
}

fn positional(call: &Node) -> usize {
    call.arguments().iter().filter(|argument| !matches!(argument.kind, Kind::Keyword(_))).count()
}

fn is_tokenizer(call: &Node) -> bool {
    let class = call.receiver().and_then(Node::last_name).unwrap_or_default();
    ["Tokenizer", "TokenizerFast", "Processor", "Config", "ImageProcessor", "GenerationConfig"]
        .iter()
        .any(|end| class.ends_with(end))
}
