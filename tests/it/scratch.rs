//! Files of a test's own, and the memory that a call asks for.

use std::alloc::{GlobalAlloc, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};

use zerostride::Result;

/// The system's allocator, which notes the requests of a thread.
struct Asking;

thread_local! {
    /// Bytes of the largest request.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    /// Bytes that are held, and the most of them.
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

impl Asking {
    fn note(asked: usize, freed: usize) {
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(asked)));
        let _ = NOW.try_with(|now| {
            now.set(now.get() + asked as isize - freed as isize);
            let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
        });
    }
}

// SAFETY: each call is passed on as it is; noting its size touches no memory of the allocator's.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Asking {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        Asking::note(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: std::alloc::Layout) -> *mut u8 {
        Asking::note(layout.size(), 0);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: std::alloc::Layout, size: usize) -> *mut u8 {
        Asking::note(size, layout.size());
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: std::alloc::Layout) {
        Asking::note(0, layout.size());
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ASKING: Asking = Asking;

/// Bytes that a call asked for on its own thread.
#[derive(Debug)]
pub(crate) struct Asked {
    /// By one request.
    pub(crate) largest: usize,
    /// At once.
    pub(crate) held: usize,
}

/// The result of a call, and the memory that it asked for.
pub(crate) fn asked<T>(call: impl FnOnce() -> T) -> (T, Asked) {
    let before = NOW.get();
    LARGEST.set(0);
    MOST.set(before);
    let result = call();
    (result, Asked { largest: LARGEST.get(), held: (MOST.get() - before) as usize })
}

pub(crate) fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("no error"),
        Err(error) => error.message().to_string(),
    }
}

/// The message of an error, before which no more memory was asked for than the file has, and what parsers take.
pub(crate) fn refused<T>(file: &Scratch, read: impl FnOnce(&Path) -> Result<T>) -> String {
    let size = std::fs::metadata(&file.0).unwrap().len() as usize;
    let (result, Asked { largest, .. }) = asked(|| read(&file.0));
    let error = message(result);
    assert!(largest <= size + (256 << 10), "{largest} bytes were asked for, of a file of {size}: {error}");
    error
}

/// A file of `tests/data/files`.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/files").join(name)
}

/// The checksum of a chunk of PNG (ISO 3309).
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

fn own(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("zerostride-{}-{name}", std::process::id()))
}

/// A file of this test's own.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        Scratch(own(name))
    }

    pub(crate) fn of(name: &str, bytes: &[u8]) -> Scratch {
        let scratch = Scratch::new(name);
        std::fs::write(&scratch.0, bytes).unwrap();
        scratch
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A folder of this test's own.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = own(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    /// The names of what is in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
