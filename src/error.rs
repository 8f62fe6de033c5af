//! The one error type: the values, the rule that refused them, and the remedy.

use std::cell::Cell;
use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The result of every fallible call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of mistake or failure an [`Error`] is.
///
/// ```
/// use zerostride::{Device, ErrorKind};
///
/// let device = Device::cpu();
/// let error = device.upload(&[1.0_f32; 5], [2, 3]).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Data);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Shapes do not fit each other under a rule, or a view of that shape does not exist.
    Shape,
    /// An axis or an index lies outside of its range.
    Axis,
    /// No operation of that name, or none for these types.
    Operation,
    /// Element types that an operation does not combine, another type than the caller named, or a value that a type
    /// cannot hold.
    Type,
    /// Host data does not have the length that the shape needs.
    Data,
    /// A file or a directory cannot be read or written, or violates its format.
    File,
    /// An element count, a byte size, a rank or an expression is larger than can be represented.
    Overflow,
    /// A destination visits an element twice.
    Alias,
    /// No adapter, no adapter of that name, or operands that live on different devices.
    Device,
    /// A buffer or a texture of the caller's that lacks a usage, bytes, or a format that tensors have.
    Resource,
    /// A limit or a missing feature of the adapter.
    Limit,
    /// The device or the host has no memory left for the request.
    Memory,
    /// A call that waits for a device, on a page of a browser, which must not wait. The message names the form that
    /// does not wait.
    Blocking,
    /// The device was lost; its tensors are gone.
    Lost,
    /// A kernel was refused by the validator or by the driver: a defect of this crate or of the driver.
    Kernel,
}

/// An error: values first, then the rule, then the remedy.
///
/// Expressions keep the first mistake that was made while they were built, with the source line
/// of that call, and return it when they are evaluated.
///
/// ```
/// use zerostride::Device;
///
/// let device = Device::cpu();
/// let a = device.zeros::<f32>([2, 3, 4])?;
/// let b = device.zeros::<f32>([2, 3, 6])?;
/// let error = (&a + &b).eval().unwrap_err();
/// assert_eq!(
///     error.message(),
///     "cannot broadcast [2, 3, 4] with [2, 3, 6]: axis 2 has lengths 4 and 6 (numpy rule)",
/// );
/// assert_eq!(error.location().map(|at| at.column()), Some(13));
/// # Ok::<(), zerostride::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    location: Option<&'static Location<'static>>,
    axis: Option<usize>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), location: None, axis: None }))
    }

    /// The error of a call that waits, where a form that does not wait exists.
    #[cold]
    pub(crate) fn blocking(form: &str, device: &str) -> Self {
        let text =
            format!("{form} waits for {device}, and a page of a browser must not wait: await {form}_async");
        Error::new(ErrorKind::Blocking, text)
    }

    /// The same error with the line of the call that made it, unless it already has one.
    pub(crate) fn at(mut self, location: &'static Location<'static>) -> Self {
        self.0.location.get_or_insert(location);
        self
    }

    /// What kind of mistake or failure this is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The text without the source line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The same error, of an axis.
    pub(crate) fn on_axis(mut self, axis: usize) -> Self {
        self.0.axis = Some(axis);
        self
    }

    /// The axis of the result, or of a rule's target, at which a rule refuses the shapes.
    ///
    /// ```
    /// let error = zerostride::Broadcast::NumPy.shape(&[2, 3, 4], &[2, 4]).unwrap_err();
    /// assert_eq!(error.axis(), Some(1));
    /// ```
    pub fn axis(&self) -> Option<usize> {
        self.0.axis
    }

    /// The call that made the mistake, for errors that an expression kept.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.location {
            Some(at) => write!(f, ", at {}:{}:{}", at.file(), at.line(), at.column()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

/// The line of a call.
pub(crate) type Line = &'static Location<'static>;

thread_local! {
    static LINE: Cell<Option<Line>> = const { Cell::new(None) };
}

/// The source line of the public call that this thread is inside of. Recorded work keeps it, so that a later error
/// names the call that recorded the work.
pub(crate) fn line() -> Option<Line> {
    LINE.get()
}

/// Does `work` inside of a public call. An error without a source line gets the call's. In nested calls that is the
/// outermost one, which is the user's.
pub(crate) fn called<T>(line: Line, work: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Outer(Option<Line>);
    impl Drop for Outer {
        fn drop(&mut self) {
            LINE.set(self.0);
        }
    }
    let outer = Outer(LINE.get());
    let line = outer.0.unwrap_or(line);
    LINE.set(Some(line));
    work().map_err(|error| error.at(line))
}

/// The error of the kernel that would have computed some elements. Every read returns it, until all of the elements are
/// written again.
#[derive(Debug, Default)]
pub(crate) struct Poison {
    is_set: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl Poison {
    /// Sets the error that every read returns from now on.
    pub(crate) fn set(&self, error: Error) {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        self.is_set.store(true, Ordering::Release);
    }

    /// Takes the error away.
    pub(crate) fn clear(&self) {
        self.is_set.store(false, Ordering::Release);
    }

    /// Returns the error, if the elements were not computed.
    pub(crate) fn check(&self) -> Result<()> {
        if !self.is_set.load(Ordering::Acquire) {
            return Ok(());
        }
        match &*self.error.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(error) => Err(error.clone()),
        }
    }
}

macro_rules! bail {
    ($kind:ident, $($text:tt)*) => {
        return Err($crate::error::Error::new($crate::error::ErrorKind::$kind, format!($($text)*)))
    };
}
pub(crate) use bail;
