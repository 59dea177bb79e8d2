//! The views of a case's devices, each built at its first use and kept.

use std::cell::RefCell;
use std::rc::Rc;

use trace::{DeviceIndex, Process};

use super::view::View;

/// The views that were needed so far.
#[derive(Debug, Default)]
pub(crate) struct Views<'a> {
    built: RefCell<Vec<Rc<View<'a>>>>,
}

impl<'a> Views<'a> {
    /// Returns the view of a device of a process.
    pub(crate) fn find(&self, process: &'a Process, device: DeviceIndex) -> Rc<View<'a>> {
        let mut built = self.built.borrow_mut();
        let is_wanted = |view: &&Rc<View>| std::ptr::eq(view.trace.process, process) && view.trace.device == device;
        if let Some(view) = built.iter().find(is_wanted) {
            return Rc::clone(view);
        }
        let view = Rc::new(View::new(process, device));
        built.push(Rc::clone(&view));
        view
    }

    /// Returns the view of each device that the process used.
    pub(crate) fn list(&self, process: &'a Process) -> impl Iterator<Item = Rc<View<'a>>> {
        process.devices().into_iter().map(|device| self.find(process, device))
    }
}
