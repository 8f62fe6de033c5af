//! A guide: how to think in this crate, page by page. The same pages stand in `docs/guide`.

#[doc = include_str!("../docs/guide/tour.md")]
pub mod tour {}

#[doc = include_str!("../docs/guide/setup.md")]
pub mod setup {}

/// Lines of NumPy and PyTorch beside ours, and what differs.
#[doc = include_str!("../docs/guide/from-numpy.md")]
pub mod from_numpy {}

// The pictures as data come first, and Markdown takes the first of two links of one name. So a page shows picture files
// in the repository, and data in the rendered documentation.
#[doc = include_str!("../docs/pictures/links.md")]
#[doc = include_str!("../docs/guide/broadcasting.md")]
pub mod broadcasting {}

#[doc = include_str!("../docs/guide/rules.md")]
pub mod rules {}

#[doc = include_str!("../docs/pictures/links.md")]
#[doc = include_str!("../docs/guide/windows.md")]
pub mod windows {}

#[doc = include_str!("../docs/guide/products.md")]
pub mod products {}

#[doc = include_str!("../docs/guide/sorting.md")]
pub mod sorting {}

#[doc = include_str!("../docs/guide/series.md")]
pub mod series {}

#[doc = include_str!("../docs/guide/missing.md")]
pub mod missing {}

#[doc = include_str!("../docs/guide/performance.md")]
pub mod performance {}

#[doc = include_str!("../docs/guide/errors.md")]
pub mod errors {}

#[doc = include_str!("../docs/guide/wgpu.md")]
pub mod wgpu {}

#[doc = include_str!("../docs/guide/browser.md")]
pub mod browser {}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
