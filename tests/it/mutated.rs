//! Files and texts that were changed at random: reading one is a result or an error, never a panic, and takes no memory
//! that it only claims.

use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::common::Random;
use crate::common::depth::depth;
use crate::progress::Progress;
use crate::scratch::{Scratch, asked, checksum, file};
use zerostride::{Broadcast, DType, Device, Layout, Shape, image, npy, safetensors};

/// The files of `tests/data/files`, and texts of serde, by name.
fn originals() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(file("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if !name.ends_with(".py") {
            all.push((name, fs::read(&path).unwrap()));
        }
    }
    // In an order that every system has.
    all.sort();
    assert!(all.len() >= 15, "{} files", all.len());
    let texts = [
        ("shape.json", "[2,3,18446744073709551615]"),
        ("layout.json", r#"{"shape":[2,3],"strides":[-3,1],"offset":3}"#),
        ("dtype.json", r#""bf16""#),
        ("pdpd.broadcast.json", r#"{"Pdpd":{"axis":1}}"#),
        ("explicit.broadcast.json", r#"{"Explicit":{"axes":[0,2]}}"#),
        ("name.broadcast.json", r#""NumPy""#),
    ];
    all.extend(texts.map(|(name, text)| (name.into(), text.as_bytes().to_vec())));
    all
}

/// Opens a file and reads everything. Returns whether all of it was right.
fn read(name: &str, path: &Path, device: &Device) -> bool {
    let text = || fs::read(path).unwrap();
    match name.split_once('.').unwrap().1 {
        "npy" => npy::read(path, device).is_ok_and(|x| x.to_bytes().is_ok()),
        "npz" => npy::Archive::open(path).is_ok_and(|archive| {
            let is_read = |name: &str| archive.read(name, device).is_ok_and(|x| x.to_bytes().is_ok());
            archive.names().filter(|name| !is_read(name)).count() == 0
        }),
        "safetensors" => safetensors::File::open(path).is_ok_and(|file| {
            let is_read = |name: &str| file.read(name, device).is_ok_and(|x| x.to_bytes().is_ok());
            file.names().filter(|name| !is_read(name)).count() == 0
        }),
        "png" | "jpg" => image::read(path, device).is_ok_and(|x| x.to_vec().is_ok()),
        "json" if name == "shape.json" => {
            serde_json::from_slice::<Shape>(&text()).is_ok_and(|shape| shape.count().is_ok())
        }
        "json" if name == "layout.json" => serde_json::from_slice::<Layout>(&text())
            .is_ok_and(|layout| layout.addresses().take(100).all(|at| isize::try_from(at).is_ok())),
        "json" => serde_json::from_slice::<DType>(&text()).is_ok(),
        "broadcast.json" => serde_json::from_slice::<Broadcast>(&text())
            .map(|rule| rule.shape(&[2, 3, 4, 5], &[3, 4]).map_err(|error| error.to_string()))
            .is_ok(),
        other => panic!("no reader of .{other}"),
    }
}

/// Numbers at the ends of types, and where products of them overflow.
fn extreme(random: &mut Random) -> u64 {
    let near = [0_u64, 1 << 7, 1 << 8, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 53, 1 << 61, 1 << 63];
    near[random.below(near.len())].wrapping_add(random.below(5) as u64).wrapping_sub(2)
}

/// A range of a number of bytes, mostly a short one.
fn range(random: &mut Random, count: usize) -> std::ops::Range<usize> {
    let start = random.below(count + 1);
    let most = if random.chance(75) { 16 } else { count };
    start..start + random.below((count - start).min(most) + 1)
}

/// Changes bytes once, and says how.
fn change(random: &mut Random, bytes: &mut Vec<u8>, others: &[(String, Vec<u8>)]) -> String {
    let count = bytes.len();
    let at = random.below(count);
    match random.below(9) {
        0 if count > 0 => {
            bytes[at] ^= 1 << random.below(8);
            format!("a bit of byte {at}")
        }
        1 => {
            bytes.truncate(at);
            format!("cut to {at}")
        }
        2 => {
            let range = range(random, count);
            bytes.drain(range.clone());
            format!("without {range:?}")
        }
        3 => {
            let new: Vec<u8> = (0..random.below(20)).map(|_| random.next() as u8).collect();
            bytes.splice(at..at, new.iter().copied());
            format!("{new:?} inserted at {at}")
        }
        4 => {
            let range = range(random, count);
            let again = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, again);
            format!("{range:?} twice")
        }
        5 | 6 if count > 0 => {
            let (number, width) = (extreme(random), [1, 2, 4, 8][random.below(4)].min(count - at));
            let (little, big) = (number.to_le_bytes(), number.to_be_bytes());
            let new = if random.chance(50) { &little[..width] } else { &big[8 - width..] };
            bytes[at..at + width].copy_from_slice(new);
            format!("{new:?} at {at}")
        }
        7 => {
            let is_digit = |i: &usize| bytes[*i].is_ascii_digit();
            let is_first = |i: &usize| is_digit(i) && (*i == 0 || !is_digit(&(i - 1)));
            let starts: Vec<usize> = (0..count).filter(is_first).collect();
            let Some(&start) = starts.get(random.below(starts.len())) else { return "as it was".into() };
            let end = (start..count).find(|i| !is_digit(i)).unwrap_or(count);
            let sign = if random.chance(10) { "-" } else { "" };
            let more = if random.chance(10) { "99999999999999999999" } else { "" };
            let new = format!("{sign}{}{more}", extreme(random));
            bytes.splice(start..end, new.bytes());
            format!("{new} for the digits at {start}")
        }
        _ => {
            let (name, other) = &others[random.below(others.len())];
            let from = random.below(other.len());
            bytes.truncate(at);
            bytes.extend(&other[from..]);
            format!("cut to {at}, then {name} from {from}")
        }
    }
}

/// Writes the checksums of a PNG's chunks anew, so that what is in them is read.
fn seal(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = bytes.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let Some(chunk) = bytes.get(at + 4..at + 8 + length) else { return };
        let sum = checksum(chunk).to_be_bytes();
        at += 8 + length;
        let Some(place) = bytes.get_mut(at..at + 4) else { return };
        place.copy_from_slice(&sum);
        at += 4;
    }
}

/// The changed file of a seed is read. Returns whether it was right. Fails with the seed, and how the file was changed.
fn check(
    seed: u64,
    originals: &[(String, Vec<u8>)],
    scratch: &Scratch,
    device: &Device,
) -> Result<bool, String> {
    let mut random = Random(seed);
    let (name, bytes) = &originals[random.below(originals.len())];
    let mut bytes = bytes.clone();
    let mut how: Vec<String> =
        (0..1 + random.below(4)).map(|_| change(&mut random, &mut bytes, originals)).collect();
    if name.ends_with(".png") && random.chance(50) {
        seal(&mut bytes);
        how.push("with checksums".into());
    }
    fs::write(&scratch.0, &bytes).unwrap();
    let (result, memory) = asked(|| catch_unwind(AssertUnwindSafe(|| read(name, &scratch.0, device))));
    let case = || format!("seed {seed}: {name}, {}", how.join(", "));
    let most = (64 * bytes.len()).max(64 << 20);
    match result {
        Err(_) => Err(format!("{}: a panic", case())),
        Ok(_) if memory.largest > most => Err(format!("{}: {memory:?} of {} bytes", case(), bytes.len())),
        Ok(is_right) => Ok(is_right),
    }
}

#[test]
fn changed_files_are_results_or_errors() {
    let (originals, scratch, device) = (originals(), Scratch::new("mutated"), Device::cpu());
    for (name, bytes) in &originals {
        fs::write(&scratch.0, bytes).unwrap();
        let is_read = !["complex.npy", "records.npy", "float8.safetensors", "shape.json"].contains(&&**name);
        assert_eq!(read(name, &scratch.0, &device), is_read, "{name}");
    }
    let seeds = depth(3000, 20_000);
    println!("seeds 0 to {seeds}");
    let right = (0..seeds)
        .filter(|&seed| check(seed, &originals, &scratch, &device).unwrap_or_else(|how| panic!("{how}")));
    // Neither are all changes harmless, nor are all refused.
    let right = right.count() as u64;
    assert!(right > seeds / 50 && right < seeds / 2, "{right} of {seeds} are right");
}

/// A million changed files from the seed `ZEROSTRIDE_SEED` on, or this seed alone if `ZEROSTRIDE_SOAK` is 0. scripts/soak
/// runs it.
#[test]
#[ignore = "runs for minutes"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, minutes) = (number("ZEROSTRIDE_SEED").unwrap_or(0), number("ZEROSTRIDE_SOAK").unwrap_or(0));
    let seeds = if minutes == 0 { 1 } else { 1_000_000 };
    let say = |text: String| writeln!(std::io::stderr(), "{text}").unwrap();
    let (originals, scratch, device) = (originals(), Scratch::new("mutated-soak"), Device::cpu());
    let mut progress = Progress::new("changed files", seeds as usize, "files");
    let mut failed = Vec::new();
    for seed in first..first + seeds {
        if let Err(text) = check(seed, &originals, &scratch, &device) {
            progress.print(|| say(text));
            failed.push(seed);
        }
        progress.at((seed - first) as usize, &format!(", {} failed", failed.len()));
    }
    drop(progress);
    assert!(failed.is_empty(), "seeds that failed: {failed:?}");
    say(format!("seeds {first} to {}: every changed file is a result or an error", first + seeds - 1));
}
