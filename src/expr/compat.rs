//! PyTorch's backwards-compatibility warning for broadcasting.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Line, line};
use crate::ir::Node;
use crate::layout::{Broadcast, Shape};

static ENABLED: AtomicBool = AtomicBool::new(false);
static WARNED: Mutex<Option<HashSet<Line>>> = Mutex::new(None);

/// Turns on a warning for operators whose operands broadcast and have different shapes but equal element counts: code
/// from before broadcasting may have meant them as 1-D (PyTorch `torch.utils.backcompat.broadcast_warning`). Off by
/// default.
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

/// Warns, if the warning is on and applies to operands of the public call, or else of the one at this line.
pub(super) fn check(args: &[&Arc<Node>], at: Line) {
    if !ENABLED.load(Ordering::Relaxed) {
        return;
    }
    let at = line().unwrap_or(at);
    let shapes: Vec<Shape> = args.iter().map(|node| node.shape.clone()).collect();
    let place = format!(" at {}:{}:{}", at.file(), at.line(), at.column());
    let Some(text) = Broadcast::reinterpreted_at(&shapes, &place) else { return };
    let mut warned = WARNED.lock().unwrap_or_else(PoisonError::into_inner);
    if warned.get_or_insert_default().insert(at) {
        log::warn!("{text}");
    }
}
