//! Compiled pipelines: few are kept, the next process loads them from disk, and no state of the file does harm.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::depth::depth;
use crate::common::{alone, found, found_in_turn, open};
use zerostride::{Adapter, Device, ErrorKind, Expr, Options};

/// A directory that was not there, and goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        Directory(std::env::temp_dir().join(format!("zerostride-{name}-{}", std::process::id())))
    }

    /// The one file in it.
    fn file(&self) -> PathBuf {
        let files: Vec<PathBuf> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new device compiles a kernel with the files of a directory, and writes them.
fn compile(adapter: &Adapter, directory: &Directory) -> bool {
    let device = open(adapter);
    let kept = device.cache_pipelines(&directory.0).unwrap();
    let x = device.upload(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    assert_eq!((&x * 3.0 + 0.5).to_vec().unwrap(), [3.5, 6.5, 9.5], "{}", device.name());
    device.save_pipelines().unwrap();
    kept
}

#[test]
fn whatever_the_file_holds_the_results_are_right() {
    let mut kept_by = 0;
    for (i, adapter) in Device::all().iter().enumerate() {
        let directory = Directory::new(&format!("pipelines-{i}"));
        let kept = compile(adapter, &directory);
        assert_eq!(kept, adapter.backend == "vulkan", "{}", adapter.name);
        if !kept {
            assert!(!directory.0.exists(), "{} wrote files", adapter.name);
            continue;
        }
        kept_by += 1;
        let file = directory.file();
        let good = fs::read(&file).unwrap();
        let mut flipped = good.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let (cut, long) = (good[..good.len() - 1].to_vec(), [good.as_slice(), &[0]].concat());
        for bytes in
            [good, flipped, cut, long, b"zerostride pipelines 1\n".to_vec(), vec![7; 4096], Vec::new()]
        {
            fs::write(&file, &bytes).unwrap();
            assert!(compile(adapter, &directory));
            let written = fs::read(directory.file()).unwrap();
            assert!(
                written.starts_with(b"zerostride pipelines 1\n") && written.len() > 31,
                "{}",
                adapter.name
            );
        }
    }
    let expected = std::env::var("ZEROSTRIDE_EXPECT").unwrap_or_default().matches("vulkan:").count();
    assert!(kept_by >= expected, "{kept_by} devices keep pipelines, and {expected} are expected to");
}

#[test]
fn a_directory_that_cannot_be_is_an_error() {
    let directory = Directory::new("no-directory");
    fs::write(&directory.0, "a file").unwrap();
    for adapter in found().filter(|adapter| adapter.backend == "vulkan") {
        let error = open(&adapter).cache_pipelines(&directory.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File, "{error}");
    }
    fs::remove_file(&directory.0).unwrap();
}

/// Pipelines go to the driver as they are, so nobody else may have written them.
#[cfg(unix)]
#[test]
fn what_others_can_write_is_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let set = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for adapter in found().filter(|adapter| adapter.backend == "vulkan") {
        let directory = Directory::new("pipelines-of-others");
        assert!(compile(&adapter, &directory));
        let file = directory.file();
        assert_eq!((mode(&directory.0), mode(&file)), (0o700, 0o600));
        let device = open(&adapter);
        let refused = |path: &Path, what: &str| {
            let error = device.cache_pipelines(&directory.0).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::File, "{error}");
            let begin = format!("{}: cannot keep pipelines there: it belongs to user ", path.display());
            let is_told = error.message().starts_with(&begin) && error.message().contains(what);
            assert!(is_told, "{error}");
        };
        for (path, own) in [(&directory.0, 0o700), (&file, 0o600)] {
            for more in [0o022, 0o020, 0o002, 0o077] {
                set(path, own | more);
                refused(path, &format!(" with mode {:o}, and only user ", own | more));
            }
            // Others may read, as directories and files of older versions let them.
            set(path, own | own >> 3 & 0o055 | 0o044);
            assert!(device.cache_pipelines(&directory.0).unwrap());
            set(path, own);
        }
        // Only the system's user can give a file away.
        for path in [&file, &directory.0] {
            if chown(path, Some(12345), None).is_ok() {
                refused(path, "user 12345");
                chown(path, Some(0), None).unwrap();
            } else {
                let error = device.cache_pipelines("/").unwrap_err();
                assert_eq!(error.kind(), ErrorKind::File, "{error}");
            }
        }
        assert!(compile(&adapter, &directory));
    }
}

#[test]
fn a_new_size_of_a_known_fold_compiles_nothing() {
    for adapter in found_in_turn() {
        let device = open(&adapter);
        // Pairs of shapes whose folds run in the same forms: rows, of one block and of several, short ones, columns.
        let shapes: [([usize; 2], [usize; 2], isize); 7] = [
            ([6, 4096], [11, 4096], 1),
            ([6, 4000], [13, 2100], 1),
            ([6, 8192], [3, 8192], 1),
            ([1000, 8], [77, 8], 1),
            ([4096, 64], [4096, 104], 0),
            ([3500, 60], [3300, 100], 0),
            ([50, 300], [70, 404], 1),
        ];
        let count = |shape: [usize; 2], axis: isize| {
            let x = device.full(shape, 1.0_f32).unwrap();
            let (sum, most) = (x.sum(axis).to_vec().unwrap(), x.argmax(axis).to_vec().unwrap());
            assert_eq!(sum, vec![shape[axis as usize] as f32; shape[1 - axis as usize]]);
            assert_eq!(most, vec![0; shape[1 - axis as usize]]);
            device.memory().pipelines
        };
        for (known, new, axis) in shapes {
            let before = count(known, axis);
            assert_eq!(before, count(new, axis), "{}: {new:?} after {known:?}", device.name());
        }
    }
}

/// A form depends on the divisors of a size and on whether it is small, so all sizes have few forms.
#[test]
fn kernels_of_folds_are_few() {
    const LENGTHS: [usize; 14] = [2, 3, 8, 20, 64, 100, 104, 255, 256, 300, 512, 1000, 2048, 4100];
    for adapter in found().take(depth(1, usize::MAX)) {
        let device = open(&adapter);
        let before = device.memory().pipelines;
        for (rows, columns) in LENGTHS.into_iter().flat_map(|n| LENGTHS.map(|m| (n, m))) {
            let x = device.full([rows, columns], 1.0_f32).unwrap();
            for (axis, length) in [(0, rows), (1, columns)] {
                let sums = x.sum(axis).to_vec().unwrap();
                assert!(
                    sums.iter().all(|&sum| sum == length as f32),
                    "{}: {rows} x {columns}",
                    device.name()
                );
            }
        }
        let made = device.memory().pipelines - before;
        // A GPU has several vectors of a row on their way, a kernel for each power of two of them: 53 kernels.
        let sums = device.zeros::<f32>([6, 4096]).unwrap().sum(1).explain(&device).unwrap().to_string();
        let most = if sums.contains("invocations share a row") { 56 } else { 48 };
        assert!(made <= most, "{}: {made} kernels", device.name());
    }
}

#[test]
fn a_new_size_of_known_rows_compiles_nothing() {
    for adapter in found_in_turn() {
        let device = open(&adapter);
        // Pairs of shapes whose rows are computed in the same forms: along memory, and across it.
        let shapes: [([usize; 2], [usize; 2], isize); 2] =
            [([300, 1100], [400, 1500], 1), ([60, 300], [50, 404], 0)];
        let count = |shape: [usize; 2], axis: isize| {
            let x = device.full(shape, 1.0_f32).unwrap();
            let n = shape[axis as usize] as f32;
            let soft = x.softmax(axis).to_vec().unwrap();
            assert!(soft.iter().all(|y| (y * n - 1.0).abs() < 1e-5), "{}: {shape:?}", device.name());
            let norm = (&x - x.mean_keepdim(axis)) / (x.var_keepdim(axis, 0) + 1.0).sqrt();
            assert!(norm.to_vec().unwrap().iter().all(|&y| y == 0.0), "{}: {shape:?}", device.name());
            device.memory().pipelines
        };
        for (known, new, axis) in shapes {
            let before = count(known, axis);
            assert_eq!(before, count(new, axis), "{}: {new:?} after {known:?}", device.name());
        }
    }
}

/// An expression whose kernel no other number has.
fn different(x: &Expr<f32>, number: usize) -> Expr<f32> {
    let digits = (0..10).map(|bit| number >> bit & 1);
    digits.fold(x.clone(), |y, digit| if digit == 0 { y + x } else { y * x })
}

/// Bytes of this process in memory.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

/// Run by the next test, in a process of its own, where nothing else takes memory.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "run by few_pipelines_are_kept"]
fn keeping_few_pipelines() {
    const MOST: usize = 32;
    let number_of_kernels = depth(132, 420);
    for adapter in found().take(depth(1, usize::MAX)) {
        let name = format!("{}:{}", adapter.backend, adapter.index);
        let device = Device::open_with(&Options::default().adapter(name).pipelines(MOST)).unwrap();
        let x = device.upload(&[1.0_f32, 2.0], [2]).unwrap();
        let run = |number: usize| different(&x, number).to_vec().unwrap()[0];
        let mut sizes = Vec::new();
        let often = run(1023);
        for number in 0..number_of_kernels {
            assert_eq!(run(number), 1.0 + (10 - number.count_ones()) as f32, "{number}");
            if number % 8 == 0 {
                assert_eq!(run(1023), often);
            }
            assert!(device.kernels().len() <= MOST && device.memory().pipelines as usize <= MOST);
            sizes.push(resident());
        }
        assert_eq!(device.memory().pipelines as usize, MOST, "{adapter:?}");
        // After a quarter the memory is that of few pipelines, and it stays so: the rest would take 150 MB
        // on llvmpipe.
        let (early, late) = (sizes[number_of_kernels / 4], sizes[number_of_kernels - 1]);
        println!("{}: {} MB and {} MB", device.name(), early >> 20, late >> 20);
        assert!(late < early + (48 << 20), "{}: from {early} to {late} bytes", device.name());
        // A kernel that was used all the time is kept, and one that was used once is not.
        let (mut first, mut again) = (device.kernels(), device.kernels());
        run(1023);
        again.sort();
        first.sort();
        assert_eq!(first, again);
        run(0);
        first = device.kernels();
        first.sort();
        assert_ne!(first, again);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn few_pipelines_are_kept() {
    let child = alone("pipelines::keeping_few_pipelines").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("1 passed"), "{output}{errors}");
}
