//! The terminal: its mode, the keys, and the moments at which the screen is drawn.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use drive::machine::Monitor;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::keys::{KeyEffect, press};
use super::sampler::Sampler;
use super::screen::draw;
use super::view::View;
use crate::environment::is_colour_unwanted;
use crate::error::Error;

/// The time for which keys are waited for before new figures are looked for.
const PATIENCE: Duration = Duration::from_millis(100);

/// True while the terminal shows the screen.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// Restores the terminal if the screen is shown: a signal ends oomph in another thread.
pub(crate) fn leave_screen() {
    if IS_SHOWN.swap(false, Ordering::SeqCst) {
        ratatui::restore();
    }
}

/// Shows the machine until the user ends it. Returns the commands that the user asked for, a line each.
pub(super) fn show(monitor: Monitor, interval: Duration) -> Result<String, Error> {
    let sampler = Sampler::start(monitor, interval);
    let mut terminal = ratatui::try_init().map_err(Error::Terminal)?;
    IS_SHOWN.store(true, Ordering::SeqCst);
    let mut view = View::default();
    let ended = follow(&mut terminal, &sampler, &mut view);
    leave_screen();
    ended.map_err(Error::Terminal)?;
    Ok(view.commands.into_iter().flat_map(|command| [command, "\n".to_owned()]).collect())
}

fn follow(terminal: &mut DefaultTerminal, sampler: &Sampler, view: &mut View) -> io::Result<()> {
    let has_colours = !is_colour_unwanted();
    let mut is_stale = true;
    loop {
        if let Some(sample) = sampler.take() {
            view.take(sample);
            is_stale = true;
        }
        if is_stale {
            terminal.draw(|frame| draw(frame, view, has_colours))?;
        }
        is_stale = event::poll(PATIENCE)?;
        if !is_stale {
            continue;
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match press(view, key) {
                KeyEffect::End => return Ok(()),
                KeyEffect::Open(pid) => sampler.open(pid),
                KeyEffect::Redraw => terminal.clear()?,
                KeyEffect::None => {}
            },
            _ => {}
        }
    }
}
