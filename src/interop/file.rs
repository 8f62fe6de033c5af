//! Files that are read by parts.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::files::{self, Reason};

/// A file that is open to be read, and a place in it. A clone has a place of its own.
#[derive(Clone, Debug)]
pub(super) struct Source {
    file: Arc<Mutex<fs::File>>,
    /// Bytes of the file when it was opened. No more are read.
    pub size: u64,
    at: u64,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Source> {
        let (file, found) = files::open(path)?;
        Ok(Source { file: Arc::new(Mutex::new(file)), size: found.len(), at: 0 })
    }

    /// The bytes from `from` to `to`, or to the end.
    pub(super) fn part(&self, from: u64, to: u64) -> Result<Vec<u8>, Reason> {
        let count = to.min(self.size).saturating_sub(from);
        taken(Source { at: from, ..self.clone() }, count)
    }
}

impl Read for Source {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let (at, size) = (self.at, self.size);
        let wanted = size.saturating_sub(at).min(to.len() as u64) as usize;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        let read = file.read(&mut to[..wanted])?;
        if read == 0 && wanted > 0 {
            let text = format!("it ends by byte {at}, and had {size} at first: leave it while it is read");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
        }
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Source {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// An error unless something holds.
pub(super) fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(reason().into()) }
}

/// As many bytes, or all that are left.
pub(super) fn taken(from: impl Read, count: u64) -> Result<Vec<u8>, Reason> {
    let (mut bytes, wanted) = (Vec::new(), usize::try_from(count).unwrap_or(usize::MAX));
    let none = |_| Error::new(ErrorKind::Memory, format!("no memory for {count} bytes"));
    bytes.try_reserve_exact(wanted).map_err(none)?;
    from.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}
