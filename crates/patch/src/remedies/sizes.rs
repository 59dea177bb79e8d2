//! Edits of written numbers; shared by batch-size, sequence-length and resolution.
//!
//! The action names the option, argument or variable; its line has the number, or for an option reads the command line.
//! Settings: `size` or `length`, the new number; `arg`, the program's option for the number.

use trace::run::RemedyAction;

use crate::edit::Edit;
use crate::site::{ChangeSite, own};
use crate::syntax::{Kind, Node};
use crate::why::Why;

/// Calls that add an option to a command line.
const OPTIONS: [&str; 2] = ["add_argument", "option"];

/// The edit of the number; `setting` names the remedy's own for it.
pub(super) fn edits(site: &ChangeSite<'_>, setting: &str) -> Result<Vec<Edit>, Why> {
    if matches!(site.action, RemedyAction::KeepSize { .. }) {
        return Ok(Vec::new());
    }
    let named = NamedSize::new(site);
    let wanted = named.new.map_or_else(|| site.number(setting), Ok)?.to_string();
    let number = find_number(site, &named)?;
    let found = site.source.slice(number.span);
    if found == wanted {
        return Ok(Vec::new());
    }
    match &named.old {
        Some(old) if old != found => {
            Err(Why::Unfit(format!("the file says {found} and the program ran with {old}: its command line decides")))
        }
        _ => Ok(vec![Edit::replace(number.span, wanted)]),
    }
}

/// The size that the run changed: `--batch-size`, 8 in place of 64.
struct NamedSize<'a> {
    name: &'a str,
    /// Not always the setting's: a resize before a crop keeps its margin.
    new: Option<u64>,
    /// The program's own number, as it is written.
    old: Option<String>,
}

impl<'a> NamedSize<'a> {
    fn new(site: &ChangeSite<'a>) -> NamedSize<'a> {
        let (name, new, old) = match site.action {
            RemedyAction::SetSize { name, size, previous } => (name.as_str(), Some(*size), Some(previous.to_string())),
            RemedyAction::FindSize { name, .. } => (name.as_str(), None, None),
            _ => ("", None, None),
        };
        NamedSize { name: site.word(remedies::setting::ARG).unwrap_or(name), new, old }
    }
}

/// The literal that sets the size.
fn find_number<'a>(site: &ChangeSite<'a>, named: &NamedSize<'_>) -> Result<&'a Node, Why> {
    if let Ok(option) = site.call("an option", |call| call.called().is_some_and(|name| OPTIONS.contains(&name))) {
        return literal_default(option);
    }
    if let Some(option) = options(site).find(|option| !named.name.is_empty() && is_named(option, named.name)) {
        return literal_default(option);
    }
    let statement = site.statement()?;
    let given = own(statement).filter_map(|node| value_for(node, named.name)).find(|value| value.kind == Kind::Integer);
    if let Some(number) = given {
        return Ok(number);
    }
    match site.call("DataLoader", |call| call.called() == Some("DataLoader")) {
        Ok(loader) => {
            let batch = of_loader(loader).ok_or_else(|| Why::Unfit("the DataLoader is not given a size".to_owned()))?;
            origin(site, batch)
        }
        Err(why) => only_old(site, statement, named).ok_or(why),
    }
}

/// The value that a node binds to a name: an assignment, a keyword, the default of a parameter.
fn value_for<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    match (&node.kind, &node.children[..]) {
        (Kind::Keyword(Some(keyword)), _) => node.value().filter(|_| keyword == name),
        (Kind::Other, [Node { kind: Kind::Parameter(parameter), .. }, default]) => {
            (parameter == name).then_some(default)
        }
        _ => node.value().filter(|_| node.targets().iter().any(|target| target.last_name() == Some(name))),
    }
}

/// The only number of the old value on the line.
fn only_old<'a>(site: &ChangeSite<'a>, statement: &'a Node, named: &NamedSize<'_>) -> Option<&'a Node> {
    let old = |node: &&Node| node.kind == Kind::Integer && Some(site.source.slice(node.span)) == named.old.as_deref();
    let mut same = own(statement).filter(old).filter(|node| site.line_of(node) == site.line);
    let only = same.next()?;
    if same.next().is_none() { Some(only) } else { None }
}

/// The batch that a `DataLoader` is given.
pub(super) fn of_loader(call: &Node) -> Option<&Node> {
    let named = call.keyword("batch_size").and_then(Node::value);
    named.or_else(|| call.arguments().get(1).filter(|argument| !matches!(argument.kind, Kind::Keyword(_))))
}

/// The node with an expression's number: itself, the only assignment of the name, or the option or field of that name.
fn origin<'a>(site: &ChangeSite<'a>, value: &'a Node) -> Result<&'a Node, Why> {
    match &value.kind {
        Kind::Integer => Ok(value),
        Kind::Name(name) => {
            let number = site.only_value(name).filter(|number| number.kind == Kind::Integer);
            number.ok_or_else(|| Why::Unfit(format!("`{name}` is not assigned a number once")))
        }
        Kind::Attribute(name) => option_or_field(site, name),
        _ => Err(refuse_computed(site, value)),
    }
}

fn refuse_computed(site: &ChangeSite<'_>, value: &Node) -> Why {
    Why::Unfit(format!("the size is computed: `{}`", site.source.slice(value.span)))
}

/// `args.batch_size`: the default of the option; `config.batch_size`: that of the class's field.
fn option_or_field<'a>(site: &ChangeSite<'a>, name: &str) -> Result<&'a Node, Why> {
    if let Some(option) = options(site).find(|option| is_named(option, name)) {
        return literal_default(option);
    }
    let is_field = |node: &&Node| node.targets().iter().any(|target| target.last_name() == Some(name));
    let mut values = site.source.root.walk().filter(is_field).filter_map(Node::value);
    match (values.next(), values.next()) {
        (Some(value), None) if value.kind == Kind::Integer => Ok(value),
        _ => Err(Why::Unfit(format!("no option and no field `{name}` has a number of its own"))),
    }
}

fn options<'a>(site: &ChangeSite<'a>) -> impl Iterator<Item = &'a Node> {
    site.source.root.walk().filter(|node| node.called().is_some_and(|name| OPTIONS.contains(&name)))
}

fn literal_default(option: &Node) -> Result<&Node, Why> {
    let default = option.keyword("default").and_then(Node::value);
    default
        .filter(|value| value.kind == Kind::Integer)
        .ok_or_else(|| Why::Unfit("the option has no number as its default".to_owned()))
}

/// True if one of an option's spellings is the name: `--batch-size` is `batch_size`.
fn is_named(option: &Node, name: &str) -> bool {
    let plain = |name: &str| name.trim_start_matches('-').replace('-', "_");
    let spellings = option.arguments().iter().chain(option.keyword("dest").and_then(Node::value));
    spellings
        .filter_map(|node| if let Kind::Text(text) = &node.kind { Some(plain(text)) } else { None })
        .any(|it| it == plain(name))
}

/// The text of a k-th of a batch: the quotient of a divisible number, else a division.
pub(super) fn divide_text(site: &ChangeSite<'_>, batch: &Node, parts: u64) -> Result<String, Why> {
    let text = site.source.slice(batch.span);
    match batch.kind {
        Kind::Integer => match text.parse::<u64>() {
            Ok(samples) if samples % parts == 0 => Ok((samples / parts).to_string()),
            Ok(samples) => Err(Why::Unfit(format!("a batch of {samples} cannot be parted into {parts}"))),
            Err(_) => Err(refuse_computed(site, batch)),
        },
        Kind::Name(_) | Kind::Attribute(_) | Kind::Subscript | Kind::Call => Ok(format!("{text} // {parts}")),
        _ => Ok(format!("({text}) // {parts}")),
    }
}
