//! The numbers of launches. Each form has its own, which the texts of its kernels name.

/// Declares the numbers of a form, in the order of the uniform block. A number that kernels divide by has two more words:
/// its factor and its shift.
macro_rules! numbers {
    ($(
        $(#[doc = $about:literal])*
        $form:ident { $($(#[doc = $doc:literal])* $number:ident $(: $factor:ident $shift:ident)?,)* }
    )*) => {$(
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $form {
            $($(#[doc = $doc])* pub $number: usize,)*
        }

        impl $form {
            /// The names of its words.
            pub(super) const NAMES: &[&str] = &[$(
                stringify!($number),
                $(
                    concat!(stringify!($number), "_", stringify!($factor)),
                    concat!(stringify!($number), "_", stringify!($shift)),
                )?
            )*];

            /// Its words, in the order of their names.
            pub(super) fn words(&self) -> Vec<u32> {
                let mut words = Vec::new();
                $(
                    words.extend([self.$number as u32]);
                    $(
                        let ($factor, $shift) = divider(self.$number);
                        words.extend([$factor, $shift]);
                    )?
                )*
                words
            }
        }
    )*};
}

numbers! {
    /// The numbers of a kernel that stores elements.
    ElementsNumbers {
        /// Invocations in a row of the grid, where one dimension continues in the next.
        pitch,
        /// Elements of the result; on a walk over words, groups of four addresses.
        count,
        /// Vectors of the result.
        vectors,
        /// Groups of four addresses along the inner axes of a walk over words, at most.
        slots,
        /// Vectors and rows of a band.
        band_vectors,
        band_rows,
        /// Rows of all bands.
        rows,
    }

    /// The numbers of a kernel that reduces rows.
    ReduceNumbers {
        /// Invocations in a row of the grid.
        pitch,
        /// Items: what an invocation or a group of them reduces at a time.
        count,
        /// Vectors of the innermost axis.
        vectors: factor shift,
        /// Rows, and values of each.
        rows,
        row,
        /// Vectors of rows, if lanes lie in several.
        columns: factor shift,
        /// Partial results of a row, and their distance.
        positions: factor shift,
        position_stride,
    }

    /// The numbers of a kernel that scans.
    ScanNumbers {
        /// Invocations in a row of the grid.
        pitch,
        /// Tiles of all runs, or of four runs if lanes lie in several.
        count,
        /// Vectors of the innermost axis.
        vectors,
        /// Vectors of runs, if lanes lie in several.
        columns: factor shift,
        /// Tiles of a run.
        positions: factor shift,
        /// Values of a run.
        run,
        /// The distance of the parts of a tile's last value.
        part,
        /// Tiles before the first of a run.
        before,
    }

    /// The numbers of a product of matrices.
    ContractNumbers {
        /// Workgroups in a row of the grid.
        pitch,
        /// Tiles, and those across and down a matrix.
        count,
        vectors: factor shift,
        /// Rows, products and columns.
        rows,
        row,
        columns,
        positions: factor shift,
    }

    /// The numbers of a pass of a sort. Plans have the first two and the tiles.
    SortNumbers {
        /// Workgroups in a row of the grid.
        pitch,
        /// Workgroups in all.
        count,
        /// Tiles of a row before these.
        before,
        /// Elements and tiles of each row, or whole rows of a tile.
        length,
        tiles,
        /// Elements of a row before these, and all tiles of a row, or all rows.
        start,
        all,
        /// Rounds of four bits: of whole keys, and in all, with those of rows' numbers.
        rounds,
        all_rounds,
        /// The lowest bit of the digit, and the bits that flip keys.
        shift,
        flip,
        /// The first bound place of the destination, and how many are bound.
        low,
        size,
    }

    /// The numbers of writes at places.
    PutNumbers {
        /// Invocations in a row of the grid.
        pitch,
        /// Words of all updates.
        count,
        /// Rows of the result, and words of each.
        rows,
        row,
        /// The first bound word of the result, and how many are bound.
        low,
        size,
    }

    /// The numbers of a count of keys.
    CountNumbers {
        /// Workgroups in a row of the grid.
        pitch,
        /// Tiles.
        count,
        /// Keys that are counted.
        row,
        /// Tiles with other tables.
        before,
        /// Elements.
        length,
    }
}

/// A factor and a shift that divide every number below 2^31 by `d`; zeros for 1, which has none. By Granlund and
/// Montgomery (Division by invariant integers using multiplication, 1994, theorem 4.2 with N = 31), `n / d = n * m >>
/// (31 + l)` for `m = floor(2^(31 + l) / d) + 1` and `2^(l - 1) < d <= 2^l`. m has 32 bits, and elements are counted
/// below 2^31.
pub(super) fn divider(d: usize) -> (u32, u32) {
    if d < 2 {
        return (0, 0);
    }
    let l = usize::BITS - (d - 1).leading_zeros();
    (((1_u64 << (31 + l)) / d as u64 + 1) as u32, l - 1)
}

#[cfg(test)]
mod tests {
    use super::divider;

    #[test]
    fn dividers_are_exact_below_2_to_31() {
        let last = (1_u64 << 31) - 1;
        let mut checked = 0;
        for d in
            (2..70_000_u64).chain((2..31).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])).chain([last])
        {
            let (factor, shift) = divider(d as usize);
            let quotient = |n: u64| ((n * u64::from(factor)) >> 32) >> shift;
            // A quotient can only be wrong at a multiple and just below it.
            let multiples = [d, 2 * d, last / d * d, last / 2 / d * d, last / 3 / d * d];
            for n in multiples.into_iter().flat_map(|n| [n.saturating_sub(1), n, n + 1]).chain([0, last]) {
                assert!(n > last || quotient(n) == n / d, "{n} / {d}");
                checked += 1;
            }
        }
        assert!(checked > 1_000_000);
    }
}
