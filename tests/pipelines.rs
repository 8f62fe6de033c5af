//! Compiled pipelines on disk: the next process takes them, and no state of the file does harm.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{found, open};
use zerostride::{Adapter, Device, ErrorKind};

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
