//! Files of safetensors: tensors by name, with their types, `bf16` and `f16` included.
//!
//! Only the header and the requested tensors are read. The header is checked against the file's size before memory is
//! taken. The format is that of <https://github.com/huggingface/safetensors>.
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
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::file::{Source, ensure};
use crate::files::{Reason, about, replace};
use crate::{AnyExpr, AnyTensor, DType, Device, Result, Shape};

/// The longest header of the format.
const LONGEST: u64 = 100_000_000;

/// Bytes before the header: its length.
const BEFORE: u64 = size_of::<u64>() as u64;

/// Text of the header beside the tensors.
const TEXTS: &str = "__metadata__";

/// A file of tensors.
#[derive(Debug)]
pub struct File {
    path: PathBuf,
    file: Source,
    /// The begin of the elements.
    start: u64,
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
        File::parse(path).map_err(|reason| about(path.display(), reason))
    }

    fn parse(path: &Path) -> Result<File, Reason> {
        let file = Source::open(path)?;
        let text = header(&file)?;
        // Each entry stays as it is written until its name tells what it is to be.
        let Entries(mut entries): Entries<&RawValue> = serde_json::from_slice(&text)
            .map_err(|error| format!("its header is no list of tensors: {error}"))?;
        let texts = entries.remove(TEXTS).map_or("{}", RawValue::get);
        let Entries(texts) = serde_json::from_str(texts).map_err(|error| {
            format!("the __metadata__ of its header has values that are no texts: {error}")
        })?;
        let start = BEFORE + text.len() as u64;
        let size = file.size - start;
        let mut tensors = BTreeMap::new();
        for (name, entry) in entries {
            let info = entry_of(entry, size).map_err(|reason| format!("tensor '{name}': {reason}"))?;
            tensors.insert(name, info);
        }
        // Tensors follow each other and fill the file.
        let mut order: Vec<(&String, &TensorInfo)> = tensors.iter().collect();
        order.sort_by_key(|(_, info)| info.data_offsets);
        let mut end = 0;
        for (name, info) in order {
            let (from, to) = info.data_offsets;
            let begin = || format!("tensor '{name}': it begins at byte {from} of the elements");
            ensure(from == end, || format!("{}, and the tensor before it ends at {end}", begin()))?;
            end = to;
        }
        ensure(end as u64 == size, || format!("its tensors take {end} bytes, and the file has {size}"))?;
        Ok(File { path: path.into(), file, start, tensors, texts })
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
        self.tensor(name, device)
            .map_err(|reason| about(self.path.display(), about(format_args!("tensor '{name}'"), reason)))
    }

    fn tensor(&self, name: &str, device: &Device) -> Result<AnyTensor, Reason> {
        let all = || self.names().take(10).collect::<Vec<_>>().join(", ");
        let none = || format!("the file has no tensor of that name, but {}", all());
        let info = self.tensors.get(name).ok_or_else(none)?;
        let none = || format!("this crate has no element type {}", info.dtype);
        let (dtype, _) = TYPES.iter().find(|(_, own)| *own == info.dtype).ok_or_else(none)?;
        let (from, to) = info.data_offsets;
        let bytes = self.file.part(self.start + from as u64, self.start + to as u64)?;
        Ok(device.upload_bytes(&bytes, *dtype, info.shape.as_slice())?)
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

/// Entries by name, none of which stands twice.
struct Entries<T>(BTreeMap<String, T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
    type Value = Self;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("entries by name")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if self.0.contains_key(&name) {
                return Err(A::Error::custom(format_args!("two entries have the name '{name}'")));
            }
            self.0.insert(name, map.next_value()?);
        }
        Ok(self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Entries(BTreeMap::new()))
    }
}

/// The text of a header.
fn header(file: &Source) -> Result<Vec<u8>, Reason> {
    let Some(length) = file.part(0, BEFORE)?.first_chunk().copied().map(u64::from_le_bytes) else {
        return Err(format!("{} bytes are no file of safetensors", file.size).into());
    };
    let (there, header) = (file.size - BEFORE, format!("a header of {length} bytes"));
    ensure(length <= LONGEST, || format!("{header}, where at most {LONGEST} are allowed"))?;
    ensure(length <= there, || format!("{header}, and {there} are there"))?;
    file.part(BEFORE, BEFORE + length)
}

/// A tensor of a header, checked against the bytes of all elements.
fn entry_of(entry: &RawValue, size: u64) -> Result<TensorInfo, Reason> {
    let info: TensorInfo = serde_json::from_str(entry.get())?;
    let (from, to) = info.data_offsets;
    let is_inside = from <= to && to as u64 <= size;
    ensure(is_inside, || format!("its elements are bytes {from} to {to} of {size}"))?;
    let (dtype, shape, has) = (info.dtype, Shape::from(info.shape.as_slice()), to - from);
    let count = shape.count().map_err(|error| error.message().to_string())?;
    let takes = (count as u128 * dtype.bitsize() as u128).div_ceil(8);
    ensure(takes == has as u128, || format!("{dtype} {shape} takes {takes} bytes, and it has {has}"))?;
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
    replace(path.as_ref(), false, |file| {
        let named = |name: &str, reason: Reason| about(format_args!("tensor '{name}'"), reason);
        let mut all: Vec<(String, DType, AnyExpr)> = Vec::new();
        for (name, tensor) in tensors {
            let (name, tensor) = (name.into(), tensor.into());
            let dtype = tensor.dtype().map_err(|error| named(&name, error.into()))?;
            let is_free = name != TEXTS && all.iter().all(|(other, ..)| *other != name);
            ensure(is_free, || format!("the name '{name}' is taken already"))?;
            all.push((name, dtype, tensor));
        }
        // The widest first, so that all are aligned, as the format's own writer does.
        all.sort_by(|(a, left, _), (b, right, _)| right.size().cmp(&left.size()).then(a.cmp(b)));
        let mut infos = Vec::new();
        for (name, dtype, tensor) in &all {
            let from = infos.last().map_or(0, |(_, info): &(_, TensorInfo)| info.data_offsets.1);
            let info = info(*dtype, tensor, from).map_err(|reason| named(name, reason))?;
            infos.push((name.clone(), info));
        }
        let mut header = serde_json::to_vec(&Metadata::new(None, infos)?)?;
        header.resize(header.len().next_multiple_of(size_of::<u64>()), b' ');
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(&header)?;
        for (name, _, tensor) in &all {
            file.write_all(&tensor.to_bytes().map_err(|error| named(name, error.into()))?)?;
        }
        Ok(())
    })
}

/// The entry of a tensor whose elements begin at a byte.
fn info(dtype: DType, tensor: &AnyExpr, from: usize) -> Result<TensorInfo, Reason> {
    let shape = tensor.shape()?;
    let to = shape.count()?.checked_mul(dtype.size()).and_then(|bytes| bytes.checked_add(from));
    let to = to.ok_or("its size overflows")?;
    let own =
        TYPES.iter().find(|(of, _)| *of == dtype).ok_or_else(|| format!("the format has no {dtype}"))?.1;
    Ok(TensorInfo { dtype: own, shape: shape.to_vec(), data_offsets: (from, to) })
}
