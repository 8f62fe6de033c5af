//! Loops over a few values, inside of the kernel that reads them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use super::turn::Turn;
use super::{AnyExpr, Expr};
use crate::dtype::{DType, Element};
use crate::error::{Result, bail};
use crate::ir::{Body, Loop, MOST_TURNS, Node, Source, Value};
use crate::layout::{Layout, Shape, numpy};

/// The most operations of an element in a kernel. Each waits for the one before, which takes a slow GPU 5 ns: this many
/// take a sixth of a second, however few elements there are.
const MOST_OPERATIONS: u64 = 32 << 20;

/// The values of a loop: an expression, or a tuple of up to six of any types.
pub trait LoopState: Clone + sealed::Sealed {
    #[doc(hidden)]
    fn list(&self) -> Vec<AnyExpr>;

    #[doc(hidden)]
    fn of(values: &[AnyExpr]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for Expr<T> {}

impl<T: Element> LoopState for Expr<T> {
    fn list(&self) -> Vec<AnyExpr> {
        vec![self.into()]
    }

    fn of(values: &[AnyExpr]) -> Self {
        Expr::face(values[0].clone())
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),+))*) => {$(
        impl<$($t: Element),+> sealed::Sealed for ($(Expr<$t>,)+) {}

        impl<$($t: Element),+> LoopState for ($(Expr<$t>,)+) {
            fn list(&self) -> Vec<AnyExpr> {
                vec![$((&self.$i).into()),+]
            }

            fn of(values: &[AnyExpr]) -> Self {
                ($(Expr::<$t>::face(values[$i].clone()),)+)
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl Expr<()> {
    /// The results of `n` iterations of a step: a loop in the kernel, whose text and compile time do not grow with `n`.
    ///
    /// The values are an expression or a tuple of up to six, of any types. They broadcast together, and are the first
    /// iteration's states. The closure is called once, with expressions that stand for the states, and returns the next
    /// states. It may read tensors, coordinates and everything else outside of the loop, which is loaded once, before
    /// it. On states it may use elementwise operations, lookups by them in tables from before the loop, and views that
    /// move no element, as `unsqueeze`. Other views of states, and reductions, would need other elements' states, and
    /// are mistakes that say so.
    ///
    /// The bits are those of as many steps one after another, on every device. Screens wait for a kernel, and systems
    /// end one that runs for seconds. So a long loop runs as several kernels, of fewer elements and iterations.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// // Square roots by Newton's method.
    /// let x = Device::cpu().upload(&[2.0_f32, 9.0], [2])?;
    /// let root = Expr::repeat(6, x.expr(), |r| (&r + &x / &r) * 0.5);
    /// assert_eq!(root.to_vec()?, [1.4142135, 3.0]);
    ///
    /// // Fibonacci's numbers: a tuple of values.
    /// let first = (Expr::scalar(0_u32).broadcast_to([2]), Expr::scalar(1_u32));
    /// let (a, _) = Expr::repeat(10, first, |(a, b)| (b.clone(), a + b));
    /// assert_eq!(a.to_vec_on(&Device::cpu())?, [55, 55]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat<S: LoopState>(n: u32, state: S, step: impl FnOnce(S) -> S) -> S {
        let of = |values: &[AnyExpr]| (None, step(S::of(values)).list());
        S::of(&turns(n, &state.list(), of))
    }

    /// The same while a condition holds. An element whose condition is false keeps its states from then on, and the
    /// others continue, for at most `n` iterations. The condition is computed from an iteration's first states, beside
    /// the next states.
    ///
    /// A vector of a kernel ends when all of its elements have ended, and so do the elements of a tile of the CPU path.
    /// A loop of more than 60000 iterations is several kernels, all of which run, however soon the elements have ended.
    /// So choose `n` no larger than necessary.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// // How often a number is halved until it is odd.
    /// let x = Device::cpu().upload(&[12_u32, 7, 64], [3])?;
    /// let (odd, times) = Expr::repeat_while(32, (x.expr(), Expr::scalar(0_u32)), |(x, n)| {
    ///     ((&x & 1).eq(0), (x >> 1, n + 1))
    /// });
    /// assert_eq!(odd.to_vec()?, [3, 7, 1]);
    /// assert_eq!(times.to_vec()?, [2, 0, 6]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat_while<S: LoopState>(n: u32, state: S, step: impl FnOnce(S) -> (Expr<bool>, S)) -> S {
        let of = |values: &[AnyExpr]| {
            let (goes_on, next) = step(S::of(values));
            (Some(goes_on.into()), next.list())
        };
        S::of(&turns(n, &state.list(), of))
    }
}

impl AnyExpr {
    /// The results of `n` iterations of a step ([`Expr::repeat`]): as many as there are values.
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1.0_f32, 2.0], [2])?);
    /// let doubled = AnyExpr::repeat(3, &[x], |x| vec![AnyExpr::call("add", &[x[0].clone(), x[0].clone()])]);
    /// assert_eq!(doubled[0].to_vec::<f32>()?, [8.0, 16.0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat(n: u32, state: &[AnyExpr], step: impl FnOnce(&[AnyExpr]) -> Vec<AnyExpr>) -> Vec<AnyExpr> {
        turns(n, state, |values| (None, step(values)))
    }

    /// The same as long as a condition of bool holds ([`Expr::repeat_while`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, DType, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, 20], [2])?);
    /// let most = AnyExpr::scalar(DType::I32, 10);
    /// let doubled = AnyExpr::repeat_while(9, &[x], |x| {
    ///     let next = AnyExpr::call("add", &[x[0].clone(), x[0].clone()]);
    ///     (AnyExpr::call("lt", &[x[0].clone(), most]), vec![next])
    /// });
    /// assert_eq!(doubled[0].to_vec::<i32>()?, [16, 20]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn repeat_while(
        n: u32,
        state: &[AnyExpr],
        step: impl FnOnce(&[AnyExpr]) -> (AnyExpr, Vec<AnyExpr>),
    ) -> Vec<AnyExpr> {
        let of = |values: &[AnyExpr]| {
            let (goes_on, next) = step(values);
            (Some(goes_on), next)
        };
        turns(n, state, of)
    }
}

/// The final states of a loop, or the first mistake as each of them.
#[track_caller]
fn turns(
    n: u32,
    state: &[AnyExpr],
    step: impl FnOnce(&[AnyExpr]) -> (Option<AnyExpr>, Vec<AnyExpr>),
) -> Vec<AnyExpr> {
    let built = || {
        let first = state.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
        if first.is_empty() {
            bail!(Operation, "a loop over no values: it takes at least one");
        }
        let shapes: SmallVec<[Shape; 6]> = first.iter().map(|node| node.shape.clone()).collect();
        let shape = numpy(&shapes)?;
        let layout = Layout::contiguous(&shape)?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(first.len() as u64, Ordering::Relaxed);
        let leaf = |(number, node): (u64, &&Arc<Node>)| {
            AnyExpr::new(Ok(Node::leaf(node.dtype, Source::State(id + number), layout.clone())))
        };
        let (goes_on, next) = step(&(0..).zip(&first).map(leaf).collect::<Vec<_>>());
        let next = next.iter().map(AnyExpr::node).collect::<Result<Vec<_>>>()?;
        let goes_on = goes_on.as_ref().map(AnyExpr::node).transpose()?;
        if next.len() != first.len() {
            bail!(
                Operation,
                "a loop over {} values with a step that returns {}: a step returns one for each value",
                first.len(),
                next.len()
            );
        }
        for (i, (first, next)) in first.iter().zip(&next).enumerate() {
            if first.dtype != next.dtype {
                bail!(
                    Type,
                    "value {i} of a loop is {} and its step returns {}: cast one of them",
                    first.dtype,
                    next.dtype
                );
            }
        }
        if let Some(goes_on) = goes_on.filter(|goes_on| goes_on.dtype != DType::Bool) {
            bail!(
                Type,
                "the condition of a loop is {}: it must be bool, so compare or cast it",
                goes_on.dtype
            );
        }
        let mut turn = Turn::new(id, &first, shape);
        let mut value = |node: &&Arc<Node>| turn.find(node);
        let goes_on = goes_on.as_ref().map(&mut value).transpose()?;
        let next = next.iter().map(value).collect::<Result<Vec<Value>>>()?;
        let (body, beside, shape) = turn.finish(next, goes_on)?;
        let body = Body::Loop(Arc::new(body));
        let after = |turns: u32, first: &[Arc<Node>]| -> Result<Vec<Arc<Node>>> {
            let turns = Node::leaf(DType::U32, Source::Scalar(turns.into()), Layout::contiguous([])?);
            let args: Vec<&Arc<Node>> = std::iter::once(&turns).chain(first).chain(&beside).collect();
            let result = |(i, node): (usize, &Arc<Node>)| {
                Node::body(body.clone(), i, node.dtype, shape.clone(), &args)
            };
            Ok(first.iter().enumerate().map(result).collect())
        };
        let mut values: Vec<Arc<Node>> = first.iter().map(|&node| node.clone()).collect();
        let one = &after(1, &values)?[0];
        let most = (MOST_TURNS / one.turns()).min(MOST_OPERATIONS / one.of_loop(&Loop::operations));
        let most = most.clamp(1, u64::from(u32::MAX)) as u32;
        let mut left = n;
        while left > most {
            values = after(most, &values)?.iter().map(Node::shared).collect();
            left -= most;
        }
        after(left, &values)
    };
    match built() {
        Ok(nodes) => nodes.into_iter().map(|node| AnyExpr::new(Ok(node))).collect(),
        Err(error) => vec![AnyExpr::mistake(error); state.len()],
    }
}
