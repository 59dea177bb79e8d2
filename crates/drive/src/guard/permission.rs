//! Asks the kernel for a world, before a program needs one.

use std::process::{Child, Command, Stdio};

use base::Error;

use crate::guard::world::{World, WorldPlan};
use crate::run_folder::RunDir;

/// A process that enters a world: a refusal between two worlds must not hit the program. The process runs beside other preparations.
pub(crate) struct Permission {
    /// Dropped before the folders that it uses.
    child: Option<Waited>,
    world: World,
    _folder: RunDir,
}

/// A process that is waited for at the latest when the value is dropped.
struct Waited(Child);

impl Drop for Waited {
    fn drop(&mut self) {
        // A process that cannot be waited for has been waited for.
        let _: std::io::Result<std::process::ExitStatus> = self.0.wait();
    }
}

impl Permission {
    /// Starts the process.
    pub(crate) fn ask() -> Result<Permission, Error> {
        let folder = RunDir::make(None)?;
        let world = World::make(folder.path(), WorldPlan::default())?;
        let ourselves = std::env::current_exe().unwrap_or_default();
        let words = world.wrap(&[ourselves.into_os_string(), "--version".into()]);
        let mut words = words.into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Permission { child: command.spawn().ok().map(Waited), world, _folder: folder })
    }

    /// Waits for the process; returns the reason where the kernel refuses.
    pub(crate) fn find_refusal(mut self) -> Option<String> {
        let status = self.child.as_mut().and_then(|child| child.0.wait().ok());
        let has_worked = status.is_some_and(|status| status.success());
        let record = self.world.read_record();
        self.world.remove_in_background();
        let is_refused = !record.is_entered || !has_worked;
        is_refused.then(|| record.refusal.unwrap_or_else(|| "the kernel refused a namespace".to_owned()))
    }
}
