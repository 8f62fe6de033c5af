//! Compiled pipelines in files, on backends that export them: today Vulkan.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use super::connection::Connection;
use crate::error::{Result, bail};

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

impl DiskCache {
    /// The cache of a directory, with the data of an earlier process. `None` if the backend has no cache.
    pub(super) fn open(connection: &Connection, directory: &Path) -> Result<Option<DiskCache>> {
        if !connection.has(wgpu::Features::PIPELINE_CACHE) {
            return Ok(None);
        }
        if let Err(error) = fs::create_dir_all(directory) {
            bail!(File, "cannot keep pipelines in {}: {error}", directory.display());
        }
        let info = connection.device.adapter_info();
        let identity = hash((info.vendor, info.device, info.name, info.driver, info.driver_info));
        let file = directory.join(format!("{identity:016x}.pipelines"));
        let bytes = fs::read(&file).unwrap_or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                log::warn!("cannot read {}: {error}", file.display());
            }
            Vec::new()
        });
        let data = intact(&bytes, identity);
        if data.is_none() && !bytes.is_empty() {
            log::warn!("{} is of another version or damaged: it is written anew", file.display());
        }
        let descriptor = wgpu::PipelineCacheDescriptor { label: Some("zerostride"), data, fallback: true };
        // SAFETY: the data must be what `get_data` returned for the same adapter. Only `save` writes files of this
        // magic. The name and the checksum cover the adapter and its driver, and the checksum covers every byte. wgpu
        // and the driver check their own headers too.
        #[allow(unsafe_code)]
        let create = || unsafe { connection.device.create_pipeline_cache(&descriptor) };
        let (cache, _) = connection.tried("a cache of pipelines", create)?;
        Ok(Some(DiskCache { file, identity, cache }))
    }

    /// Writes the pipelines that were compiled since. A reader sees the old file or the new one, never a part.
    pub(super) fn save(&self) -> Result<()> {
        let Some(data) = self.cache.get_data() else { return Ok(()) };
        let checksum = hash((self.identity, data.as_slice())).to_le_bytes();
        let part = self.file.with_extension(format!("{}.part", std::process::id()));
        let write = || -> io::Result<()> {
            fs::write(&part, [MAGIC, &checksum, &data].concat())?;
            fs::rename(&part, &self.file)
        };
        match write() {
            Ok(()) => Ok(()),
            Err(error) => {
                let _ = fs::remove_file(&part);
                bail!(File, "cannot write pipelines to {}: {error}", self.file.display())
            }
        }
    }
}
