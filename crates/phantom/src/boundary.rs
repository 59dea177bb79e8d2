//! The border between C and Rust: parameter types, status types, and the macros that export functions.
//!
//! # Note [Out-parameters]
//!
//! A stub that returns success and writes nothing makes the caller read garbage from its stack: a workspace size read in this way
//! once asked for 87,990 GiB. There are three kinds of function, and no fourth:
//! - `export!`: behaviour. Out-parameters are [`Out`] and are set on every path that returns success.
//! - `inert!`: functions whose only effect is on device memory. They have no host outputs, so success is the truth.
//! - `absent!`: everything else. The call fails, prints its name the first time, and records it in the journal.
//!
//! # Note [Exports]
//!
//! No exported function is `unsafe`: its callers are C programs, for which the word has no meaning, and `api` would
//! otherwise consist of `unsafe` blocks. A pointer of a CUDA program arrives as [`In`] or [`Out`], which Rust can make
//! only from a reference. The header's contract (null, or valid for the stated number of elements) enters in this file
//! alone: at the `SAFETY` sentences below, and at [`In::array`] and [`Out::array`], which bind a pointer to the length
//! that the call states. Addresses that CUDA treats as numbers are `usize`; each `SAFETY` sentence of `values` and
//! `host` names the contract by which such an address is valid. The replaced functions of the C library (`files`,
//! `host`) take C's own pointers and are safe by the same rule: only C calls them.

use std::ffi::{CStr, c_char, c_void};
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
    /// Side effect of a failed call, e.g. setting the thread's last error.
    fn failed(self) {}
    /// Runs before the work of a function of this name, and may refuse the call.
    fn enter(_function: &'static str) -> Result<(), Self> {
        Ok(())
    }
}

/// Declares a status type: a newtype of `i32` with the codes of the library's header.
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
        #[allow(dead_code, reason = "the resolver reads only the driver's list")]
        pub(crate) const ABSENT: &[&str] = &[$(stringify!($name)),*];
        $(
            #[doc = concat!("`", stringify!($name), "`: not modelled; fails by name.")]
            #[unsafe(no_mangle)]
            pub extern "C" fn $name() -> $status {
                $crate::journal::record_missing(stringify!($name));
                <$status as $crate::boundary::Status>::UNSUPPORTED
            }
        )*
    };
}
pub(crate) use absent;

/// Runs the body of an exported function: errors become statuses, panics never leave.
pub(crate) fn answer<S: Status>(name: &'static str, body: impl FnOnce() -> Result<(), S>) -> S {
    let status = match catch_unwind(AssertUnwindSafe(|| S::enter(name).and_then(|()| body()))) {
        Ok(Ok(())) => return S::SUCCESS,
        Ok(Err(status)) => status,
        Err(_) => {
            crate::stderr::complain(&format!("internal error in {name}"));
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

// Derived, the bounds would ask for `T: Copy`; a pointer to any type is `Copy`.
impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<T> {}

impl<T> Out<T> {
    /// The pointer of a caller that does not want the answer.
    pub(crate) const NULL: Out<T> = Out(std::ptr::null_mut());

    /// Writes the answer; fails with `INVALID` if the caller passed null.
    pub(crate) fn set<S: Status>(self, value: T) -> Result<(), S> {
        if self.0.is_null() {
            return Err(S::INVALID);
        }
        self.set_if_wanted(value);
        Ok(())
    }

    /// Writes the value that `make` returns. If the caller passed null, fails with `INVALID` before calling `make`: memory allocated
    /// for a null pointer could never be freed.
    pub(crate) fn set_with<S: Status>(self, make: impl FnOnce() -> Result<T, S>) -> Result<(), S> {
        if self.0.is_null() {
            return Err(S::INVALID);
        }
        self.set(make()?)
    }

    /// Writes the answer unless the caller passed null: for outputs that the header calls optional.
    pub(crate) fn set_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the header's contract is that a non-null out-parameter points to writable room for one `T`; the
            // pointer may be unaligned inside a packed struct of the caller.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// Binds the pointer to a length: for out-parameters that are arrays. By the header's contract the caller's array has room for
    /// `length` elements, a number that the call states or the header fixes.
    pub(crate) fn array(self, length: usize) -> OutSlice<T> {
        OutSlice { first: self, length }
    }

    /// The first member of a structure, of type `U`.
    pub(crate) fn first_member<U>(self) -> Out<U> {
        const { assert!(size_of::<U>() <= size_of::<T>()) };
        Out(self.0.cast())
    }

    /// True if the caller passed null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An out-parameter that points to a value of ours: for calls between our own functions and for tests.
    pub fn to(value: &mut T) -> Out<T> {
        Out(value)
    }

    /// Points to the same address as another type: tests pass arrays by their first element, and bytes of any type.
    #[cfg(test)]
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }
}

impl Out<usize> {
    /// The same parameter with the type that the header of the function's other version states.
    pub(crate) fn other_version<U>(self) -> Out<U> {
        Out(self.0.cast())
    }
}

impl Out<c_void> {
    /// An attribute's value, whose type the header ties to the attribute's number.
    pub(crate) fn typed<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    /// An attribute's value that points to one of ours: for tests.
    pub fn to_value<U>(value: &mut U) -> Out<c_void> {
        Out((&raw mut *value).cast())
    }
}

impl<T: Copy> Out<T> {
    /// Reads the caller's value: for parameters that are both input and output.
    pub(crate) fn get<S: Status>(self) -> Result<T, S> {
        In(self.0.cast_const()).get()
    }
}

/// An array that the caller gave to be written: null, or room for `length` elements.
#[derive(Debug)]
pub(crate) struct OutSlice<T> {
    first: Out<T>,
    length: usize,
}

impl<T> OutSlice<T> {
    /// Writes the element at `index` unless the caller passed null; fails with `INVALID` past the end.
    pub(crate) fn set<S: Status>(&self, index: usize, value: T) -> Result<(), S> {
        if index >= self.length {
            return Err(S::INVALID);
        }
        if !self.first.is_null() {
            // SAFETY: `index` is below `length`, and `Out::array` says that the array has room for as many elements.
            unsafe { self.first.0.add(index).write_unaligned(value) }
        }
        Ok(())
    }

    /// Writes `values` from the start on; fails with `INVALID` if there are more than elements.
    pub(crate) fn write<S: Status>(&self, values: impl IntoIterator<Item = T>) -> Result<(), S> {
        values.into_iter().enumerate().try_for_each(|(index, value)| self.set(index, value))
    }
}

impl OutSlice<u8> {
    /// The same bytes as elements of type `U`, as many as fit.
    pub(crate) fn typed<U>(&self) -> OutSlice<U> {
        OutSlice { first: Out(self.first.0.cast()), length: self.length / size_of::<U>() }
    }
}

impl<T: Copy> OutSlice<T> {
    /// Reads the caller's elements.
    pub(crate) fn to_vec<S: Status>(&self) -> Result<Vec<T>, S> {
        In(self.first.0.cast_const()).array(self.length).to_vec()
    }
}

/// An in-parameter: null, or one `T`.
#[repr(transparent)]
#[derive(Debug)]
pub struct In<T>(*const T);

// Derived, the bounds would ask for `T: Copy`; a pointer to any type is `Copy`.
impl<T> Clone for In<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<T> {}

impl<T: Copy> In<T> {
    /// Reads the value; fails with `INVALID` if the caller passed null.
    pub(crate) fn get<S: Status>(self) -> Result<T, S> {
        self.array(1).get(0)
    }

    /// Binds the pointer to a length: for in-parameters that are arrays. By the header's contract the caller's array has `length`
    /// elements, a number that the call states or the header fixes.
    pub(crate) fn array(self, length: usize) -> InSlice<T> {
        InSlice { first: self, length }
    }

    /// True if the caller passed null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// An in-parameter that points to a value of ours.
    pub fn to(value: &T) -> In<T> {
        In(value)
    }

    /// Points to the same address as another type: tests pass arrays by their first element, and bytes of any type.
    #[cfg(test)]
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

/// An array that the caller gave to be read: null, or `length` elements.
#[derive(Debug)]
pub(crate) struct InSlice<T> {
    first: In<T>,
    length: usize,
}

impl<T: Copy> InSlice<T> {
    /// Reads the element at `index`; fails with `INVALID` past the end and if the caller passed null.
    pub(crate) fn get<S: Status>(&self, index: usize) -> Result<T, S> {
        if self.first.is_null() || index >= self.length {
            return Err(S::INVALID);
        }
        // SAFETY: `index` is below `length`, and `In::array` says that the array has as many elements.
        Ok(unsafe { self.first.0.add(index).read_unaligned() })
    }

    /// Reads the first elements into `target`; fails with `INVALID` if there are fewer, or if the caller passed null.
    pub(crate) fn read<S: Status>(&self, target: &mut [T]) -> Result<(), S> {
        target.iter_mut().enumerate().try_for_each(|(index, element)| self.get(index).map(|value| *element = value))
    }

    /// Reads all elements.
    pub(crate) fn to_vec<S: Status>(&self) -> Result<Vec<T>, S> {
        (0..self.length).map(|index| self.get(index)).collect()
    }
}

impl InSlice<u8> {
    /// The same bytes as elements of type `U`, as many as fit.
    pub(crate) fn typed<U>(&self) -> InSlice<U> {
        InSlice { first: In(self.first.0.cast()), length: self.length / size_of::<U>() }
    }
}

impl In<c_char> {
    /// Reads a C string, invalid UTF-8 replaced; `None` if the caller passed null.
    pub(crate) fn text(self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the header's contract is that a non-null string parameter ends in a NUL byte.
        Some(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// Writes a text into a caller's buffer, cut to fit and always ended by NUL. No buffer is `INVALID`.
pub(crate) fn write_text<S: Status>(buffer: Out<c_char>, length: usize, text: &str) -> Result<(), S> {
    if buffer.is_null() || length == 0 {
        return Err(S::INVALID);
    }
    let bytes = text.bytes().take(length - 1).chain([0]);
    buffer.array(length).write(bytes.map(|byte| byte as c_char))
}

/// A C string that lives as long as the process.
pub(crate) const fn literal(text: &'static CStr) -> *const c_char {
    text.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::driver::DriverStatus;

    #[test]
    fn nothing_past_the_stated_length_is_read_or_written() {
        let mut room = [7_u8; 4];
        let array = Out::to(&mut room).cast::<u8>().array(2);
        assert_eq!(array.write::<DriverStatus>([1, 2, 3]), Err(DriverStatus::INVALID));
        assert_eq!(room, [1, 2, 7, 7]);
        let array = In::to(&room).cast::<u8>().array(2);
        assert_eq!((array.get::<DriverStatus>(1), array.get::<DriverStatus>(2)), (Ok(2), Err(DriverStatus::INVALID)));
        assert_eq!(array.typed::<u32>().to_vec::<DriverStatus>(), Ok(Vec::new()), "four bytes do not fit into two");
    }

    #[test]
    fn texts_are_cut_to_the_buffer() {
        for (length, expected) in [(5, *b"abc\0x"), (3, *b"ab\0xx"), (1, *b"\0xxxx")] {
            let mut room = *b"xxxxx";
            assert_eq!(write_text::<DriverStatus>(Out::to(&mut room).cast(), length, "abc"), Ok(()));
            assert_eq!(room, expected, "{length}");
        }
    }
}
