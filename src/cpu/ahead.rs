//! Prefetching: the engine asks for the memory of the next tile while it computes this one. A processor guesses loads
//! that continue a stream, but not across arithmetic between them. Few lines are asked for at a time, which costs
//! nothing. More at a time wait for each other, and loads wait for them.

use super::lines::{self, LINE};

/// The most inputs whose lines are prefetched.
const MOST: usize = 4;

/// Lines of each input, without lines of an earlier input. Other places are empty.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a>([&'a [[u8; LINE]]; MOST]);

impl<'a> Ahead<'a> {
    /// The lines of some ranges of memory.
    pub(super) fn in_stretches(stretches: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut all = [&[][..]; MOST];
        let mut count = 0;
        for own in stretches {
            // Channels of a picture share lines.
            let is_known =
                |lines: &&[[u8; LINE]]| lines.as_flattened().as_ptr_range().contains(&own.as_ptr());
            if !all[..count].iter().any(is_known) {
                all[count] = own.as_chunks().0;
                count += 1;
            }
            if count == MOST {
                break;
            }
        }
        Ahead(all)
    }

    /// The first of them, up to a number.
    pub(super) fn first(self, most: usize) -> Self {
        let inputs = self.0.iter().filter(|lines| !lines.is_empty()).count().max(1);
        Ahead(self.0.map(|lines| &lines[..lines.len().min(most / inputs)]))
    }

    /// Prefetches in parts: each call asks for one of `parts` parts, input after input.
    #[inline(always)]
    pub(super) fn in_steps(self, steps: usize) -> impl FnMut() {
        let all: usize = self.0.iter().map(|lines| lines.len()).sum();
        let each = all.div_ceil(steps.max(1)).max(1);
        let mut parts = self.0.into_iter().flat_map(move |lines| lines.chunks(each));
        move || lines::ask(parts.next().unwrap_or_default())
    }

    /// Prefetches all of it.
    pub(super) fn load(self) {
        self.0.into_iter().for_each(lines::ask);
    }
}

/// The range of elements of a size that begin at `at` and lie `stride` apart. `None` if there is not more than one
/// element a line.
pub(super) fn stretch(
    bytes: &[u8],
    size: usize,
    (at, stride): (usize, isize),
    elements: usize,
) -> Option<&[u8]> {
    if elements == 0 || stride == 0 || stride.unsigned_abs() * size > LINE {
        return None;
    }
    let far = (elements - 1) * stride.unsigned_abs();
    let first = if stride < 0 { at - far } else { at };
    Some(&bytes[first * size..(first + far + 1) * size])
}
