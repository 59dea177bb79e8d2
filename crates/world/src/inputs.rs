//! Opens inherited files again: a descriptor from outside leads around the layers (`/proc/self/fd/3` opens the real file).

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;

use nix::fcntl::{FcntlArg, fcntl};
use nix::unistd::close;

use crate::spec::Input;

/// Replaces each descriptor by one of this world, with the number and the position of before. A descriptor of another file is left alone,
/// a file without a name inside is closed.
pub(crate) fn open_again(inputs: &[Input], has_layers: bool) {
    for input in inputs.iter().filter(|_| has_layers).filter(|input| is_still_open(input)) {
        let opened = File::open(&input.path).and_then(|file| seek(file, input.offset));
        // The descriptor was inherited, and this process has no other use for it.
        let _: nix::Result<()> = close(input.number);
        if let Ok(file) = opened {
            // The lowest free number from the closed one on is the closed one.
            let _: nix::Result<i32> = fcntl(&file, FcntlArg::F_DUPFD(input.number));
        }
    }
}

fn seek(mut file: File, offset: u64) -> io::Result<File> {
    file.seek(SeekFrom::Start(offset)).map(|_| file)
}

/// True if the number is an open file with the name of the input.
fn is_still_open(input: &Input) -> bool {
    let descriptor = format!("/proc/self/fd/{}", input.number);
    fs::read_link(&descriptor).is_ok_and(|path| path == input.path)
        && fs::metadata(descriptor).is_ok_and(|it| it.is_file() && it.nlink() > 0)
}
