//! Files of NumPy: `.npy` of one array and `.npz` of several.
//!
//! Element types are those of both: bool, the integers of 8 to 64 bits, and floats of 16, 32 and 64 bits, in either
//! byte order. NumPy has no `bf16`. Arrays in Fortran's order become views, and nothing is moved. A file is read
//! through a mapping, so it takes memory of the process only for elements in flight. Nobody may change it meanwhile. A
//! header is checked against the file's size before memory is taken.
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

use std::borrow::Cow;
use std::fmt;
use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::file::{Bytes, refused, replace, within};
use crate::dtype::Kind;
use crate::{AnyExpr, AnyTensor, DType, Device, Error, ErrorKind, Result, Shape};

/// The begin of a file.
const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read: NumPy's own default (`max_header_size`).
const LONGEST: usize = 10_000;

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
    let file = Bytes::open(path)?;
    let array = Array::parse(&file, file.len() as u64).map_err(|reason| file.refused(reason))?;
    array.upload(&file[array.start..], device).map_err(|error| within(path, None, &error))
}

/// Writes an array, row-major, as `.npy`. The file is replaced at once.
///
/// # Errors
/// When the expression has a mistake, its type is `bf16`, or the file cannot be written.
pub fn write(path: impl AsRef<Path>, array: impl Into<AnyExpr>) -> Result<()> {
    let path = path.as_ref();
    replace(path, |file| store(file, path, None, &array.into()))
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
    replace(path, |file| {
        let mut zip = ZipWriter::new(file);
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let failed = |error: zip::result::ZipError| refused(path, format_args!("cannot write it: {error}"));
        for (name, array) in arrays {
            let name = name.into();
            // The size of an entry is known only when it is written.
            zip.start_file(format!("{name}.npy"), stored.large_file(true)).map_err(failed)?;
            store(&mut zip, path, Some(&name), &array.into())?;
        }
        zip.finish().map(drop).map_err(failed)
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
    zip: ZipArchive<Cursor<Bytes>>,
}

impl Archive {
    /// Opens a file. Its arrays are read on demand.
    ///
    /// # Errors
    /// When it cannot be read, or is no archive.
    pub fn open(path: impl AsRef<Path>) -> Result<Archive> {
        let path = path.as_ref();
        let file = Bytes::open(path)?;
        let none = |error| refused(path, format_args!("no archive of arrays: {error}"));
        let size = file.len() as u64;
        let zip = ZipArchive::new(Cursor::new(file)).map_err(none)?;
        let mut names = Vec::new();
        for name in zip.file_names() {
            let name = name.map_err(none)?;
            names.push(name.strip_suffix(".npy").unwrap_or(&name).to_string());
        }
        Ok(Archive { path: path.into(), names, size, zip })
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
        let refused =
            |reason: &dyn fmt::Display| refused(&self.path, format_args!("tensor '{name}': {reason}"));
        let Some(entry) = self.names.iter().position(|own| own == name) else {
            return Err(refused(&format_args!(
                "the file has no tensor of that name, but {}",
                self.names.join(", ")
            )));
        };
        // A clone is another handle of the same entries.
        let mut zip = self.zip.clone();
        let mut entry = zip.by_index(entry).map_err(|error| refused(&error))?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        if packed > self.size {
            let text = format!("it claims {packed} packed bytes in a file of {}", self.size);
            return Err(refused(&text));
        }
        let most = match entry.compression() {
            CompressionMethod::Stored => packed,
            _ => packed.saturating_mul(DEFLATED),
        };
        if size > most {
            let text = format!("it claims {size} bytes, more than {packed} packed bytes can hold");
            return Err(refused(&text));
        }
        let mut head = Vec::new();
        let start = 12 + LONGEST as u64;
        entry.by_ref().take(start).read_to_end(&mut head).map_err(|error| refused(&error))?;
        let array = Array::parse(&head, size).map_err(|reason| refused(&reason))?;
        let mut bytes = head.split_off(array.start);
        let needed = array.bytes as usize;
        if bytes.try_reserve_exact(needed.saturating_sub(bytes.len())).is_err() {
            let text = format!("{}: tensor '{name}': no memory for {needed} bytes", self.path.display());
            return Err(Error::new(ErrorKind::Memory, text));
        }
        // To the end, where the archive's checksum is checked.
        entry.take(size).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
        if bytes.len() < needed {
            return Err(refused(&format_args!("it has {} of {needed} bytes", bytes.len())));
        }
        array.upload(&bytes, device).map_err(|error| within(&self.path, Some(name), &error))
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
    fn parse(bytes: &[u8], size: u64) -> Result<Array, String> {
        let Some([major, _, rest @ ..]) = bytes.strip_prefix(MAGIC) else {
            return Err("it is no array of NumPy: the first bytes differ".into());
        };
        let (length, rest) = match (major, rest) {
            (1, [a, b, rest @ ..]) => (u16::from_le_bytes([*a, *b]).into(), rest),
            (2 | 3, [a, b, c, d, rest @ ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            (1..=3, _) => return Err("it ends within its header".into()),
            _ => return Err(format!("version {major} of NumPy's format: versions 1 to 3 are supported")),
        };
        if length > LONGEST {
            return Err(format!("a header of {length} bytes: the limit is {LONGEST}"));
        }
        let Some(header) = rest.get(..length) else {
            return Err("it ends within its header".into());
        };
        let start = bytes.len() - rest.len() + length;
        let header =
            std::str::from_utf8(header).map_err(|error| format!("its header is no text: {error}"))?;
        let (descr, fortran, shape) = Text(header).array()?;
        let (big, dtype) = element(&descr)?;
        let shape = Shape::from(shape);
        let count = shape.count().map_err(|error| error.message().to_string())?;
        let bytes = count as u128 * dtype.size() as u128;
        let there = u128::from(size).saturating_sub(start as u128);
        if bytes > there {
            return Err(format!("{dtype} {shape} takes {bytes} bytes, and the file has {there}"));
        }
        Ok(Array { dtype, big, fortran, shape, start, bytes: bytes as u64 })
    }

    fn upload(&self, bytes: &[u8], device: &Device) -> Result<AnyTensor> {
        let mut bytes = Cow::Borrowed(&bytes[..self.bytes as usize]);
        if self.big && self.dtype.size() > 1 {
            bytes.to_mut().chunks_exact_mut(self.dtype.size()).for_each(<[u8]>::reverse);
        }
        if !self.fortran {
            return device.upload_bytes(&bytes, self.dtype, &self.shape);
        }
        let turned: Shape = self.shape.iter().rev().copied().collect();
        let axes: Vec<isize> = (0..self.shape.rank() as isize).rev().collect();
        device.upload_bytes(&bytes, self.dtype, turned)?.permute(axes).tensor()
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
        self.expect('{')?;
        while !self.has('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" if self.0.trim_start().starts_with('[') => {
                    return Err("its elements are records, which no tensor has".into());
                }
                "descr" => descr = Some(self.string()?.to_string()),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.lengths()?),
                _ => return Err(format!("its header has an entry '{key}'")),
            }
            if !self.has(',') {
                self.expect('}')?;
                break;
            }
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) => Ok((descr, fortran, shape)),
            _ => Err("its header lacks one of 'descr', 'fortran_order' and 'shape'".into()),
        }
    }

    /// Whether a character follows. If so, it is taken.
    fn has(&mut self, character: char) -> bool {
        let rest = self.0.trim_start().strip_prefix(character);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, character: char) -> Result<(), String> {
        if self.has(character) { Ok(()) } else { Err(self.unexpected(&format!("'{character}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.0.trim().chars().take(20).collect();
        format!("its header has '{found}' where {wanted} is to be")
    }

    fn string(&mut self) -> Result<&'a str, String> {
        for quote in ['\'', '"'] {
            if let Some((text, rest)) =
                self.0.trim_start().strip_prefix(quote).and_then(|text| text.split_once(quote))
            {
                self.0 = rest;
                return Ok(text);
            }
        }
        Err(self.unexpected("a name"))
    }

    fn truth(&mut self) -> Result<bool, String> {
        for (name, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.0.trim_start().strip_prefix(name) {
                self.0 = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    /// `(2, 3)`, `(2,)` or `()`; Python 2 wrote `2L`.
    fn lengths(&mut self) -> Result<Vec<usize>, String> {
        let mut all = Vec::new();
        self.expect('(')?;
        while !self.has(')') {
            let rest = self.0.trim_start();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = rest.split_at(digits);
            all.push(number.parse().map_err(|_| self.unexpected("a length"))?);
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if !self.has(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(all)
    }
}

/// Writes a header and elements.
fn store(to: &mut dyn Write, path: &Path, name: Option<&str>, array: &AnyExpr) -> Result<()> {
    let about = |error: Error| within(path, name, &error);
    let (dtype, shape) = (array.dtype().map_err(about)?, array.shape().map_err(about)?);
    let Some(letters) = letters(dtype) else {
        let error = Error::new(ErrorKind::Type, format!("{dtype} is no type of NumPy's: cast it to f32"));
        return Err(about(error));
    };
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let mut lengths: String = shape.iter().map(|n| format!("{n}, ")).collect();
    lengths.truncate(lengths.len().saturating_sub(if shape.rank() == 1 { 1 } else { 2 }));
    let mut header =
        format!("{{'descr': '{order}{letters}', 'fortran_order': False, 'shape': ({lengths}), }}");
    let before = MAGIC.len() + 4;
    let end = (before + header.len() + 1).next_multiple_of(ALIGN);
    header.extend(std::iter::repeat_n(' ', end - before - header.len() - 1));
    header.push('\n');
    let bytes = array.to_bytes().map_err(about)?;
    let length = (header.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, header.as_bytes(), &bytes]
        .into_iter()
        .try_for_each(|part| to.write_all(part))
        .map_err(|error| refused(path, format_args!("cannot write it: {error}")))
}
