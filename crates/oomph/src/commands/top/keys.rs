//! The keys, as in htop where it has them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::view::{Order, Page, View};

/// The help, a key and its effect in each row.
pub(super) const HELP: [(&str, &str); 12] = [
    ("up, down, PgUp, PgDn", "select a process"),
    ("Home, End", "the first, the last"),
    ("Enter", "open the process: its memory by line"),
    ("Esc, q in a page", "back"),
    ("M  P  U  N  G  E", "sort by memory, GPU use, CPU, number, GPU, time to the error"),
    ("F6, s", "the next order"),
    ("/, F3, F4", "filter by number, user, command; Esc clears"),
    ("k, F9", "show the command that would end the process"),
    ("r", "draw again"),
    ("h, ?, F1", "this help"),
    ("q, F10, Ctrl-C", "end"),
    ("", "oomph ends no process: run the shown command yourself"),
];

/// The effect of a key on the rest of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyEffect {
    None,
    /// Another process is open, or none.
    Open(Option<u32>),
    Redraw,
    End,
}

/// Handles a key.
pub(super) fn press(view: &mut View, key: KeyEvent) -> KeyEffect {
    view.message = None;
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c' | 'd') => KeyEffect::End,
            KeyCode::Char('l') => KeyEffect::Redraw,
            _ => KeyEffect::None,
        };
    }
    if view.is_typing {
        type_filter(view, key.code);
        return KeyEffect::None;
    }
    match view.page {
        Page::Processes => press_in_list(view, key.code),
        Page::Process(_) | Page::Help => press_in_page(view, key.code),
    }
}

fn type_filter(view: &mut View, code: KeyCode) {
    match code {
        KeyCode::Char(letter) => view.filter.push(letter),
        KeyCode::Backspace => drop(view.filter.pop()),
        KeyCode::Enter => view.is_typing = false,
        KeyCode::Esc => {
            view.filter.clear();
            view.is_typing = false;
        }
        _ => {}
    }
    view.sort();
}

fn press_in_list(view: &mut View, code: KeyCode) -> KeyEffect {
    match code {
        KeyCode::Char('q') | KeyCode::F(10) => return KeyEffect::End,
        KeyCode::Char('r') => return KeyEffect::Redraw,
        KeyCode::Enter => return open(view),
        KeyCode::Char('h' | '?') | KeyCode::F(1) => (view.page, view.scroll) = (Page::Help, 0),
        KeyCode::Char('/') | KeyCode::F(3 | 4) => view.is_typing = true,
        KeyCode::Char('k') | KeyCode::F(9) => show_command(view),
        KeyCode::Esc => view.filter.clear(),
        code => {
            if let Some(by) = distance(code) {
                view.select(by);
            } else if let Some(order) = find_order(view.order, code) {
                view.order = order;
                view.message = Some(format!("sorted by {}", name(order)));
            }
        }
    }
    view.sort();
    KeyEffect::None
}

fn press_in_page(view: &mut View, code: KeyCode) -> KeyEffect {
    match code {
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Left | KeyCode::Enter | KeyCode::Char('q') => {
            (view.page, view.details) = (Page::Processes, None);
            return KeyEffect::Open(None);
        }
        KeyCode::F(10) => return KeyEffect::End,
        KeyCode::Char('r') => return KeyEffect::Redraw,
        KeyCode::Char('k') | KeyCode::F(9) => show_command(view),
        code => {
            if let Some(by) = distance(code) {
                view.scroll = view.scroll.saturating_add_signed(by);
            }
        }
    }
    KeyEffect::None
}

/// The rows that a key moves by.
fn distance(code: KeyCode) -> Option<isize> {
    Some(match code {
        KeyCode::Up => -1,
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::PageUp => -10,
        KeyCode::PageDown | KeyCode::Char(' ') => 10,
        KeyCode::Home => isize::MIN,
        KeyCode::End => isize::MAX,
        _ => return None,
    })
}

fn open(view: &mut View) -> KeyEffect {
    let Some(pid) = view.selected().map(|process| process.pid) else { return KeyEffect::None };
    (view.page, view.scroll, view.details) = (Page::Process(pid), 0, None);
    KeyEffect::Open(Some(pid))
}

fn show_command(view: &mut View) {
    let Some(pid) = view.selected().map(|process| process.pid) else { return };
    let command = format!("kill {pid}");
    view.message = Some(format!("to end it, run: {command}    (kill -9 {pid} if it goes on)"));
    if !view.commands.contains(&command) {
        view.commands.push(command);
    }
}

const ORDERS: [(Order, char, &str); 6] = [
    (Order::Gpu, 'G', "GPU"),
    (Order::Memory, 'M', "memory"),
    (Order::Busy, 'P', "GPU use"),
    (Order::Cpu, 'U', "CPU"),
    (Order::Pid, 'N', "process number"),
    (Order::Error, 'E', "time to the error"),
];

fn find_order(now: Order, code: KeyCode) -> Option<Order> {
    if code == KeyCode::F(6) || code == KeyCode::Char('s') {
        let place = ORDERS.iter().position(|(order, ..)| *order == now)?;
        return Some(ORDERS[(place + 1) % ORDERS.len()].0);
    }
    ORDERS.iter().find(|(_, key, _)| code == KeyCode::Char(*key)).map(|(order, ..)| *order)
}

fn name(order: Order) -> &'static str {
    ORDERS.iter().find(|(known, ..)| *known == order).map_or("", |(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use report::top::{TopProcess, TopReport};

    use super::*;

    fn press_all(codes: &[KeyCode]) -> (View, KeyEffect) {
        let process =
            |pid| TopProcess { pid, gpu: Some(0), command: Some("python".to_owned()), ..TopProcess::default() };
        let report = TopReport { processes: (1..=30).map(process).collect(), ..TopReport::default() };
        let mut view = View { report, ..View::default() };
        view.sort();
        let mut effect = KeyEffect::None;
        for &code in codes {
            effect = press(&mut view, KeyEvent::new(code, KeyModifiers::NONE));
        }
        (view, effect)
    }

    #[test]
    fn keys_move_the_selection() {
        use KeyCode::{Down, End, Home, PageDown, Up};
        let cases: [(&[KeyCode], u32); 5] =
            [(&[Down, Down], 3), (&[Up], 1), (&[PageDown, Up], 10), (&[End], 30), (&[End, Home, Down], 2)];
        for (codes, expected) in cases {
            assert_eq!(press_all(codes).0.selected, Some((expected, Some(0))), "{codes:?}");
        }
    }

    #[test]
    fn a_process_opens_and_closes() {
        let (view, effect) = press_all(&[KeyCode::Down, KeyCode::Enter]);
        assert_eq!((view.page, effect), (Page::Process(2), KeyEffect::Open(Some(2))));
        let (view, effect) = press_all(&[KeyCode::Down, KeyCode::Enter, KeyCode::Char('q')]);
        assert_eq!((view.page, effect), (Page::Processes, KeyEffect::Open(None)));
        assert_eq!(press_all(&[KeyCode::Char('q')]).1, KeyEffect::End);
        assert_eq!(press_all(&[KeyCode::F(1), KeyCode::F(10)]).1, KeyEffect::End);
    }

    #[test]
    fn letters_are_the_filters_while_it_is_typed() {
        let codes = [KeyCode::Char('/'), KeyCode::Char('q'), KeyCode::Char('M'), KeyCode::Backspace, KeyCode::Enter];
        let (view, effect) = press_all(&codes);
        assert_eq!(
            (view.filter.as_str(), view.is_typing, view.order, effect),
            ("q", false, Order::Gpu, KeyEffect::None)
        );
        assert_eq!(press_all(&[KeyCode::Char('/'), KeyCode::Char('x'), KeyCode::Esc]).0.filter, "");
    }

    #[test]
    fn every_order_is_reached_by_its_key_and_in_turn() {
        for (order, key, _) in ORDERS {
            assert_eq!(press_all(&[KeyCode::Char(key)]).0.order, order);
        }
        assert_eq!(press_all(&[KeyCode::F(6); 6]).0.order, Order::Gpu);
        assert_eq!(press_all(&[KeyCode::Char('s')]).0.order, Order::Memory);
    }

    #[test]
    fn a_command_is_shown_once_and_nothing_ends() {
        let (view, effect) = press_all(&[KeyCode::Char('k'), KeyCode::F(9)]);
        assert_eq!((view.commands, effect), (vec!["kill 1".to_owned()], KeyEffect::None));
    }
}
