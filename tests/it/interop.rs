//! Files of NumPy, the package safetensors and Pillow, arrays of any strides, and files with false claims.
//! `tests/data/files/make.py` made the files.

use std::path::Path;

use crate::common::on_every_device;
use crate::scratch::{Folder, Scratch, asked, checksum, file, message, refused};
use ndarray::{Array3, ArrayD, Axis, IxDyn, ShapeBuilder, Slice, s};
use zerostride::{
    AnyExpr, AnyTensor, Broadcast, DType, Device, ErrorKind, Expr, Layout, Result, Shape, bf16, f16, image,
    npy, safetensors,
};

/// The types under NumPy's names, and the files' content for each.
const NAMES: [(&str, DType); 12] = [
    ("bool", DType::Bool),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("uint8", DType::U8),
    ("uint16", DType::U16),
    ("uint32", DType::U32),
    ("uint64", DType::U64),
    ("float16", DType::F16),
    ("float32", DType::F32),
    ("float64", DType::F64),
];

fn expected(dtype: DType) -> Vec<u8> {
    let signed = matches!(
        dtype,
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::F16 | DType::F32 | DType::F64
    );
    let numbers: Vec<i32> = (0..24).map(|i| if signed { i - 3 } else { i }).collect();
    let x = Device::cpu().upload(&numbers, [24]).unwrap();
    AnyExpr::from(x).cast(dtype).to_bytes().unwrap()
}

#[test]
fn arrays_of_numpy_are_read() {
    on_every_device(|device| {
        let archive = npy::Archive::open(file("types.npz")).unwrap();
        assert_eq!(archive.names().count(), 18);
        for (name, dtype) in NAMES {
            let array = archive.read(name, device).unwrap();
            assert_eq!((array.dtype(), array.shape().to_vec()), (dtype, vec![2, 3, 4]), "{name}");
            assert_eq!(array.to_bytes().unwrap(), expected(dtype), "{name}");
        }
        // Fortran's order is a view, and the other order of bytes is turned.
        for fortran in [archive.read("fortran", device), npy::read(file("fortran.npy"), device)] {
            let fortran = fortran.unwrap();
            assert_eq!(fortran.layout().strides(), [1, 2, 6]);
            assert!(fortran.to_vec::<f32>().unwrap().into_iter().eq((0..24).map(|i| i as f32)));
        }
        let big = archive.read("big_endian", device).unwrap();
        assert!(big.to_vec::<i16>().unwrap().into_iter().eq(-3..21));
        let big = archive.read("big_fortran", device).unwrap();
        assert!(big.to_vec::<f64>().unwrap().into_iter().eq((0..24).map(f64::from)));
        let scalar = archive.read("scalar", device).unwrap();
        assert_eq!((scalar.shape().rank(), scalar.to_vec::<f32>().unwrap()), (0, vec![2.5]));
        assert_eq!(archive.read("empty", device).unwrap().shape(), &[0, 3]);
        assert_eq!(archive.read("one_axis", device).unwrap().to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4]);

        let packed = npy::Archive::open(file("packed.npz")).unwrap();
        assert_eq!(packed.read("zeros", device).unwrap().to_vec::<f32>().unwrap(), [0.0; 10_000]);
        let counting = packed.read("counting", device).unwrap().to_vec::<i32>().unwrap();
        assert!(counting.into_iter().eq(0..24));
        let second = npy::read(file("version2.npy"), device).unwrap().to_vec::<u16>().unwrap();
        assert!(second.into_iter().eq(0..24));
    });
}

/// A written file is byte for byte the file of NumPy.
#[test]
fn arrays_are_written_as_numpy_writes_them() {
    on_every_device(|device| {
        let x = device.upload(&(0..24).collect::<Vec<u16>>(), [2, 3, 4]).unwrap();
        let own = Scratch::new("own.npy");
        npy::write(&own.0, x.permute([2, 0, 1])).unwrap();
        let back = npy::read(&own.0, device).unwrap();
        assert_eq!(back.shape(), &[4, 2, 3]);
        assert_eq!(back.to_vec::<u16>().unwrap(), x.permute([2, 0, 1]).to_vec().unwrap());

        let archive = npy::Archive::open(file("types.npz")).unwrap();
        let names = ["float32", "int8", "bool", "one_axis", "scalar", "empty"];
        let arrays: Vec<(&str, AnyTensor)> =
            names.iter().map(|name| (*name, archive.read(name, device).unwrap())).collect();
        let own = Scratch::new("own.npz");
        npy::write_archive(&own.0, arrays).unwrap();
        let mut theirs = zip::ZipArchive::new(std::fs::File::open(file("types.npz")).unwrap()).unwrap();
        let mut ours = zip::ZipArchive::new(std::fs::File::open(&own.0).unwrap()).unwrap();
        for name in names {
            let read = |zip: &mut zip::ZipArchive<std::fs::File>| {
                let mut bytes = Vec::new();
                let mut entry = zip.by_name(&format!("{name}.npy")).unwrap();
                std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
                bytes
            };
            assert!(read(&mut ours) == read(&mut theirs), "{name}");
        }
    });
}

/// A file of version 1 with this header and a number of bytes of elements.
fn npy_with(header: &str, elements: usize) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + elements, 0);
    bytes
}

#[test]
fn arrays_that_lie_are_refused() {
    let device = Device::cpu();
    let header = |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let long = format!("({})", "2, ".repeat(200));
    let cases: Vec<(Vec<u8>, String)> = vec![
        (npy_with(&header("(3, 4)"), 47), "f32 [3, 4] takes 48 bytes, and the file has 47".into()),
        (
            npy_with(&header("(1099511627776,)"), 8),
            "f32 [1099511627776] takes 4398046511104 bytes, and the file has 8".into(),
        ),
        (
            npy_with(&header("(4294967296, 4294967296, 4294967296)"), 8),
            "the element count of [4294967296, 4294967296, 4294967296] overflows 64 bits".into(),
        ),
        (
            npy_with(&header("(0, 18446744073709551615, 18446744073709551615)"), 0),
            "the element count of [0, 18446744073709551615, 18446744073709551615] overflows 64 bits".into(),
        ),
        (
            npy_with(&header("(99999999999999999999,)"), 8),
            "its header has '99999999999999999999' where a length is to be".into(),
        ),
        (npy_with(&header(&long), 4), "a shape of rank 200 exceeds the limit of 128 axes".into()),
        (npy_with(&header("(-1,)"), 4), "its header has '-1,), }' where a length is to be".into()),
        (npy_with(&"(".repeat(9000), 4), format!("its header has '{}' where '{{' is to be", "(".repeat(20))),
        (npy_with(&"{".repeat(20_000), 4), "a header of 20000 bytes: the limit is 10000".into()),
        (
            npy_with("{'descr': '<f4'}", 4),
            "its header lacks one of 'descr', 'fortran_order' and 'shape'".into(),
        ),
        (
            npy_with("{'descr': '<f16', 'fortran_order': False, 'shape': ()}", 16),
            "this crate has no element type '<f16'".into(),
        ),
        (npy_with("", 0)[..9].to_vec(), "it ends within its header".into()),
        (
            [b"\x93NUMPY\x02\x00\xff\xff\xff\xff".as_slice(), &[b' '; 50]].concat(),
            "a header of 4294967295 bytes: the limit is 10000".into(),
        ),
        (b"\x93NUMPY\x09\x00".to_vec(), "version 9 of NumPy's format: versions 1 to 3 are supported".into()),
        (b"PNG".to_vec(), "it is no array of NumPy: the first bytes differ".into()),
        (Vec::new(), "it is no array of NumPy: the first bytes differ".into()),
    ];
    for (i, (bytes, expected)) in cases.into_iter().enumerate() {
        let lie = Scratch::of(&format!("lie{i}.npy"), &bytes);
        let path = lie.0.display().to_string();
        assert_eq!(refused(&lie, |path| npy::read(path, &device)), format!("{path}: {expected}"));
    }
    assert!(
        message(npy::read(file("records.npy"), &device))
            .ends_with("its elements are records, which no tensor has")
    );
    assert!(
        message(npy::read(file("complex.npy"), &device)).ends_with("this crate has no element type '<c8'")
    );
    let error = npy::read(file("none.npy"), &device).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.message().contains("none.npy: cannot read it: "), "{error}");

    // An archive of an entry that claims 3 GB.
    let whole = std::fs::read(file("packed.npz")).unwrap();
    let size = 40_128_u32.to_le_bytes();
    let mut lie = whole.clone();
    let places: Vec<usize> = (0..whole.len() - 4).filter(|&i| whole[i..i + 4] == size).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|&i| lie[i..i + 4].copy_from_slice(&3_000_000_000_u32.to_le_bytes()));
    let zeros = |path: &Path| npy::Archive::open(path)?.read("zeros", &device);
    let error = refused(&Scratch::of("lie.npz", &lie), zeros);
    assert!(error.contains("lie.npz: tensor 'zeros': it claims 3000000000 bytes, more than "), "{error}");
    // The bytes that it is packed in stand before the others, and may lie too.
    places.iter().for_each(|&i| lie[i - 4..i].copy_from_slice(&3_000_000_000_u32.to_le_bytes()));
    let error = refused(&Scratch::of("packed.npz", &lie), zeros);
    assert!(error.contains("packed.npz: "), "{error}");
    // More entries than there are.
    let mut lie = whole.clone();
    let end = whole.len() - 22;
    assert_eq!(whole[end..end + 4], *b"PK\x05\x06");
    lie[end + 8..end + 12].fill(0xff);
    assert!(refused(&Scratch::of("entries.npz", &lie), zeros).contains("entries.npz: "));
    // Cut off, and with a byte changed.
    for end in [0, 20, whole.len() / 2, whole.len() - 1] {
        let lie = Scratch::of(&format!("cut{end}.npz"), &whole[..end]);
        assert!(refused(&lie, |path| npy::Archive::open(path)).contains("no archive of arrays: "));
    }
    let archive = npy::Archive::open(file("packed.npz")).unwrap();
    let error = message(archive.read("ones", &device));
    assert!(
        error
            .ends_with("packed.npz: tensor 'ones': the file has no tensor of that name, but zeros, counting"),
        "{error}"
    );
}

/// A part of a large file takes memory for that part alone.
#[test]
fn parts_are_read_alone() {
    let device = Device::cpu();
    let x = device.zeros::<f32>([1 << 20]).unwrap();
    let (npz, tensors) = (Scratch::new("parts.npz"), Scratch::new("parts.safetensors"));
    npy::write_archive(&npz.0, [("large", x.expr()), ("small", x.slice(0, ..4))]).unwrap();
    safetensors::write(&tensors.0, [("large", x.expr()), ("small", x.slice(0, ..4))]).unwrap();
    let read = || {
        let (archive, file) =
            (npy::Archive::open(&npz.0).unwrap(), safetensors::File::open(&tensors.0).unwrap());
        [archive.read("small", &device), file.read("small", &device)]
    };
    let (small, memory) = asked(read);
    assert!(small.into_iter().all(|small| small.unwrap().to_vec::<f32>().unwrap() == [0.0; 4]));
    assert!(memory.held < 256 << 10, "{memory:?}");
    // A whole one is held while it is uploaded, and a copy of it is the tensor.
    for read in [
        &(|| npy::Archive::open(&npz.0).unwrap().read("large", &device)) as &dyn Fn() -> Result<AnyTensor>,
        &|| safetensors::File::open(&tensors.0).unwrap().read("large", &device),
    ] {
        let (large, memory) = asked(read);
        assert_eq!(large.unwrap().shape(), &[1 << 20]);
        assert!(memory.held < (8 << 20) + (256 << 10), "{memory:?}");
    }
}

#[test]
fn mistakes_leave_files_as_they_were() {
    let device = Device::cpu();
    let folder = Folder::new("mistakes");
    let own = Scratch(folder.0.join("kept.npy"));
    std::fs::write(&own.0, b"before").unwrap();
    let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
    let error = npy::write(&own.0, x.cast::<bf16>()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert!(error.message().ends_with("kept.npy: bf16 is no type of NumPy's: cast it to f32"), "{error}");
    let error = safetensors::write(&own.0, [("good", x.expr()), ("bad", x.flip(3))]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Axis);
    assert!(error.message().contains("tensor 'bad': axis 3 of [2] is out of range"), "{error}");
    let error = safetensors::write(&own.0, [("x", x.expr()), ("x", x.expr())]).unwrap_err();
    assert!(error.message().ends_with("the name 'x' is taken already"), "{error}");
    assert!(npy::write_archive(&own.0, [("x", x.expr()), ("x", x.expr())]).is_err());
    assert_eq!(std::fs::read(&own.0).unwrap(), b"before");
    let error = npy::write(Path::new("/nowhere/at/all.npy"), x.expr()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert_eq!(folder.names(), ["kept.npy"]);
}

/// A reader sees the whole file of one of the writers.
#[test]
fn several_write_one_file() {
    let device = Device::cpu();
    let of = |value: u8| device.full([1 << 16], value).unwrap();
    let own = Scratch::of("contended.npy", b"");
    npy::write(&own.0, of(0)).unwrap();
    let is_whole = || {
        let x = npy::read(&own.0, &device).unwrap().to_vec::<u8>().unwrap();
        assert!(x.len() == 1 << 16 && x.iter().all(|&value| value == x[0]));
    };
    std::thread::scope(|scope| {
        for value in [1, 2] {
            let (x, path) = (of(value), &own.0);
            scope.spawn(move || (0..30).for_each(|_| npy::write(path, &x).unwrap()));
        }
        (0..60).for_each(|_| is_whole());
    });
    is_whole();
}

#[test]
fn tensors_of_safetensors_are_read_and_written() {
    on_every_device(|device| {
        let theirs = safetensors::File::open(file("types.safetensors")).unwrap();
        assert_eq!(theirs.texts()["made by"], "safetensors");
        let mut tensors: Vec<(String, AnyTensor)> = Vec::new();
        for (name, dtype) in NAMES {
            let tensor = theirs.read(name, device).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape().to_vec()), (dtype, vec![2, 3, 4]), "{name}");
            assert_eq!(tensor.to_bytes().unwrap(), expected(dtype), "{name}");
            tensors.push((name.to_string(), tensor));
        }
        for name in ["scalar", "empty"] {
            tensors.push((name.to_string(), theirs.read(name, device).unwrap()));
        }
        assert_eq!(tensors[tensors.len() - 2].1.to_vec::<f32>().unwrap(), [2.5]);
        assert_eq!(tensors[tensors.len() - 1].1.shape(), &[0, 3]);
        let halves =
            safetensors::File::open(file("bf16.safetensors")).unwrap().read("halves", device).unwrap();
        let bits: Vec<u16> = halves.to_vec::<bf16>().unwrap().into_iter().map(bf16::to_bits).collect();
        assert_eq!((halves.dtype(), bits), (DType::BF16, vec![0x3f80, 0xbfc0, 0x7f80, 1]));
        tensors.push(("halves".into(), halves));

        let own = Scratch::new("own.safetensors");
        safetensors::write(&own.0, tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))).unwrap();
        let back = safetensors::File::open(&own.0).unwrap();
        assert_eq!(back.names().count(), tensors.len());
        for (name, tensor) in &tensors {
            let read = back.read(name, device).unwrap();
            assert_eq!((read.dtype(), read.shape()), (tensor.dtype(), tensor.shape()));
            assert_eq!(read.to_bytes().unwrap(), tensor.to_bytes().unwrap(), "{name}");
        }
        // The format's own crate reads the written file.
        let bytes = std::fs::read(&own.0).unwrap();
        let read = ::safetensors::SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(read.tensor("float32").unwrap().data(), expected(DType::F32));
        assert_eq!(read.tensor("halves").unwrap().dtype(), ::safetensors::Dtype::BF16);
    });
}

#[test]
fn tensors_that_lie_are_refused() {
    let device = Device::cpu();
    let with = |header: &str, elements: usize| {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len() + elements, 0);
        bytes
    };
    let one = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"w":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#)
    };
    let huge = (1_u64 << 61) - 1;
    let eight: Vec<String> = (0..8)
        .map(|i| {
            format!(
                r#""t{i}":{{"dtype":"U8","shape":[{huge}],"data_offsets":[{},{}]}}"#,
                i * huge,
                (i + 1) * huge
            )
        })
        .collect();
    let cases = [
        (with(&one("F32", "[4]", "[0,16]"), 8), "tensor 'w': its elements are bytes 0 to 16 of 8"),
        (with(&one("F32", "[4]", "[0,8]"), 8), "tensor 'w': F32 [4] takes 16 bytes, and it has 8"),
        (
            with(&one("F32", "[2]", "[8,16]"), 16),
            "tensor 'w': it begins at byte 8 of the elements, and the tensor before it ends at 0",
        ),
        (with(&one("F32", "[2]", "[0,8]"), 16), "its tensors take 8 bytes, and the file has 16"),
        (with(&one("F32", "[2]", "[8,0]"), 8), "tensor 'w': its elements are bytes 8 to 0 of 8"),
        (
            with(&one("F32", "[4294967296,4294967296,2]", "[0,8]"), 8),
            "tensor 'w': the element count of [4294967296, 4294967296, 2] overflows 64 bits",
        ),
        (
            with(&format!("{{{}}}", eight.join(",")), 8),
            "tensor 't0': its elements are bytes 0 to 2305843009213693951 of 8",
        ),
        (with("{", 0), "its header is no list of tensors: EOF while parsing an object at line 1 column 1"),
        (
            u64::MAX.to_le_bytes().to_vec(),
            "a header of 18446744073709551615 bytes, where at most 100000000 are allowed",
        ),
        (1000_u64.to_le_bytes().to_vec(), "a header of 1000 bytes, and 0 are there"),
        (vec![1, 2, 3], "3 bytes are no file of safetensors"),
    ];
    for (i, (bytes, expected)) in cases.into_iter().enumerate() {
        let lie = Scratch::of(&format!("lie{i}.safetensors"), &bytes);
        let path = lie.0.display().to_string();
        assert_eq!(refused(&lie, |path| safetensors::File::open(path)), format!("{path}: {expected}"));
    }
    // Each depth is text until a tensor is to be there.
    let (opened, closed) = ("[".repeat(1_000_000), "]".repeat(1_000_000));
    for (text, reason) in [
        (format!("{{\"w\":{opened}"), "its header is no list of tensors: EOF while parsing a list"),
        (format!("{{\"w\":{opened}{closed}}}"), "tensor 'w': expected value"),
    ] {
        let deep = Scratch::of("deep.safetensors", &with(&text, 0));
        let error = refused(&deep, |path| safetensors::File::open(path));
        assert!(error.contains(reason), "{error}");
    }
    let eighths = safetensors::File::open(file("float8.safetensors")).unwrap();
    let error = message(eighths.read("eighths", &device));
    assert!(
        error.ends_with("float8.safetensors: tensor 'eighths': this crate has no element type F8_E4M3"),
        "{error}"
    );
    let error = message(eighths.read("ninths", &device));
    assert!(error.ends_with("tensor 'ninths': the file has no tensor of that name, but eighths"), "{error}");
}

#[test]
fn pictures_are_read_and_written() {
    let pixel = |y: u8, x: u8| [x * 50, 7, y * 5 + x];
    on_every_device(|device| {
        let rgb = image::read(file("rgb.png"), device).unwrap();
        assert_eq!(rgb.shape(), &[3, 5, 3]);
        let all: Vec<u8> = (0..3).flat_map(|y| (0..5).flat_map(move |x| pixel(y, x))).collect();
        assert_eq!(rgb.to_vec().unwrap(), all);
        let gray = image::read(file("gray.png"), device).unwrap();
        assert_eq!((gray.shape().to_vec(), gray.to_vec().unwrap()), (vec![3, 5, 1], (0..15).collect()));
        let rgba = image::read(file("rgba.png"), device).unwrap();
        assert_eq!(rgba.shape(), &[3, 5, 4]);
        assert_eq!(rgba.slice(2, ..3).to_vec().unwrap(), all);
        assert_eq!(rgba.slice(2, 3..).to_vec().unwrap(), [128; 15]);
        assert_eq!(image::read(file("gray_alpha.png"), device).unwrap().shape(), &[3, 5, 2]);
        assert_eq!(image::read(file("flat.jpg"), device).unwrap().to_vec().unwrap(), [100; 768]);
        // 16 bits, of which 8 stay.
        let deep = image::read(file("deep.png"), device).unwrap();
        assert!(deep.to_vec().unwrap().into_iter().eq((0..15).map(|i| i * 17)));

        for (channels, name) in [(1, "one.png"), (2, "two.png"), (3, "three.png"), (4, "four.png")] {
            let own = Scratch::new(name);
            let picture = rgba.flip(0).slice(2, ..channels);
            image::write(&own.0, &picture).unwrap();
            let back = image::read(&own.0, device).unwrap();
            assert_eq!(back.to_vec().unwrap(), picture.to_vec().unwrap());
        }
    });
}

#[test]
fn pictures_that_lie_are_refused() {
    let device = Device::cpu();
    for channels in [2, 4] {
        let own = Scratch::of(&format!("opaque{channels}.jpg"), b"before");
        let error = image::write(&own.0, device.full([8, 8, channels], 7_u8).unwrap()).unwrap_err();
        assert!(error.message().contains("JPEG has no alpha channel"), "{error}");
        assert_eq!(std::fs::read(&own.0).unwrap(), b"before");
    }
    let mut lie = std::fs::read(file("gray.png")).unwrap();
    // Width and height, with the checksum of what then stands there.
    lie[16..24].copy_from_slice(&[0, 0, 0x3a, 0x98, 0, 0, 0x3a, 0x98]);
    let sum = checksum(&lie[12..29]);
    lie[29..33].copy_from_slice(&sum.to_be_bytes());
    let size = lie.len();
    let own = Scratch::of("lie.png", &lie);
    let error = refused(&own, |path| image::read(path, &device));
    assert!(
        error.ends_with(&format!(
            "lie.png: a picture of 15000 x 15000 takes 225000000 bytes, more than {size} packed bytes can hold"
        )),
        "{error}"
    );
    let mut lie = std::fs::read(file("flat.jpg")).unwrap();
    // Height and width in the header of its frame.
    let frame = lie.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    lie[frame + 5..frame + 9].copy_from_slice(&[0x3a, 0x98, 0x3a, 0x98]);
    let size = lie.len();
    let error = refused(&Scratch::of("lie.jpg", &lie), |path| image::read(path, &device));
    assert!(
        error.ends_with(&format!(
            "lie.jpg: a picture of 15000 x 15000 takes 675000000 bytes, more than {size} packed bytes can hold"
        )),
        "{error}"
    );
    let own = Scratch::of("text.png", b"no picture");
    assert!(
        message(image::read(&own.0, &device))
            .ends_with("text.png: its first bytes are those of no picture format")
    );
    let flat = device.zeros::<u8>([2, 2]).unwrap();
    assert!(message(image::write(Scratch::new("x.unknown").0.clone(), &flat)).contains("cannot write it: "));
    assert!(image::write(file("never.png"), flat.broadcast_to([2, 2, 2, 2])).is_err());
}

/// Arrays of every order, direction, gap and stretch, there and back.
#[test]
fn arrays_of_any_strides_go_there_and_back() {
    let c = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as i32);
    let f = Array3::from_shape_fn((3, 4, 5).f(), |(i, j, k)| (100 * i + 10 * j + k) as i32);
    let stretched = c.slice(s![.., 1..2, ..]).to_owned();
    on_every_device(|device| {
        let mut views = vec![
            (c.view().into_dyn(), Some(vec![20, 5, 1])),
            (f.view().into_dyn(), Some(vec![1, 3, 12])),
            (c.view().permuted_axes([2, 0, 1]).into_dyn(), Some(vec![1, 20, 5])),
            (c.slice(s![..;-1, .., ..;-1]).into_dyn(), Some(vec![-20, 5, -1])),
            (f.slice(s![.., ..;-1, ..]).into_dyn(), Some(vec![1, -3, 12])),
            (stretched.broadcast((3, 4, 5)).unwrap().into_dyn(), Some(vec![5, 0, 1])),
            (c.slice(s![1..2, 2..3, 3..4]).into_dyn(), None),
            (c.slice(s![..;2, 1..;2, ..;-2]).into_dyn(), None),
            (c.slice(s![1..1, .., ..]).into_dyn(), None),
        ];
        let mut cut = f.view().into_dyn();
        cut.slice_axis_inplace(Axis(1), Slice::new(1, None, 2));
        views.push((cut, None));
        for (array, strides) in views {
            let tensor = device.upload_array(&array).unwrap();
            assert_eq!(tensor.shape().to_vec(), array.shape());
            if let Some(strides) = strides {
                assert_eq!(tensor.layout().strides(), strides);
            }
            assert_eq!(tensor.to_array().unwrap(), array);
            assert_eq!((tensor.expr() + 1).to_array().unwrap(), array.mapv(|x| x + 1));
        }
        let scalar = device.upload_array(&ArrayD::from_elem(IxDyn(&[]), f16::ONE)).unwrap();
        assert_eq!((scalar.shape().rank(), scalar.item().unwrap()), (0, f16::ONE));
        let wrong = Expr::<i32>::scalar(1).flip(0);
        assert_eq!(wrong.to_array().unwrap_err().kind(), ErrorKind::Axis);
    });
}

#[test]
fn shapes_layouts_and_rules_go_there_and_back() {
    for rule in [
        Broadcast::None,
        Broadcast::NumPy,
        Broadcast::Pdpd { axis: -1 },
        Broadcast::Paddle { axis: 2 },
        Broadcast::Bidirectional,
        Broadcast::Explicit { axes: vec![0, 3] },
    ] {
        let text = serde_json::to_string(&rule).unwrap();
        assert_eq!(serde_json::from_str::<Broadcast>(&text).unwrap(), rule, "{text}");
    }
    for dtype in DType::ALL {
        let text = serde_json::to_string(&dtype).unwrap();
        assert_eq!(serde_json::from_str::<DType>(&text).unwrap(), dtype);
    }
    let views = [
        Layout::contiguous([2, 3, 4]).unwrap().permute(&[2, 0, 1]).unwrap().flip(1).unwrap(),
        Layout::contiguous([3]).unwrap().broadcast_to(&Shape::from([2, 3])).unwrap(),
        Layout::contiguous([]).unwrap(),
        Layout::contiguous([0, 3]).unwrap(),
    ];
    for layout in views {
        let text = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout, "{text}");
    }
    for (text, reason) in [
        (r#"{"shape":[2],"strides":[1,1],"offset":0}"#, "2 strides for the 1 axes of [2]"),
        (r#"{"shape":[3],"strides":[-1],"offset":1}"#, "reaches elements -1 to 1"),
        (r#"{"shape":[3],"strides":[9223372036854775807],"offset":1}"#, "reaches elements 1 to"),
        (r#"{"shape":[4294967296,4294967296],"strides":[0,0],"offset":0}"#, "overflows"),
        (r#"{"shape":[2],"strides":[1],"offset":0,"more":1}"#, "unknown field"),
    ] {
        let error = serde_json::from_str::<Layout>(text).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    assert!(serde_json::from_str::<Shape>(&format!("[{}1]", "1,".repeat(200))).is_err());
    assert!(
        serde_json::from_str::<DType>("\"f8\"")
            .unwrap_err()
            .to_string()
            .contains("no element type is called 'f8'")
    );
}
