//! An element of XML, written with indentation.

use quick_xml::escape::escape;

use crate::sanitize::clean;

const INDENTATION: &str = "  ";

/// An element with attributes and either text or children.
pub(super) struct XmlElement {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: String,
    children: Vec<XmlElement>,
}

impl XmlElement {
    pub(super) fn new(name: &'static str) -> XmlElement {
        XmlElement { name, attributes: Vec::new(), text: String::new(), children: Vec::new() }
    }

    /// Adds an attribute.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> XmlElement {
        self.attributes.push((name, safe(value)));
        self
    }

    /// Sets the text, whose lines stay lines.
    pub(super) fn text(mut self, text: &str) -> XmlElement {
        self.text = text.trim_end().lines().map(safe).collect::<Vec<_>>().join("\n");
        self
    }

    /// Adds a child.
    pub(super) fn child(mut self, child: XmlElement) -> XmlElement {
        self.children.push(child);
        self
    }

    /// Writes a document with this element at its top.
    pub(super) fn document(&self) -> String {
        let mut document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        self.write(&mut document, "");
        document
    }

    fn write(&self, to: &mut String, indentation: &str) {
        to.extend([indentation, "<", self.name]);
        for (name, value) in &self.attributes {
            to.extend([" ", name, "=\"", value, "\""]);
        }
        if self.text.is_empty() && self.children.is_empty() {
            to.push_str("/>\n");
            return;
        }
        to.extend([">", &self.text]);
        if !self.children.is_empty() {
            to.push('\n');
            let deeper = format!("{indentation}{INDENTATION}");
            self.children.iter().for_each(|child| child.write(to, &deeper));
            to.push_str(indentation);
        }
        to.extend(["</", self.name, ">\n"]);
    }
}

/// A text without characters that XML forbids, even in escapes (XML 1.0, section 2.2), and with its own characters escaped.
fn safe(text: &str) -> String {
    let allowed: String = clean(text).chars().map(|it| if is_forbidden(it) { '\u{fffd}' } else { it }).collect();
    escape(allowed).into_owned()
}

/// The characters that [`clean`] leaves as they are, and XML forbids.
fn is_forbidden(letter: char) -> bool {
    matches!(letter, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_become_harmless() {
        let element = XmlElement::new("a").with("b", "x < \"y\"\u{1b}\n").text("1 & 2\n]]>\u{ffff}\n");
        let expected = "<a b=\"x &lt; &quot;y&quot;\\x1b \">1 &amp; 2\n]]&gt;\u{fffd}</a>";
        assert_eq!(element.document().lines().skip(1).collect::<Vec<_>>().join("\n"), expected);
    }

    #[test]
    fn children_are_indented() {
        let element = XmlElement::new("a").child(XmlElement::new("b").text("c")).child(XmlElement::new("d"));
        assert_eq!(element.document().split_once('\n').map(|it| it.1), Some("<a>\n  <b>c</b>\n  <d/>\n</a>\n"));
    }
}
