//! Files: regular ones are opened, and replaced at once.

use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::{fmt, iter};

use crate::error::{Error, ErrorKind, Result};

/// Why a file is refused: an error of this crate, which keeps its kind, another error or a text.
pub(crate) type Reason = Box<dyn std::error::Error + Send + Sync>;

/// An error about a file, or about a tensor in it.
pub(crate) fn about(what: impl fmt::Display, reason: impl Into<Reason>) -> Error {
    let reason = reason.into();
    match reason.downcast_ref::<Error>() {
        Some(own) => Error::new(own.kind(), format!("{what}: {}", own.message())),
        None => Error::new(ErrorKind::File, format!("{what}: {reason}")),
    }
}

/// The metadata of a regular file. Other kinds have no size, and may have no end.
fn regular(found: Metadata) -> io::Result<Metadata> {
    let other = "it is a directory, a pipe or a device, and no regular file";
    if found.is_file() { Ok(found) } else { Err(io::Error::other(other)) }
}

/// Opens a regular file to be read.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata)> {
    let open = || {
        // Before it is opened, as opening a device may change it. Afterwards, as the name may be another file's then, such
        // as a pipe's, for whose writer no open waits.
        regular(fs::metadata(path)?)?;
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.read(true).open(path)?;
        let found = regular(file.metadata()?)?;
        Ok((file, found))
    };
    open().map_err(|error: io::Error| about("cannot read it", error))
}

/// A new file beside another, of a name that nobody can foresee. A `private` one is the user's alone, on Unix.
#[cfg_attr(not(unix), allow(unused_variables))]
pub(crate) fn part(beside: &Path, private: bool) -> io::Result<(PathBuf, File)> {
    let number = RandomState::new().build_hasher().finish();
    let path = beside.with_file_name(format!(".zerostride-{number:016x}.part"));
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o666 });
    let file = options.write(true).create_new(true).open(&path)?;
    Ok((path, file))
}

/// A temporary file, which is gone when this is dropped: renamed, or removed after an error or a panic.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Writes a file. A reader sees the old one or the new one, never a part, even if the system stops. A symbolic link
/// stays, and the file that it names is replaced. The file's mode stays too, unless it becomes `private`.
pub(crate) fn replace(
    path: &Path,
    private: bool,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), Reason>,
) -> Result<()> {
    // Linux follows as many links. Of more, it has no metadata.
    let next = |at: &PathBuf| fs::read_link(at).ok().map(|link| at.with_file_name(link));
    let target = iter::successors(Some(path.to_path_buf()), next).take(41).last().unwrap_or_default();
    let replace = || {
        let old = match fs::metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(regular(found?)?),
        };
        let (part, file) = part(&target, private || old.is_some())?;
        let part = Part(part);
        #[cfg(unix)]
        if let Some(old) = old.filter(|_| !private) {
            file.set_permissions(old.permissions())?;
        }
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        drop(file);
        Ok(fs::rename(&part.0, &target)?)
    };
    replace().map_err(|reason: Reason| match reason.is::<Error>() {
        true => about(path.display(), reason),
        false => about(path.display(), about("cannot write it", reason)),
    })
}
