//! Files of NumPy: `.npy` of one array and `.npz` of several.
//!
//! Element types are those of both: bool, the integers of 8 to 64 bits, and floats of 16, 32 and 64 bits, in either
//! byte order. NumPy has no `bf16`. Arrays in Fortran's order become views, and nothing is moved. Of an archive only
//! the requested arrays are read. A header is checked against the file's size before memory is taken.
//!
//! The format is that of NumPy Enhancement Proposal 1 and `numpy.lib.format`.
//!
//! ```
//! use zerostride::{Device, npy};
//!
//! let device = Device::cpu();
//! let path = std::env::temp_dir().join("zerostride-example.npy");
//! npy::write(&path, device.upload(&[1.0_f32, 2.0, 3.0], [3, 1])?)?;
//! let x = npy::read(&path, &device)?.typed::<f32>()?;
//! assert_eq!((x.shape().to_vec(), x.to_vec()?), (vec![3, 1], vec![1.0, 2.0, 3.0]));
//!
//! let path = path.with_extension("npz");
//! npy::write_archive(&path, [("x", (&x * 2.0)), ("y", x.expr())])?;
//! let archive = npy::Archive::open(&path)?;
//! assert_eq!(archive.names().collect::<Vec<_>>(), ["x", "y"]);
//! assert_eq!(archive.read("x", &device)?.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok::<(), zerostride::Error>(())
//! ```

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::file::{Source, ensure, taken};
use crate::dtype::Kind;
use crate::files::{Reason, about, replace};
use crate::{AnyExpr, AnyTensor, DType, Device, Error, ErrorKind, Result, Shape};

/// The begin of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read: NumPy's own default (`max_header_size`).
const LONGEST: usize = 10_000;

/// The longest header with what stands before its text.
const HEAD: u64 = (MAGIC.len() + 6 + LONGEST) as u64;

/// A header ends at a multiple of this many bytes.
const ALIGN: usize = 64;

/// The most bytes that one byte of deflate may become (RFC 1951: 258 by two bits).
const DEFLATED: u64 = 1032;

/// The array of a `.npy` file.
///
/// # Errors
/// When the file cannot be read, is no file of NumPy or lacks elements, or the device refuses the tensor. The text
/// names the file.
pub fn read(path: impl AsRef<Path>, device: &Device) -> Result<AnyTensor> {
    let path = path.as_ref();
    let read = || {
        let file = Source::open(path)?;
        let array = Array::parse(&file.part(0, HEAD)?, file.size)?;
        let start = array.start as u64;
        array.upload(file.part(start, start + array.bytes)?, device)
    };
    read().map_err(|reason| about(path.display(), reason))
}

/// Writes an array, row-major, as `.npy`. The file is replaced at once.
///
/// # Errors
/// When the expression has a mistake, its type is `bf16`, or the file cannot be written.
pub fn write(path: impl AsRef<Path>, array: impl Into<AnyExpr>) -> Result<()> {
    let path = path.as_ref();
    replace(path, false, |file| store(file, &array.into()))
}

/// Writes arrays by name, as `.npz`, uncompressed as `numpy.savez` does. The file is replaced at once.
///
/// # Errors
/// As [`write()`]; when two arrays have one name.
pub fn write_archive<A: Into<AnyExpr>>(
    path: impl AsRef<Path>,
    arrays: impl IntoIterator<Item = (impl Into<String>, A)>,
) -> Result<()> {
    let path = path.as_ref();
    replace(path, false, |file| {
        let mut zip = ZipWriter::new(file);
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for (name, array) in arrays {
            let name = name.into();
            // The size of an entry is known only when it is written.
            zip.start_file(format!("{name}.npy"), stored.large_file(true))?;
            store(&mut zip, &array.into())
                .map_err(|reason| about(format_args!("tensor '{name}'"), reason))?;
        }
        zip.finish()?;
        Ok(())
    })
}

/// A `.npz` file.
#[derive(Debug)]
pub struct Archive {
    path: PathBuf,
    /// For each entry, in the order of the file.
    names: Vec<String>,
    /// Bytes of the file.
    size: u64,
    zip: ZipArchive<Source>,
}

impl Archive {
    /// Opens a file. Its arrays are read on demand.
    ///
    /// # Errors
    /// When it cannot be read, is no archive, or has two arrays of one name.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let open = || {
            let file = Source::open(path)?;
            let size = file.size;
            let zip = ZipArchive::new(file).map_err(|error| format!("no archive of arrays: {error}"))?;
            let mut names = Vec::new();
            for name in zip.file_names() {
                let name = name?;
                names.push(name.strip_suffix(".npy").unwrap_or(&name).to_string());
            }
            let alone =
                !zip.has_duplicate_names() && names.iter().collect::<BTreeSet<_>>().len() == names.len();
            ensure(alone, || "two of its arrays have one name".into())?;
            Ok(Archive { path: path.into(), names, size, zip })
        };
        open().map_err(|reason: Reason| about(path.display(), reason))
    }

    /// The names of the arrays, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The array of a name.
    ///
    /// # Errors
    /// When there is none, it is no array of NumPy or lacks elements, or the device refuses the tensor. The text names
    /// the file and the array.
    pub fn read(&self, name: &str, device: &Device) -> Result<AnyTensor> {
        self.array(name, device)
            .map_err(|reason| about(self.path.display(), about(format_args!("tensor '{name}'"), reason)))
    }

    fn array(&self, name: &str, device: &Device) -> Result<AnyTensor, Reason> {
        let none = || format!("the file has no tensor of that name, but {}", self.names.join(", "));
        let entry = self.names.iter().position(|own| own == name).ok_or_else(none)?;
        // A clone is another handle of the same entries.
        let mut zip = self.zip.clone();
        let mut entry = zip.by_index(entry)?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        let ratio = if entry.compression() == CompressionMethod::Stored { 1 } else { DEFLATED };
        let text =
            || format!("it claims {size} bytes, more than {packed} packed bytes in {} can hold", self.size);
        ensure(size <= packed.min(self.size).saturating_mul(ratio), text)?;
        let head = taken(&mut entry, HEAD.min(size))?;
        let array = Array::parse(&head, size)?;
        let mut all = head[array.start..].chain(&mut entry);
        let bytes = taken(&mut all, array.bytes)?;
        let count = bytes.len() as u64;
        ensure(count == array.bytes, || format!("it has {count} of {} bytes", array.bytes))?;
        // To the end, where the archive's checksum is checked.
        io::copy(&mut all.take(size), &mut io::sink())?;
        array.upload(bytes, device)
    }
}

/// The header of an array.
struct Array {
    dtype: DType,
    /// Whether the highest byte of an element comes first.
    big: bool,
    fortran: bool,
    shape: Shape,
    /// The begin of the elements, and their bytes.
    start: usize,
    bytes: u64,
}

impl Array {
    /// Reads the header of a file, whose first bytes are `bytes`, and checks it against the file's size.
    fn parse(bytes: &[u8], size: u64) -> Result<Array, Reason> {
        let Some([major, _, rest @ ..]) = bytes.strip_prefix(MAGIC) else {
            return Err("it is no array of NumPy: the first bytes differ".into());
        };
        let (length, rest) = match (major, rest) {
            (1, [a, b, rest @ ..]) => (u16::from_le_bytes([*a, *b]).into(), rest),
            (2 | 3, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            (1..=3, _) => return Err("it ends within its header".into()),
            _ => {
                return Err(
                    format!("version {major} of NumPy's format: versions 1 to 3 are supported").into()
                );
            }
        };
        ensure(length <= LONGEST, || format!("a header of {length} bytes: the limit is {LONGEST}"))?;
        let header = rest.get(..length).ok_or("it ends within its header")?;
        let start = bytes.len() - rest.len() + length;
        let header = str::from_utf8(header).map_err(|error| format!("its header is no text: {error}"))?;
        let (descr, fortran, shape) = Text(header).array()?;
        let (big, dtype) = element(&descr)?;
        let shape = Shape::from(shape);
        let count = shape.count().map_err(|error| error.message().to_string())?;
        let bytes = count as u128 * dtype.size() as u128;
        let there = u128::from(size).saturating_sub(start as u128);
        ensure(bytes <= there, || format!("{dtype} {shape} takes {bytes} bytes, and the file has {there}"))?;
        Ok(Array { dtype, big, fortran, shape, start, bytes: bytes as u64 })
    }

    fn upload(&self, mut bytes: Vec<u8>, device: &Device) -> Result<AnyTensor, Reason> {
        if self.big {
            bytes.chunks_exact_mut(self.dtype.size()).for_each(<[u8]>::reverse);
        }
        if !self.fortran {
            return Ok(device.upload_bytes(&bytes, self.dtype, &self.shape)?);
        }
        let turned: Shape = self.shape.iter().rev().copied().collect();
        let axes: Vec<isize> = (0..self.shape.rank() as isize).rev().collect();
        Ok(device.upload_bytes(&bytes, self.dtype, turned)?.permute(axes).tensor()?)
    }
}

/// The type of a name as `<f4`, and whether the highest byte comes first.
fn element(descr: &str) -> Result<(bool, DType), String> {
    let unknown = || format!("this crate has no element type '{descr}'");
    let (order, name) = descr.split_at_checked(1).ok_or_else(unknown)?;
    let big = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(unknown()),
    };
    let dtype =
        DType::ALL.into_iter().find(|&dtype| letters(dtype).as_deref() == Some(name)).ok_or_else(unknown)?;
    Ok((big, dtype))
}

/// NumPy's name of a type, if it has one.
fn letters(dtype: DType) -> Option<String> {
    let letter = match dtype.kind() {
        _ if dtype == DType::BF16 => return None,
        Kind::Bool => 'b',
        Kind::Signed => 'i',
        Kind::Unsigned => 'u',
        Kind::Float => 'f',
    };
    Some(format!("{letter}{}", dtype.size()))
}

/// The rest of a header: the text of a Python dictionary.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    /// The type, whether the first axis varies fastest, and the lengths.
    fn array(mut self) -> Result<(String, bool, Vec<usize>), String> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.has("}") {
            let key = self.string()?;
            self.expect(":")?;
            match key {
                "descr" if self.0.trim_start().starts_with('[') => {
                    return Err("its elements are records, which no tensor has".into());
                }
                "descr" => descr = Some(self.string()?.to_string()),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.lengths()?),
                _ => return Err(format!("its header has an entry '{key}'")),
            }
            if !self.has(",") {
                self.expect("}")?;
                break;
            }
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) => Ok((descr, fortran, shape)),
            _ => Err("its header lacks one of 'descr', 'fortran_order' and 'shape'".into()),
        }
    }

    /// Whether a text follows. If so, it is taken.
    fn has(&mut self, text: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        if self.has(text) { Ok(()) } else { Err(self.unexpected(&format!("'{text}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.0.trim().chars().take(20).collect();
        format!("its header has '{found}' where {wanted} is to be")
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = ["'", "\""].into_iter().find(|quote| self.has(quote));
        let parts = quote.and_then(|quote| self.0.split_once(quote));
        let (text, rest) = parts.ok_or_else(|| self.unexpected("a name"))?;
        self.0 = rest;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, String> {
        let found = ["False", "True"].into_iter().position(|name| self.has(name));
        found.map(|at| at == 1).ok_or_else(|| self.unexpected("True or False"))
    }

    /// `(2, 3)`, `(2,)` or `()`; Python 2 wrote `2L`.
    fn lengths(&mut self) -> Result<Vec<usize>, String> {
        let mut all = Vec::new();
        self.expect("(")?;
        while !self.has(")") {
            let rest = self.0.trim_start();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = rest.split_at(digits);
            all.push(number.parse().map_err(|_| self.unexpected("a length"))?);
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.has(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(all)
    }
}

/// Writes a header and elements.
fn store(to: &mut dyn Write, array: &AnyExpr) -> Result<(), Reason> {
    let (dtype, shape) = (array.dtype()?, array.shape()?);
    let none = || Error::new(ErrorKind::Type, format!("{dtype} is no type of NumPy's: cast it to f32"));
    let letters = letters(dtype).ok_or_else(none)?;
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let mut lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    lengths.truncate(lengths.len().saturating_sub(if shape.rank() == 1 { 1 } else { 2 }));
    let mut header =
        format!("{{'descr': '{order}{letters}', 'fortran_order': False, 'shape': ({lengths}), }}");
    let before = MAGIC.len() + 4;
    let end = (before + header.len() + 1).next_multiple_of(ALIGN);
    header.extend(std::iter::repeat_n(' ', end - before - header.len() - 1));
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    let parts = [MAGIC, &[1, 0], &length, header.as_bytes(), &array.to_bytes()?];
    Ok(parts.into_iter().try_for_each(|part| to.write_all(part))?)
}
