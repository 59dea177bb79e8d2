//! Writes values in the forms of the picklers: Python's at protocols 0, 2 and 4, PyTorch's C++ pickler, and JSON.

use std::collections::HashMap;
use std::rc::Rc;

/// A plain value. Values that share an `Rc` are shared in the pickle.
#[derive(Clone, Debug)]
pub(crate) enum Plain {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    List(Rc<Vec<Plain>>),
    Tuple(Rc<Vec<Plain>>),
    Dict(Rc<Vec<(Plain, Plain)>>),
}

pub(crate) fn text(text: &str) -> Plain {
    Plain::Str(text.into())
}

pub(crate) fn list(items: Vec<Plain>) -> Plain {
    Plain::List(Rc::new(items))
}

pub(crate) fn dict<'k>(entries: impl IntoIterator<Item = (&'k str, Plain)>) -> Plain {
    Plain::Dict(Rc::new(entries.into_iter().map(|(key, value)| (text(key), value)).collect()))
}

/// The pickler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text, and dicts filled key by key.
    Python0,
    Python2,
    Python4,
    /// PyTorch's `torch::jit::Pickler`: containers enter the memo after they are filled, and only if shared.
    Cpp,
}

pub(crate) const STYLES: [Style; 4] = [Style::Python0, Style::Python2, Style::Python4, Style::Cpp];

pub(crate) fn pickle(value: &Plain, style: Style) -> Vec<u8> {
    let mut pickler = Pickler { out: Vec::new(), style, memo: HashMap::new() };
    match style {
        Style::Python0 => {}
        Style::Python2 | Style::Cpp => pickler.out.extend(b"\x80\x02"),
        Style::Python4 => pickler.out.extend(b"\x80\x04"),
    }
    pickler.save(value);
    pickler.out.push(b'.');
    pickler.out
}

struct Pickler {
    out: Vec<u8>,
    style: Style,
    memo: HashMap<*const u8, usize>,
}

impl Pickler {
    fn save(&mut self, value: &Plain) {
        match value {
            Plain::None => self.out.push(b'N'),
            Plain::Bool(value) => self.bool(*value),
            Plain::Int(value) => self.int(*value),
            Plain::Float(value) => self.float(*value),
            Plain::Str(text) => self.shared(text.as_ptr(), true, |pickler| pickler.text(text), |_| {}),
            Plain::Tuple(items) => self.tuple(items),
            Plain::List(items) => {
                let open = |pickler: &mut Pickler| pickler.open(b"(l", b"]");
                let shared = Rc::strong_count(items) > 1;
                self.shared(Rc::as_ptr(items).cast(), shared, open, |pickler| pickler.fill_list(items));
            }
            Plain::Dict(entries) => {
                let open = |pickler: &mut Pickler| pickler.open(b"(d", b"}");
                let shared = Rc::strong_count(entries) > 1;
                self.shared(Rc::as_ptr(entries).cast(), shared, open, |pickler| pickler.fill_dict(entries));
            }
        }
    }

    /// Saves a value with an identity: as a memo number if saved before.
    fn shared(
        &mut self,
        identity: *const u8,
        shared: bool,
        open: impl FnOnce(&mut Pickler),
        fill: impl FnOnce(&mut Pickler),
    ) {
        if let Some(&number) = self.memo.get(&identity) {
            return self.get(number);
        }
        open(self);
        if self.style == Style::Cpp {
            fill(self);
            if shared {
                self.put(identity);
            }
        } else {
            self.put(identity);
            fill(self);
        }
    }

    fn put(&mut self, identity: *const u8) {
        let number = self.memo.len();
        self.memo.insert(identity, number);
        match (self.style, u8::try_from(number)) {
            (Style::Python0, _) => self.out.extend(format!("p{number}\n").bytes()),
            (Style::Python4, _) => self.out.push(0x94),
            (_, Ok(short)) => self.out.extend([b'q', short]),
            _ => self.numbered(b'r', number),
        }
    }

    fn get(&mut self, number: usize) {
        match (self.style, u8::try_from(number)) {
            (Style::Python0, _) => self.out.extend(format!("g{number}\n").bytes()),
            (_, Ok(short)) => self.out.extend([b'h', short]),
            _ => self.numbered(b'j', number),
        }
    }

    fn numbered(&mut self, opcode: u8, number: usize) {
        self.out.push(opcode);
        self.out.extend(u32::try_from(number).unwrap().to_le_bytes());
    }

    fn open(&mut self, in_text: &[u8], binary: &[u8]) {
        self.out.extend(if self.style == Style::Python0 { in_text } else { binary });
    }

    fn bool(&mut self, value: bool) {
        match self.style {
            Style::Python0 => self.out.extend(format!("I0{}\n", u8::from(value)).bytes()),
            _ => self.out.push(if value { 0x88 } else { 0x89 }),
        }
    }

    fn int(&mut self, value: i64) {
        match (self.style, u8::try_from(value), i32::try_from(value)) {
            (Style::Python0, _, _) => self.out.extend(format!("I{value}\n").bytes()),
            (_, Ok(value), _) => self.out.extend([b'K', value]),
            (_, _, Ok(value)) => {
                self.out.push(b'J');
                self.out.extend(value.to_le_bytes());
            }
            _ => {
                self.out.extend(b"\x8a\x08");
                self.out.extend(value.to_le_bytes());
            }
        }
    }

    fn float(&mut self, value: f64) {
        if self.style == Style::Python0 {
            self.out.extend(format!("F{value}\n").bytes());
        } else {
            self.out.push(b'G');
            self.out.extend(value.to_be_bytes());
        }
    }

    fn text(&mut self, text: &str) {
        match (self.style, u8::try_from(text.len())) {
            (Style::Python0, _) => {
                let latin = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap());
                self.out.extend([b'V'].into_iter().chain(latin).chain([b'\n']));
            }
            (Style::Python4, Ok(length)) => self.out.extend([0x8c, length]),
            _ => self.numbered(b'X', text.len()),
        }
        if self.style != Style::Python0 {
            self.out.extend(text.bytes());
        }
    }

    fn tuple(&mut self, items: &[Plain]) {
        let pair = items.len() == 2 && self.style != Style::Python0;
        self.out.extend(if pair { &b""[..] } else { b"(" });
        for item in items {
            self.save(item);
        }
        self.out.push(if pair { 0x86 } else { b't' });
    }

    /// Python's pickler writes a thousand items at once, and a single item in another way.
    fn fill_list(&mut self, items: &[Plain]) {
        for batch in items.chunks(if self.style == Style::Cpp { usize::MAX } else { 1000 }) {
            let single = batch.len() == 1 && self.style != Style::Cpp || self.style == Style::Python0;
            self.out.extend(if single { &b""[..] } else { b"(" });
            for item in batch {
                self.save(item);
                self.out.extend(if single { &b"a"[..] } else { b"" });
            }
            self.out.extend(if single { &b""[..] } else { b"e" });
        }
    }

    fn fill_dict(&mut self, entries: &[(Plain, Plain)]) {
        let single = self.style == Style::Python0 || entries.len() == 1 && self.style != Style::Cpp;
        self.out.extend(if single || entries.is_empty() { &b""[..] } else { b"(" });
        for (key, value) in entries {
            self.save(key);
            self.save(value);
            self.out.extend(if single { &b"s"[..] } else { b"" });
        }
        self.out.extend(if single || entries.is_empty() { &b""[..] } else { b"u" });
    }
}

/// The value as Python's `json.dumps` writes it.
pub(crate) fn json(value: &Plain) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    match value {
        Plain::None => "null".to_owned(),
        Plain::Bool(value) => value.to_string(),
        Plain::Int(value) => value.to_string(),
        Plain::Float(value) => format!("{value:?}"),
        Plain::Str(text) => serde_json::to_string(&**text).unwrap(),
        Plain::List(items) | Plain::Tuple(items) => format!("[{}]", join(items.iter().map(json).collect())),
        Plain::Dict(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", json(key), json(value)));
            format!("{{{}}}", join(entries.collect()))
        }
    }
}
