//! Draws the state into a terminal of any size.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use report::render::clean;
use report::top::{Screen, ScreenLine, Tone, TopReport};

use super::keys::HELP;
use super::view::{Page, View};

/// The least lines for remarks; a higher terminal has more.
const FEW_REMARKS: usize = 2;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame, view: &mut View, has_colours: bool) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let lines = match view.page {
        Page::Processes => list_processes(view, width, height.saturating_sub(1)),
        Page::Process(pid) => scroll(view, describe_process(view, pid, width), height.saturating_sub(1)),
        Page::Help => scroll(view, list_help(width), height.saturating_sub(1)),
    };
    let mut rows: Vec<Line> = lines.into_iter().map(|row| paint(row, has_colours)).collect();
    rows.resize_with(height.saturating_sub(1), Line::default);
    rows.push(write_footer(view));
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(rows), Rect::new(0, 0, area.width, area.height));
}

/// A line, and true if it is selected.
type ScreenRow = (ScreenLine, bool);

fn list_processes(view: &View, width: usize, height: usize) -> Vec<ScreenRow> {
    let processes = view.list().cloned().collect();
    let screen = Screen::of(&TopReport { processes, ..view.report.clone() }, width);
    let most_remarks = FEW_REMARKS.max(height / 5);
    let gpus = limit(screen.gpus, (height / 2).max(2), "further GPUs: a higher terminal shows them");
    let remarks = limit(screen.remarks, if height < 12 { 0 } else { most_remarks }, "");
    let mut rows: Vec<ScreenRow> =
        gpus.into_iter().chain(remarks).chain(screen.heading).map(|line| (line, false)).collect();
    if !view.is_ready {
        return vec![(to_line(Tone::Quiet, "reading the GPUs …"), false)];
    }
    if height < 8 {
        // The figures of the processes matter more than the titles.
        rows.retain(|(line, _)| line.parts.first().is_some_and(|(tone, _)| *tone != Tone::Title));
    }
    let room = height.saturating_sub(rows.len());
    let chosen = view.position();
    let blocks = screen.processes.into_iter().enumerate();
    let below: Vec<Vec<ScreenRow>> = blocks
        .map(|(place, block)| {
            block.into_iter().enumerate().map(|(at, line)| (line, Some(place) == chosen && at == 0)).collect()
        })
        .collect();
    rows.extend(scroll_to(below, chosen.unwrap_or_default(), room));
    rows
}

/// The blocks around the chosen one, in so many lines.
fn scroll_to(blocks: Vec<Vec<ScreenRow>>, chosen: usize, room: usize) -> Vec<ScreenRow> {
    let lengths: Vec<usize> = blocks.iter().map(Vec::len).collect();
    let before: usize = lengths.iter().take(chosen).sum();
    let through = before + lengths.get(chosen).copied().unwrap_or_default();
    // The whole chosen block is visible, below as many blocks as fit.
    let mut start = through.saturating_sub(room);
    let mut border = 0;
    for length in lengths {
        if border >= start {
            break;
        }
        border += length;
    }
    start = border.min(before);
    blocks.into_iter().flatten().skip(start).take(room).collect()
}

fn limit(mut lines: Vec<ScreenLine>, most: usize, rest: &str) -> Vec<ScreenLine> {
    if lines.len() > most {
        let hidden = lines.len() - most.saturating_sub(1);
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            match rest {
                "" => last.parts.push((Tone::Alert, " …".to_owned())),
                rest => *last = to_line(Tone::Quiet, &format!("  … {hidden} {rest}")),
            }
        }
    }
    lines
}

fn describe_process(view: &View, pid: u32, width: usize) -> Vec<ScreenLine> {
    let processes = view.report.processes.iter().filter(|process| process.pid == pid).cloned().collect();
    let report = TopReport { processes, ..TopReport::default() };
    if report.processes.is_empty() {
        return vec![to_line(Tone::Alert, &format!("process {pid} has ended"))];
    }
    let command = report.processes.iter().find_map(|process| process.command.clone()).unwrap_or_default();
    let screen = Screen::of(&report, width);
    let mut lines: Vec<ScreenLine> =
        screen.heading.into_iter().skip(1).chain(screen.processes.into_iter().flatten()).collect();
    lines.push(ScreenLine::default());
    lines.extend(break_text(&command, width).map(|line| to_line(Tone::Quiet, &line)));
    lines.push(ScreenLine::default());
    match view.details.as_ref().filter(|details| details.pid == pid) {
        Some(details) => lines.extend(
            details.text.lines().flat_map(|line| break_text(line, width)).map(|line| to_line(Tone::Plain, &line)),
        ),
        None => lines.push(to_line(Tone::Quiet, "reading …")),
    }
    lines
}

fn break_text(text: &str, width: usize) -> impl Iterator<Item = String> {
    let letters: Vec<char> = clean(text).chars().collect();
    let lines: Vec<String> = letters.chunks(width.max(1)).map(|line| line.iter().collect()).collect();
    lines.into_iter()
}

fn list_help(width: usize) -> Vec<ScreenLine> {
    let write = |(keys, effect): &(&str, &str)| match width {
        0..60 => format!("{keys}: {effect}"),
        _ => format!("{keys:<22}{effect}"),
    };
    let title = [to_line(Tone::Title, "oomph top: the GPUs and their processes")];
    title.into_iter().chain(HELP.iter().map(|row| to_line(Tone::Plain, &write(row)))).collect()
}

fn scroll(view: &mut View, lines: Vec<ScreenLine>, height: usize) -> Vec<ScreenRow> {
    view.scroll = view.scroll.min(lines.len().saturating_sub(height));
    lines.into_iter().skip(view.scroll).take(height).map(|line| (line, false)).collect()
}

fn to_line(tone: Tone, text: &str) -> ScreenLine {
    ScreenLine { parts: vec![(tone, clean(text).into_owned())] }
}

fn paint((line, is_selected): ScreenRow, has_colours: bool) -> Line<'static> {
    let spans = line.parts.into_iter().map(|(tone, text)| Span::styled(text, style_of(tone, has_colours)));
    let painted = Line::from(spans.collect::<Vec<_>>());
    if is_selected { painted.patch_style(Modifier::REVERSED) } else { painted }
}

/// Blue and yellow differ in every common form of colour blindness; signs and words say the same.
fn style_of(tone: Tone, has_colours: bool) -> Style {
    let style = Style::default();
    match tone {
        Tone::Plain => style,
        Tone::Quiet => style.add_modifier(Modifier::DIM),
        Tone::Bar if has_colours => style.fg(Color::Blue),
        Tone::Alert if has_colours => style.fg(Color::Yellow).add_modifier(Modifier::BOLD),
        Tone::Title | Tone::Bar | Tone::Alert => style.add_modifier(Modifier::BOLD),
    }
}

fn write_footer(view: &View) -> Line<'static> {
    let text = if view.is_typing {
        format!("filter: {}▏ Enter keeps it, Esc clears it", view.filter)
    } else if let Some(message) = &view.message {
        message.clone()
    } else if let Some(problem) = &view.problem {
        format!("! no new figures: {problem}")
    } else if view.page != Page::Processes {
        "Esc back  up/down scroll  k end it  F10 quit".to_owned()
    } else if view.filter.is_empty() {
        "q quit  Enter open  / filter  s sort  k end it  h help".to_owned()
    } else {
        format!("filter: {}  Esc clears  q quit  Enter open  h help", view.filter)
    };
    Line::styled(clean(&text).into_owned(), Modifier::REVERSED)
}

#[cfg(test)]
mod tests;
