//! What files are to the operating system: kinds, owners, permissions, names.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{
    decode_path, has_other_names, is_pipe, keep_owner, name_other_kind, resolve, set_usual_permissions, spell_path,
    takes_output,
};
#[cfg(windows)]
pub(crate) use self::windows::{
    decode_path, has_other_names, is_pipe, keep_owner, name_other_kind, resolve, set_usual_permissions, spell_path,
    takes_output,
};
