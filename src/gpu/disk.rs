//! Compiled pipelines in files, on backends that export them: today Vulkan.

use std::fs::{self, DirBuilder, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::connection::Connection;
use crate::error::Result;
use crate::files::{self, Reason, about};

/// The begin of a file, before the checksum.
const MAGIC: &[u8] = b"zerostride pipelines 1\n";

/// The cache that pipelines are compiled with, and its file.
#[derive(Clone, Debug)]
pub(super) struct DiskCache {
    file: PathBuf,
    identity: u64,
    pub cache: wgpu::PipelineCache,
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The data that [`save`](DiskCache::save) wrote, if its key and checksum are right.
fn intact(bytes: &[u8], identity: u64) -> Option<&[u8]> {
    let (checksum, data) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*checksum) == hash((identity, data))).then_some(data)
}

/// Refuses a folder or a file that others can write. `own` is a file that this process made. Elsewhere than on Unix, a
/// folder inside of a user's own is that user's by default.
#[cfg_attr(not(unix), allow(unused_variables))]
fn is_own(found: &Metadata, own: &Metadata) -> Result<(), Reason> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let (owner, user, mode) = (found.uid(), own.uid(), found.mode() & 0o777);
        if owner != user || mode & 0o022 != 0 {
            let own = format!("user {owner} with mode {mode:o}, and only user {user} may write it");
            return Err(format!("it belongs to {own}: remove it, or name another folder").into());
        }
    }
    Ok(())
}

/// Makes a folder of the user's own. Returns the metadata of a file that this process made in it.
fn own_folder(directory: &Path) -> Result<Metadata, Reason> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(directory)?;
    let (part, file) = files::part(&directory.join("probe"), true)?;
    let own = file.metadata();
    fs::remove_file(part)?;
    let own = own?;
    is_own(&fs::metadata(directory)?, &own)?;
    Ok(own)
}

/// The bytes of a file of the user's own, none if it is missing.
fn read(file: &Path, own: &Metadata) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    if file.exists() {
        let (mut file, found) = files::open(file)?;
        is_own(&found, own)?;
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl DiskCache {
    /// The cache of a directory, with the data of an earlier process. `None` if the backend has no cache.
    pub(super) fn open(connection: &Connection, directory: &Path) -> Result<Option<DiskCache>> {
        if !connection.has(wgpu::Features::PIPELINE_CACHE) {
            return Ok(None);
        }
        let told = |path: &Path, reason| about(path.display(), about("cannot keep pipelines there", reason));
        let own = own_folder(directory).map_err(|reason| told(directory, reason))?;
        let info = connection.device.adapter_info();
        let identity = hash((info.vendor, info.device, info.name, info.driver, info.driver_info));
        let file = directory.join(format!("{identity:016x}.pipelines"));
        let bytes = read(&file, &own).map_err(|reason| told(&file, reason))?;
        let data = intact(&bytes, identity);
        if data.is_none() && !bytes.is_empty() {
            log::warn!("{} is of another version or damaged: it is written anew", file.display());
        }
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("zerostride"), data, fallback: true };
        // SAFETY: the data must be what `get_data` returned. `save` writes that and nothing else. The checksum finds
        // damage, and the name another adapter or driver. Neither has a key, so neither stops a forger. On Unix only
        // this user, or the system's, can have written the opened file: its owner and its mode were checked after it
        // was opened, whatever the folders above. On Windows, callers name a folder of the user's own, as
        // `Device::cache_pipelines` tells them. Against programs of the same user there is no proof: they can change
        // this program itself.
        #[allow(unsafe_code)]
        let create = || unsafe { connection.device.create_pipeline_cache(&descriptor) };
        let (cache, _) = connection.tried("a cache of pipelines", create)?;
        Ok(Some(DiskCache { file, identity, cache }))
    }

    /// Writes the pipelines that were compiled since.
    pub(super) fn save(&self) -> Result<()> {
        let Some(data) = self.cache.get_data() else { return Ok(()) };
        let checksum = hash((self.identity, data.as_slice())).to_le_bytes();
        let parts = [MAGIC, &checksum, &data];
        files::replace(&self.file, true, |file| Ok(parts.iter().try_for_each(|part| file.write_all(part))?))
    }
}
