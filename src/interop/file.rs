//! Files: mapped to be read, and replaced at once.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

use crate::error::{Error, ErrorKind, Result};

/// A file in memory. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    path: PathBuf,
    held: Arc<Held>,
}

#[derive(Debug)]
enum Held {
    Mapped(Mmap),
    Read(Vec<u8>),
}

impl Bytes {
    /// A file that nobody changes meanwhile. It is mapped, or read if it cannot be mapped.
    pub(super) fn open(path: &Path) -> Result<Bytes> {
        let map = || -> io::Result<Held> {
            let file = File::open(path)?;
            // SAFETY: the bytes must stay as they are while they are mapped. This crate writes a new file and renames
            // it, which leaves a mapping alone. Callers must see to it that others do not change a file while it is
            // read; if one does, the values that are read are wrong.
            #[allow(unsafe_code)]
            let mapped = unsafe { Mmap::map(&file) };
            match mapped {
                Ok(mapped) => Ok(Held::Mapped(mapped)),
                Err(_) => Ok(Held::Read(std::fs::read(path)?)),
            }
        };
        match map() {
            Ok(held) => Ok(Bytes { path: path.into(), held: Arc::new(held) }),
            Err(error) => Err(refused(path, format_args!("cannot read it: {error}"))),
        }
    }

    /// An error about this file.
    pub(super) fn refused(&self, reason: impl fmt::Display) -> Error {
        refused(&self.path, reason)
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.held {
            Held::Mapped(mapped) => mapped,
            Held::Read(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// An error about a file.
pub(super) fn refused(path: &Path, reason: impl fmt::Display) -> Error {
    Error::new(ErrorKind::File, format!("{}: {reason}", path.display()))
}

/// An error of another kind, about a tensor of a file.
pub(super) fn within(path: &Path, name: Option<&str>, error: &Error) -> Error {
    let of = name.map(|name| format!("tensor '{name}': ")).unwrap_or_default();
    Error::new(error.kind(), format!("{}: {of}{}", path.display(), error.message()))
}

/// Writes a file. A reader sees the old one or the new one, never a part.
pub(super) fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    // A temporary file of this call alone, as others may write to the same path.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.{call}.part", std::process::id()));
    let part = path.with_file_name(name);
    let failed = |error: io::Error| refused(path, format_args!("cannot write it: {error}"));
    let run = || {
        let mut file = BufWriter::new(File::create(&part).map_err(failed)?);
        write(&mut file)?;
        file.flush().map_err(failed)?;
        drop(file);
        std::fs::rename(&part, path).map_err(failed)
    };
    run().inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}
