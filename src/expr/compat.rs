//! PyTorch's backwards-compatibility warning for broadcasting.

use std::collections::HashSet;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Node;
use crate::layout::Shape;

static ENABLED: AtomicBool = AtomicBool::new(false);
static WARNED: Mutex<Option<HashSet<&'static Location<'static>>>> = Mutex::new(None);

/// Turns on a warning for operators whose operands have different shapes but equal element
/// counts, and broadcast: code from before broadcasting existed may have meant them as 1-D
/// (PyTorch `torch.utils.backcompat.broadcast_warning`). Off by default.
///
/// It goes through [`log::warn!`], once per call site.
///
/// ```
/// use zerostride::Device;
///
/// zerostride::warn_on_reinterpreted_shapes(true);
/// let device = Device::cpu();
/// let column = device.zeros::<f32>([4, 1])?;
/// let vector = device.zeros::<f32>([4])?;
/// let _warns = &column + &vector; // [4, 4], and not 4 sums
/// # zerostride::warn_on_reinterpreted_shapes(false);
/// # Ok::<(), zerostride::Error>(())
/// ```
pub fn warn_on_reinterpreted_shapes(enabled: bool) {
    ENABLED.store(enabled, Ordering::Relaxed);
}

/// Warns where it is due. `args` broadcast to `result`.
pub(super) fn check(args: &[&Arc<Node>], result: &Shape, at: &'static Location<'static>) {
    if !ENABLED.load(Ordering::Relaxed) {
        return;
    }
    let count = |shape: &Shape| shape.iter().product::<usize>();
    let differing = args.iter().enumerate().find_map(|(i, a)| {
        let twin = |b: &&&Arc<Node>| a.shape != b.shape && count(&a.shape) == count(&b.shape);
        args[i + 1..].iter().find(twin).map(|b| (&a.shape, &b.shape))
    });
    let Some((a, b)) = differing else { return };
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.get_or_insert_default().insert(at) {
        log::warn!(
            "{a} and {b} broadcast to {result} at {}:{}:{}; both have {} elements, and an old pointwise reading would have viewed both as 1-D",
            at.file(),
            at.line(),
            at.column(),
            count(a)
        );
    }
}
