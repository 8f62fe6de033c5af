//! Files that change while they are read, that are none, that repeat names, that were cut, or whose place others prepared.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use crate::scratch::{Folder, Scratch, asked, file, message, refused};
use zerostride::{Device, ErrorKind, Result, Tensor, image, npy, safetensors};

/// Every call that reads a file.
type Reader = fn(&Path) -> Result<()>;

const READERS: [Reader; 4] = [
    |path| npy::read(path, &Device::cpu()).map(drop),
    |path| npy::Archive::open(path).map(drop),
    |path| safetensors::File::open(path).map(drop),
    |path| image::read(path, &Device::cpu()).map(drop),
];

/// A file of safetensors with this header and a number of bytes of elements.
fn tensors_with(header: &str, elements: usize) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + elements, 0);
    bytes
}

/// A folder, and on Unix a pipe, devices and links to them are refused, and none is waited for.
#[test]
fn only_regular_files_are_read() {
    let folder = Folder::new("kinds");
    let mut others = vec![folder.0.clone()];
    #[cfg(unix)]
    {
        let (pipe, link) = (folder.0.join("pipe"), folder.0.join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        others.extend([pipe, link, "/dev/urandom".into(), "/dev/zero".into(), "/dev/null".into()]);
    }
    for path in &others {
        for reader in READERS {
            let (to, told) = mpsc::channel();
            let of = path.clone();
            std::thread::spawn(move || to.send(reader(&of)));
            let result = told.recv_timeout(Duration::from_secs(10));
            let error = result.unwrap_or_else(|_| panic!("{} is read for ever", path.display())).unwrap_err();
            let expected = "cannot read it: it is a directory, a pipe or a device, and no regular file";
            assert_eq!(error.message(), format!("{}: {expected}", path.display()));
            assert_eq!(error.kind(), ErrorKind::File);
        }
    }
    // Nor is one replaced.
    let before = folder.names();
    let x = Device::cpu().zeros::<f32>([2]).unwrap();
    for path in others.iter().filter(|path| path.starts_with(&folder.0)) {
        let error = npy::write(path, &x).unwrap_err();
        assert!(
            error.message().contains("cannot write it: it is a directory, a pipe or a device"),
            "{error}"
        );
    }
    assert_eq!(folder.names(), before);
}

/// Reading what is no longer there is an error, and does not end the process.
#[test]
fn files_that_become_shorter_are_refused() {
    let device = Device::cpu();
    let x = device.zeros::<f32>([1 << 16]).unwrap();
    let tensors = Scratch::new("shorter.safetensors");
    safetensors::write(&tensors.0, [("a", x.expr()), ("b", x.slice(0, ..4))]).unwrap();
    let archive = Scratch::new("shorter.npz");
    npy::write_archive(&archive.0, [("a", x.expr()), ("b", x.slice(0, ..4))]).unwrap();
    let open = safetensors::File::open(&tensors.0).unwrap();
    let zip = npy::Archive::open(&archive.0).unwrap();
    let cut = |scratch: &Scratch, to: u64| {
        fs::OpenOptions::new().write(true).open(&scratch.0).unwrap().set_len(to).unwrap();
    };
    let size = fs::metadata(&tensors.0).unwrap().len();
    cut(&tensors, 70_000);
    let expected = format!(
        "{}: tensor 'a': it ends by byte 70000, and had {size} at first: leave it while it is read",
        tensors.0.display()
    );
    assert_eq!(message(open.read("a", &device)), expected);
    let size = fs::metadata(&archive.0).unwrap().len();
    cut(&archive, 70_000);
    let expected = format!("it ends by byte 70000, and had {size} at first");
    let error = message(zip.read("a", &device));
    assert!(error.contains("shorter.npz: tensor 'a': ") && error.contains(&expected), "{error}");
    for to in [1000, 0] {
        cut(&tensors, to);
        cut(&archive, to);
        for name in ["a", "b"] {
            assert_eq!(open.read(name, &device).unwrap_err().kind(), ErrorKind::File);
            assert_eq!(zip.read(name, &device).unwrap_err().kind(), ErrorKind::File);
        }
    }
}

/// Another thread cuts and restores the file all the time.
#[test]
fn files_that_change_have_old_or_new_values() {
    let device = Device::cpu();
    let own = Scratch::new("changing.npy");
    npy::write(&own.0, device.full([1 << 16], 1_u8).unwrap()).unwrap();
    let whole = fs::read(&own.0).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let handle = fs::OpenOptions::new().write(true).open(&own.0).unwrap();
            while !is_done.load(Ordering::Relaxed) {
                handle.set_len(1000).unwrap();
                fs::write(&own.0, &whole).unwrap();
            }
        });
        for _ in 0..200 {
            match npy::read(&own.0, &device) {
                Ok(x) => assert!(x.to_vec::<u8>().unwrap().iter().all(|&value| value <= 1)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::File, "{error}"),
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[cfg(unix)]
#[test]
fn links_stay_and_what_they_name_is_replaced() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new("links");
    let at = |name: &str| folder.0.join(name);
    let x = Device::cpu().full([3], 7_u8).unwrap();
    let written = || npy::read(at("below/target.npy"), &Device::cpu()).is_ok();
    fs::create_dir(at("below")).unwrap();
    fs::write(at("below/target.npy"), b"before").unwrap();
    symlink("below/target.npy", at("first")).unwrap();
    symlink(at("first"), at("second")).unwrap();
    for link in ["first", "second"] {
        fs::write(at("below/target.npy"), b"before").unwrap();
        npy::write(at(link), &x).unwrap();
        assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink() && written(), "{link}");
    }
    // A link to nothing makes what it names, as when a file is opened to be written.
    fs::remove_file(at("below/target.npy")).unwrap();
    npy::write(at("second"), &x).unwrap();
    assert!(fs::symlink_metadata(at("first")).unwrap().is_symlink() && written());
    symlink(at("loop"), at("loop")).unwrap();
    assert!(message(npy::write(at("loop"), &x)).contains("loop: cannot write it: "));
    assert_eq!(folder.names(), ["below", "first", "loop", "second"]);
}

#[cfg(unix)]
#[test]
fn modes_stay() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("modes");
    let x = Device::cpu().full([3], 7_u8).unwrap();
    let path = folder.0.join("x.npy");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    npy::write(&path, &x).unwrap();
    fs::write(folder.0.join("other"), b"").unwrap();
    assert_eq!(mode(&path), mode(&folder.0.join("other")), "a new file has the mode of any new file");
    for expected in [0o600, 0o640, 0o666, 0o444] {
        fs::set_permissions(&path, fs::Permissions::from_mode(expected)).unwrap();
        npy::write(&path, &x).unwrap();
        assert_eq!(mode(&path), expected, "{:o} and {expected:o}", mode(&path));
    }
}

/// A file is made under a name that nobody can foresee, and never through a link.
#[cfg(unix)]
#[test]
fn prepared_links_are_not_followed() {
    let folder = Folder::new("prepared");
    let victim = Scratch::of("victim", b"kept");
    let number = std::process::id();
    for call in 0..500 {
        let name = folder.0.join(format!("x.npy.{number}.{call}.part"));
        std::os::unix::fs::symlink(&victim.0, name).unwrap();
    }
    let x = Device::cpu().full([3], 7_u8).unwrap();
    npy::write(folder.0.join("x.npy"), &x).unwrap();
    assert_eq!(fs::read(&victim.0).unwrap(), b"kept");
    assert_eq!(folder.names().len(), 501);
    assert!(!fs::symlink_metadata(folder.0.join("x.npy")).unwrap().is_symlink());
    // The names of two writers at a time, of one thread and of two.
    let names = || {
        let seen = Folder::new(&format!("names-{:?}", std::thread::current().id()));
        let failing = Device::cpu().zeros::<f32>([2]).unwrap();
        let watch = |name: &str| {
            let arrays = std::iter::once_with(|| {
                let inside = seen.names();
                assert_eq!(inside.len(), 1, "{inside:?}");
                (inside[0].clone(), failing.expr())
            });
            npy::write_archive(seen.0.join(name), arrays).unwrap();
            let names: Vec<String> =
                npy::Archive::open(seen.0.join(name)).unwrap().names().map(String::from).collect();
            fs::remove_file(seen.0.join(name)).unwrap();
            names[0].clone()
        };
        [watch("a"), watch("b")]
    };
    let [here, there] = [names(), std::thread::spawn(names).join().unwrap()];
    let all: std::collections::BTreeSet<&String> = here.iter().chain(&there).collect();
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn names_that_stand_twice_are_refused() {
    let entry = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    for (header, reason) in [
        (format!(r#"{{"a":{entry},"b":{entry},"a":{entry}}}"#), "two entries have the name 'a' at line 1"),
        (format!(r#"{{"a":{entry},"\u0061":{entry}}}"#), "two entries have the name 'a' at line 1"),
        (r#"{"__metadata__":{"t":"1","t":"2"}}"#.into(), "two entries have the name 't' at line 1"),
        (
            r#"{"__metadata__":{},"__metadata__":{}}"#.into(),
            "two entries have the name '__metadata__' at line 1",
        ),
    ] {
        let twice = Scratch::of("twice.safetensors", &tensors_with(&header, 0));
        let error = refused(&twice, |path| safetensors::File::open(path));
        assert!(error.contains(reason), "{error}");
    }

    let x = Device::cpu().full([3], 7_u8).unwrap();
    let own = Scratch::new("twice.npz");
    npy::write_archive(&own.0, [("first", x.expr()), ("other", x.expr())]).unwrap();
    let mut bytes = fs::read(&own.0).unwrap();
    let places: Vec<usize> = (0..bytes.len() - 5).filter(|&i| &bytes[i..i + 5] == b"other").collect();
    assert_eq!(places.len(), 2);
    places.into_iter().for_each(|i| bytes[i..i + 5].copy_from_slice(b"first"));
    fs::write(&own.0, &bytes).unwrap();
    let expected = format!("{}: two of its arrays have one name", own.0.display());
    assert_eq!(message(npy::Archive::open(&own.0)), expected);
    // Two names of entries, and one of arrays.
    let mut zip = zip::ZipWriter::new(fs::File::create(&own.0).unwrap());
    for name in ["x", "x.npy"] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    }
    zip.finish().unwrap();
    assert_eq!(message(npy::Archive::open(&own.0)), expected);
}

/// What a header takes is a small multiple of it.
#[test]
fn large_headers_take_little_memory() {
    const SIZE: usize = 1 << 19;
    let filled = |begin: &str, part: &dyn Fn(usize) -> String, end: &str| {
        let mut text = begin.to_string();
        for i in 0.. {
            if text.len() >= SIZE {
                break;
            }
            if i > 0 {
                text.push(',');
            }
            text += &part(i);
        }
        text + end
    };
    let info = |i: usize| format!(r#""{i:x}":{{"dtype":"U8","shape":[],"data_offsets":[0,0]}}"#);
    let empty = |i: usize| format!(r#""{i:x}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#);
    let zero = |_: usize| "0".to_string();
    let headers = [
        ("scalars", filled("{", &info, "}")),
        ("empty tensors", filled("{", &empty, "}")),
        ("empty lists", filled(r#"{"a":["#, &|_| "[]".into(), "]}")),
        ("empty objects", filled("{", &|i| format!(r#""{i:x}":{{}}"#), "}")),
        ("a shape", filled(r#"{"a":{"dtype":"U8","shape":["#, &zero, r#"],"data_offsets":[0,0]}}"#)),
        (
            "an unknown field",
            filled(r#"{"a":{"x":["#, &zero, r#"],"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#),
        ),
        ("texts", filled(r#"{"__metadata__":{"#, &|i| format!(r#""{i:x}":"""#), "}}")),
        ("no texts", filled(r#"{"__metadata__":["#, &zero, "]}")),
        ("one name", format!(r#"{{"{}":{{}}}}"#, "a".repeat(SIZE))),
    ];
    for (what, header) in headers {
        let own = Scratch::of("large.safetensors", &tensors_with(&header, 0));
        let (result, memory) = asked(|| safetensors::File::open(&own.0));
        let told = result.map_or_else(|error| error.message().to_string(), |_| "read".into());
        println!("{what}: {} times the header, {told:.120}", memory.held as f64 / header.len() as f64);
        assert!(memory.held < 12 * header.len(), "{what}: {memory:?} of a header of {}", header.len());
    }
}

/// A picture that was cut anywhere is refused. Bytes after it are not its own.
#[test]
fn cut_pictures_are_refused() {
    let device = Device::cpu();
    let own = Scratch::new("cut");
    let read = |bytes: &[u8]| {
        fs::write(&own.0, bytes).unwrap();
        image::read(&own.0, &device)
    };
    let mut x = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 24) as u8
    })
    .take(96 * 64 * 3)
    .collect();
    let noise = device.upload(&noise, [64, 96, 3]).unwrap();
    let mut pictures: Vec<(String, Vec<u8>)> = Vec::new();
    for name in ["noise.jpg", "noise.png"] {
        let path = Scratch::new(name);
        image::write(&path.0, &noise).unwrap();
        pictures.push((name.into(), fs::read(&path.0).unwrap()));
    }
    for name in ["flat.jpg", "gray.png", "rgb.png", "rgba.png", "gray_alpha.png", "deep.png"] {
        pictures.push((name.into(), fs::read(file(name)).unwrap()));
    }
    // A picture in a segment of another, as cameras store a small one.
    let flat = &pictures[2].1;
    let length = (flat.len() as u16 + 2).to_be_bytes();
    let nested = [&flat[..2], &[0xff, 0xe1], &length, flat, &pictures[0].1[2..]].concat();
    pictures.push(("nested.jpg".into(), nested));
    for (name, whole) in &pictures {
        let pixels = read(whole).unwrap().to_vec().unwrap();
        assert!(read(&[whole, &[0_u8, 0xff, 0xda, 7][..]].concat()).is_ok(), "{name} with more");
        let step = if whole.len() > 1000 { whole.len() / 100 } else { 1 };
        let ends = (0..whole.len()).step_by(step).chain(whole.len() - 40..whole.len());
        for end in ends.chain([whole.len() / 20]) {
            // Of a PNG without the checksum of its last chunk, which is empty, every pixel is there.
            let is_all = |x: Tensor<u8>| name.ends_with("png") && x.to_vec().unwrap() == pixels;
            let is_cut = !read(&whole[..end]).is_ok_and(|x| !is_all(x));
            assert!(is_cut, "{name} of {} bytes is read when cut to {end}", whole.len());
        }
    }
    let (name, whole) = &pictures[0];
    let error = message(read(&whole[..whole.len() / 20 * 19]));
    assert!(error.ends_with("bytes end before the end of the picture"), "{name}: {error}");
}
