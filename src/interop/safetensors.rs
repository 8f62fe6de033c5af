//! Files of safetensors: tensors by name, with their types, `bf16` and `f16` included.
//!
//! A file is mapped, so a part of a large file is read without the rest. Nobody may change it meanwhile. Its header is
//! checked against the file's size before memory is taken. The format is that of
//! <https://github.com/huggingface/safetensors>.
//!
//! ```
//! use zerostride::{Device, bf16, safetensors};
//!
//! let device = Device::cpu();
//! let weight = device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
//! let path = std::env::temp_dir().join("zerostride-example.safetensors");
//! safetensors::write(&path, [("weight", weight.cast::<bf16>()), ("turned", weight.cast::<bf16>().transpose(0, 1))])?;
//!
//! let file = safetensors::File::open(&path)?;
//! assert_eq!(file.names().collect::<Vec<_>>(), ["turned", "weight"]);
//! let turned = file.read("turned", &device)?;
//! assert_eq!(turned.to_vec::<bf16>()?, [1.0, 3.0, 2.0, 4.0].map(bf16::from_f32));
//! # Ok::<(), zerostride::Error>(())
//! ```

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::Value;

use super::file::{Bytes, refused, replace, within};
use crate::{AnyExpr, AnyTensor, DType, Device, Result, Shape};

/// The longest header of the format.
const LONGEST: u64 = 100_000_000;

/// Text of the header beside the tensors.
const TEXTS: &str = "__metadata__";

/// A file of tensors.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    bytes: Bytes,
    /// The begin of the elements.
    start: usize,
    tensors: BTreeMap<String, TensorInfo>,
    texts: BTreeMap<String, String>,
}

impl File {
    /// Opens a file. Its tensors are read on demand.
    ///
    /// # Errors
    /// When it cannot be read, is no file of this format, or lacks what its header claims. The text names the file, and
    /// the tensor if there is one.
    pub fn open(path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let bytes = Bytes::open(path)?;
        let (start, header) = header(&bytes).map_err(|reason| bytes.refused(reason))?;
        let mut entries: BTreeMap<String, Value> = serde_json::from_slice(header)
            .map_err(|error| bytes.refused(format_args!("its header is no list of tensors: {error}")))?;
        let texts = match entries.remove(TEXTS).map(serde_json::from_value) {
            None => BTreeMap::new(),
            Some(texts) => texts.map_err(|error| {
                bytes.refused(format_args!(
                    "the __metadata__ of its header has values that are no texts: {error}"
                ))
            })?,
        };
        let size = bytes.len() - start;
        let mut tensors = BTreeMap::new();
        for (name, entry) in entries {
            let info = entry_of(entry, size)
                .map_err(|reason| bytes.refused(format_args!("tensor '{name}': {reason}")))?;
            tensors.insert(name, info);
        }
        // Tensors follow each other and fill the file.
        let mut order: Vec<(&String, &TensorInfo)> = tensors.iter().collect();
        order.sort_by_key(|(_, info)| info.data_offsets);
        let mut end = 0;
        for (name, info) in order {
            if info.data_offsets.0 != end {
                let text = format!(
                    "tensor '{name}': it begins at byte {} of the elements, and the tensor before it ends at {end}",
                    info.data_offsets.0
                );
                return Err(bytes.refused(text));
            }
            end = info.data_offsets.1;
        }
        if end != size {
            return Err(bytes.refused(format_args!("its tensors take {end} bytes, and the file has {size}")));
        }
        Ok(File { path: path.into(), bytes, start, tensors, texts })
    }

    /// The names of the tensors, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The texts that a writer stored with the tensors.
    pub fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// The tensor of a name.
    ///
    /// # Errors
    /// When there is none, this crate lacks its element type, or the device refuses the tensor. The text names the file
    /// and the tensor.
    pub fn read(&self, name: &str, device: &Device) -> Result<AnyTensor> {
        let refused = |reason: String| self.bytes.refused(format_args!("tensor '{name}': {reason}"));
        let Some(info) = self.tensors.get(name) else {
            let all: Vec<&str> = self.names().take(10).collect();
            return Err(refused(format!("the file has no tensor of that name, but {}", all.join(", "))));
        };
        let Some((dtype, _)) = TYPES.iter().find(|(_, own)| *own == info.dtype) else {
            return Err(refused(format!("this crate has no element type {}", info.dtype)));
        };
        let (from, to) = info.data_offsets;
        let bytes = &self.bytes[self.start + from..self.start + to];
        let tensor = device.upload_bytes(bytes, *dtype, info.shape.as_slice());
        tensor.map_err(|error| within(&self.path, Some(name), &error))
    }
}

/// Element types of both.
const TYPES: [(DType, Dtype); 13] = [
    (DType::F32, Dtype::F32),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F64, Dtype::F64),
    (DType::I8, Dtype::I8),
    (DType::U8, Dtype::U8),
    (DType::I16, Dtype::I16),
    (DType::U16, Dtype::U16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::I64, Dtype::I64),
    (DType::U64, Dtype::U64),
    (DType::Bool, Dtype::BOOL),
];

/// The begin of the elements, and the header.
fn header(bytes: &[u8]) -> Result<(usize, &[u8]), String> {
    let Some((length, rest)) = bytes.split_first_chunk() else {
        return Err(format!("{} bytes are no file of safetensors", bytes.len()));
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST {
        return Err(format!("a header of {length} bytes, where at most {LONGEST} are allowed"));
    }
    match rest.get(..length as usize) {
        Some(header) => Ok((bytes.len() - rest.len() + header.len(), header)),
        None => Err(format!("a header of {length} bytes, and {} are there", rest.len())),
    }
}

/// A tensor of a header, checked against the bytes of all elements.
fn entry_of(entry: Value, size: usize) -> Result<TensorInfo, String> {
    let info: TensorInfo = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    let (from, to) = info.data_offsets;
    if from > to || to > size {
        return Err(format!("its elements are bytes {from} to {to} of {size}"));
    }
    let shape = Shape::from(info.shape.as_slice());
    let count = shape.count().map_err(|error| error.message().to_string())?;
    let needed = (count as u128 * info.dtype.bitsize() as u128).div_ceil(8);
    if needed != (to - from) as u128 {
        return Err(format!("{} {shape} takes {needed} bytes, and it has {}", info.dtype, to - from));
    }
    Ok(info)
}

/// Writes tensors by name, each row-major. The file is replaced at once.
///
/// # Errors
/// When an expression has a mistake, two tensors have one name, or the file cannot be written.
pub fn write<A: Into<AnyExpr>>(
    path: impl AsRef<Path>,
    tensors: impl IntoIterator<Item = (impl Into<String>, A)>,
) -> Result<()> {
    let path = path.as_ref();
    let mut all: Vec<(String, DType, AnyExpr)> = Vec::new();
    for (name, tensor) in tensors {
        let (name, tensor) = (name.into(), tensor.into());
        let dtype = tensor.dtype().map_err(|error| within(path, Some(&name), &error))?;
        if name == TEXTS || all.iter().any(|(other, ..)| *other == name) {
            return Err(refused(path, format_args!("the name '{name}' is taken already")));
        }
        all.push((name, dtype, tensor));
    }
    // The widest first, so that all are aligned, as the format's own writer does.
    all.sort_by(|(a, left, _), (b, right, _)| right.size().cmp(&left.size()).then(a.cmp(b)));
    let mut end = 0;
    let mut infos = Vec::new();
    for (name, dtype, tensor) in &all {
        let about = |error| within(path, Some(name), &error);
        let shape = tensor.shape().map_err(about)?;
        let bytes = shape.count().map_err(about)?.checked_mul(dtype.size());
        let Some(to) = bytes.and_then(|bytes| bytes.checked_add(end)) else {
            return Err(refused(path, format_args!("tensor '{name}': its size overflows")));
        };
        let Some((_, own)) = TYPES.iter().find(|(of, _)| of == dtype) else {
            return Err(refused(path, format_args!("tensor '{name}': the format has no {dtype}")));
        };
        infos
            .push((name.clone(), TensorInfo { dtype: *own, shape: shape.to_vec(), data_offsets: (end, to) }));
        end = to;
    }
    let failed = |reason: &dyn std::fmt::Display| refused(path, format_args!("cannot write it: {reason}"));
    let metadata = Metadata::new(None, infos).map_err(|error| failed(&error))?;
    let mut header = serde_json::to_vec(&metadata).map_err(|error| failed(&error))?;
    header.resize(header.len().next_multiple_of(size_of::<u64>()), b' ');
    replace(path, |file| {
        let put = |file: &mut dyn Write, bytes: &[u8]| file.write_all(bytes).map_err(|error| failed(&error));
        put(file, &(header.len() as u64).to_le_bytes())?;
        put(file, &header)?;
        for (name, _, tensor) in &all {
            put(file, &tensor.to_bytes().map_err(|error| within(path, Some(name), &error))?)?;
        }
        Ok(())
    })
}
