//! Shapes with equal element counts, which PyTorch once combined as 1-D.

use super::{Broadcast, Shape, numpy};

impl Broadcast {
    /// The warning for operands of different shapes but equal element counts that broadcast: code from before
    /// broadcasting may mean them as 1-D ([`warn_on_reinterpreted_shapes`](crate::warn_on_reinterpreted_shapes)).
    ///
    /// ```
    /// use zerostride::{Broadcast, Shape};
    ///
    /// let text = Broadcast::reinterpreted(&[Shape::from([4, 1]), Shape::from([4])]).unwrap();
    /// assert!(text.starts_with("[4, 1] and [4] broadcast to [4, 4]; both have 4 elements"));
    /// assert_eq!(Broadcast::reinterpreted(&[Shape::from([4, 1]), Shape::from([8])]), None);
    /// ```
    pub fn reinterpreted(shapes: &[Shape]) -> Option<String> {
        Self::reinterpreted_at(shapes, "")
    }

    /// The same warning with the place of the operator.
    pub(crate) fn reinterpreted_at(shapes: &[Shape], place: &str) -> Option<String> {
        let count = |shape: &Shape| shape.iter().product::<usize>();
        let (a, b) = shapes.iter().enumerate().find_map(|(i, a)| {
            let twin = |b: &&Shape| a != *b && count(a) == count(b);
            shapes[i + 1..].iter().find(twin).map(|b| (a, b))
        })?;
        let result = numpy(shapes).ok()?;
        Some(format!(
            "{a} and {b} broadcast to {result}{place}; both have {} elements, and an old pointwise reading would have viewed both as 1-D",
            count(a)
        ))
    }
}
