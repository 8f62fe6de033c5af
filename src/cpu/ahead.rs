//! Memory that is read next, and is asked for while what was read is computed. A processor guesses what is loaded next
//! where that lies in a line, and not across what is computed between.
//! Lines are asked for few at a time, which costs nothing: more at a time wait for each other, and loads for them.

use super::lines::{self, LINE};

/// Inputs whose lines are asked for, at most.
const MOST: usize = 4;

/// Lines of each input, without those that an input before it has; none in the places that are left.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a>([&'a [[u8; LINE]]; MOST]);

impl<'a> Ahead<'a> {
    /// Of some stretches of memory.
    pub(super) fn in_stretches(stretches: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut all = [&[][..]; MOST];
        let mut count = 0;
        for own in stretches {
            // Channels of a picture lie in the same lines.
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

    /// The first ones, so many in all.
    pub(super) fn first(self, most: usize) -> Self {
        let inputs = self.0.iter().filter(|lines| !lines.is_empty()).count().max(1);
        Ahead(self.0.map(|lines| &lines[..lines.len().min(most / inputs)]))
    }

    /// What asks for one of so many parts each time, of one input after the other.
    #[inline(always)]
    pub(super) fn in_steps(self, steps: usize) -> impl FnMut() {
        let all: usize = self.0.iter().map(|lines| lines.len()).sum();
        let each = all.div_ceil(steps.max(1)).max(1);
        let mut parts = self.0.into_iter().flat_map(move |lines| lines.chunks(each));
        move || lines::ask(parts.next().unwrap_or_default())
    }

    /// Begins to load all of it.
    pub(super) fn load(self) {
        self.0.into_iter().for_each(lines::ask);
    }
}

/// The stretch of so many elements of a size, of which the first is at `at` and others `stride` further each; none where
/// they have no line for each, or less.
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
