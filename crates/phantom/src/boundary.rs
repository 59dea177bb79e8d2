//! Where C meets Rust: parameter types, status types, and the macros that export functions.
//!
//! # Note [Out-parameters]
//!
//! A stub that returns success and writes nothing makes the caller read what happened to lie on its stack: one such
//! workspace size once asked for 87,990 GiB. So there are three kinds of function, and no fourth:
//! - `export!`: behaviour. Out-parameters are [`Out`] and are set on every path that returns success.
//! - `inert!`: functions whose only effect is on device memory. They have no host outputs, so success is the truth.
//! - `absent!`: everything else. The call fails, prints its name once, and notes it in the journal.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A status as a C library returns it: zero is success.
pub trait Status: Copy {
    /// Success.
    const SUCCESS: Self;
    /// A parameter is wrong: null where something was needed, an unknown handle, a size out of range.
    const INVALID: Self;
    /// The phantom itself failed.
    const INTERNAL: Self;
    /// The function exists in CUDA and not here.
    const UNSUPPORTED: Self;
    /// What else happens when a call fails, e.g. setting the thread's last error.
    fn failed(self) {}
}

/// Declares a status type: an `i32` of its own, with the codes the library's header gives.
macro_rules! status {
    ($(#[$meta:meta])* $name:ident { success: $success:expr, invalid: $invalid:expr, internal: $internal:expr, unsupported: $unsupported:expr }) => {
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub i32);

        impl $crate::boundary::Status for $name {
            const SUCCESS: Self = $name($success);
            const INVALID: Self = $name($invalid);
            const INTERNAL: Self = $name($internal);
            const UNSUPPORTED: Self = $name($unsupported);
        }
    };
}
pub(crate) use status;

/// Exports functions with behaviour. Each body is a `Result<(), Status>`; a panic inside becomes `INTERNAL`.
macro_rules! export {
    ($status:ty; $( $(#[$meta:meta])* fn $name:ident ( $($arg:ident : $ty:ty),* $(,)? ) $body:block )*) => {
        $(
            $(#[$meta])*
            #[doc = concat!("`", stringify!($name), "`, as CUDA's header declares it.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name($($arg: $ty),*) -> $status {
                $crate::boundary::answer::<$status>(stringify!($name), move || $body)
            }
        )*
    };
}
pub(crate) use export;

/// Exports functions whose only effect would be on device memory. See Note [Out-parameters].
macro_rules! inert {
    ($status:ty; $($name:ident)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: computes on the device only, so nothing is done.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> $status {
                <$status as $crate::boundary::Status>::SUCCESS
            }
        )*
    };
}
pub(crate) use inert;

/// Exports functions that the phantom lacks: they fail by name. See Note [Out-parameters]. `ABSENT` lists them.
macro_rules! absent {
    ($status:ty; $($name:ident)*) => {
        /// The functions of this library that fail by name.
        pub const ABSENT: &[&str] = &[$(stringify!($name)),*];
        $(
            #[doc = concat!("`", stringify!($name), "`: not modelled; fails by name.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> $status {
                $crate::journal::missing(stringify!($name));
                <$status as $crate::boundary::Status>::UNSUPPORTED
            }
        )*
    };
}
pub(crate) use absent;

/// Runs the body of an exported function: errors become statuses, panics never leave.
pub fn answer<S: Status>(name: &'static str, body: impl FnOnce() -> Result<(), S>) -> S {
    let status = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return S::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            crate::journal::complain(&format!("internal error in {name}"));
            S::INTERNAL
        }
    };
    status.failed();
    status
}

/// An out-parameter: null, or room for one `T`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Out<T>(*mut T);

// Derived, these would ask for `T: Copy`; a pointer is `Copy` whatever it points to.
impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// Writes the answer; fails with `INVALID` where the caller passed null.
    pub fn set<S: Status>(self, value: T) -> Result<(), S> {
        if self.0.is_null() {
            return Err(S::INVALID);
        }
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes what `make` gives; where the caller passed null, fails with `INVALID` and makes nothing: memory that was
    /// made for nobody could never be given back.
    pub fn set_with<S: Status>(self, make: impl FnOnce() -> Result<T, S>) -> Result<(), S> {
        if self.0.is_null() {
            return Err(S::INVALID);
        }
        self.set(make()?)
    }

    /// Writes the answer unless the caller passed null: for outputs that the header calls optional.
    pub fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the header's contract is that a non-null out-parameter points to writable room for one `T`;
            // it may be unaligned when it lies in a packed struct of the caller.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// Writes the `index`-th of several: for out-parameters that are arrays whose length the call states.
    pub fn set_at(self, index: usize, value: T) {
        if !self.0.is_null() {
            // SAFETY: the header's contract is that the array has as many elements as the call states, and every
            // caller in this crate passes an `index` below that count.
            unsafe { self.0.add(index).write_unaligned(value) }
        }
    }

    /// The same room, seen as another type: for attributes whose type depends on a selector.
    pub fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// Whether the caller passed null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An out-parameter that points to a value of ours: for calls between our own functions and for tests.
    pub fn to(value: &mut T) -> Out<T> {
        Out(value)
    }
}

impl<T: Copy> Out<T> {
    /// Reads what the caller had put there: for parameters that are both input and output.
    pub fn get<S: Status>(self) -> Result<T, S> {
        In(self.0.cast_const()).get()
    }
}

/// An in-parameter: null, or one `T` (or the first of several).
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

// Derived, these would ask for `T: Copy`; a pointer is `Copy` whatever it points to.
impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Reads it; fails with `INVALID` where the caller passed null.
    pub fn get<S: Status>(self) -> Result<T, S> {
        self.at(0)
    }

    /// Reads the `index`-th of several.
    pub fn at<S: Status>(self, index: usize) -> Result<T, S> {
        if self.0.is_null() {
            return Err(S::INVALID);
        }
        // SAFETY: the header's contract is that a non-null in-parameter points to as many `T` as the call states, and
        // every caller in this crate passes an `index` below that count.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    /// Reads the first `count`.
    pub fn to_vec<S: Status>(self, count: usize) -> Result<Vec<T>, S> {
        (0..count).map(|index| self.at(index)).collect()
    }

    /// The same place, seen as another type.
    pub fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }

    /// Whether the caller passed null.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An in-parameter that points to a value of ours.
    pub fn to(value: &T) -> In<T> {
        In(value)
    }
}

impl In<c_char> {
    /// Reads a C string, invalid UTF-8 replaced; `None` where the caller passed null.
    pub fn text(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the header's contract is that a non-null string parameter ends in a NUL byte.
        Some(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// A buffer the caller gave with its length: text is cut to fit and always ends in NUL. No buffer is `INVALID`.
pub fn write_text<S: Status>(buffer: Out<c_char>, length: usize, text: &str) -> Result<(), S> {
    if buffer.is_null() || length == 0 {
        return Err(S::INVALID);
    }
    let bytes = text.as_bytes();
    let kept = bytes.len().min(length - 1);
    for (index, byte) in bytes[..kept].iter().enumerate() {
        buffer.set_at(index, *byte as c_char);
    }
    buffer.set_at(kept, 0);
    Ok(())
}

/// A C string that lives as long as the process.
pub const fn literal(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}
