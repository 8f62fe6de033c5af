//! Several results at once: tuples of expressions, and of tensors to assign to.

use std::borrow::Cow;
use std::panic::Location;
use std::sync::Arc;

use super::{AnyTensor, Tensor};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, bail, called};
use crate::expr::{AnyExpr, Expr, IntoExpr};
use crate::ir::{Destination, Node, NodeKind, Schedule, Source, Stage, Storage};
use crate::layout::Layout;
use crate::schedule;

/// Tuples of up to six expressions that are evaluated together.
pub trait EvalAll {
    /// A tensor for each expression.
    type Tensors;

    /// Runs all of them on the device of their tensors, with one kernel for equal shapes, whatever their types. Common
    /// parts are read and computed once.
    ///
    /// # Errors
    /// As [`Expr::eval`], for the first expression with an error. None is evaluated then.
    ///
    /// ```
    /// use zerostride::{Device, EvalAll};
    ///
    /// let x = Device::cpu().upload(&[1.0_f32, -4.0], [2])?;
    /// let (roots, signs) = (x.abs().sqrt(), x.lt(0.0)).eval_all()?;
    /// assert_eq!(roots.to_vec()?, [1.0, 2.0]);
    /// assert_eq!(signs.to_vec()?, [false, true]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    fn eval_all(self) -> Result<Self::Tensors>;

    /// [`eval_all`](Self::eval_all) on a device, also of expressions without a tensor.
    ///
    /// # Errors
    /// As [`Expr::eval_on`], for the first expression with an error. None is evaluated then.
    ///
    /// ```
    /// use zerostride::{Device, EvalAll, Expr};
    ///
    /// let (noise, places) = (Expr::<f32>::uniform([3], 1), Expr::iota([3], 0)).eval_all_on(&Device::cpu())?;
    /// assert_eq!((noise.len(), places.to_vec()?), (3, vec![0, 1, 2]));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    fn eval_all_on(self, device: &Device) -> Result<Self::Tensors>;
}

/// The destination of an expression: a tensor, or views of one.
pub trait Place {
    /// The type of the elements.
    type Element: Element;

    /// The elements by name.
    fn place(self) -> AnyExpr;
}

macro_rules! places {
    ($($place:ty)*) => {$(
        impl<T: Element> Place for $place {
            type Element = T;

            fn place(self) -> AnyExpr {
                self.into()
            }
        }
    )*};
}
places!(Tensor<T> &Tensor<T> Expr<T> &Expr<T>);

/// Tuples of up to six tensors and views, to which tuples of as many expressions are assigned.
pub trait AssignAll<Values> {
    /// Replaces the elements of each tensor by those of its expression. All expressions read the elements of before.
    /// Expressions of equal shapes are one kernel. It writes the tensors directly if no expression reads one of them
    /// and each is a whole storage; otherwise results are copied. An element of several tensors keeps the last one's
    /// value. [`Expr::assign_all`] takes any number of one type.
    ///
    /// # Errors
    /// As [`Expr::assign`]; nothing is written then.
    ///
    /// ```
    /// use zerostride::{AssignAll, Device};
    ///
    /// let device = Device::cpu();
    /// let (x, y) = (device.upload(&[1, 2], [2])?, device.upload(&[3, 4], [2])?);
    /// (&x, &y).assign_all((&y, &x + 1))?;
    /// assert_eq!(x.to_vec()?, [3, 4]);
    /// assert_eq!(y.to_vec()?, [2, 3]);
    /// (x.slice(0, ..1), &y).assign_all((0, &x * 10))?;
    /// assert_eq!((x.to_vec()?, y.to_vec()?), (vec![0, 4], vec![30, 40]));
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    fn assign_all(self, values: Values) -> Result<()>;
}

/// The next of the results, of which there is one for each expression.
fn next(all: &mut impl Iterator<Item = AnyTensor>) -> Result<AnyTensor> {
    match all.next() {
        Some(tensor) => Ok(tensor),
        None => bail!(Kernel, "fewer results than expressions"),
    }
}

macro_rules! tuples {
    ($($(($t:ident $v:ident $x:ident $y:ident))+;)*) => {$(
        impl<$($t: Element),+> EvalAll for ($(Expr<$t>,)+) {
            type Tensors = ($(Tensor<$t>,)+);

            #[track_caller]
            fn eval_all(self) -> Result<Self::Tensors> {
                let ($($x,)+) = self;
                let mut all = AnyExpr::eval_each(&[$($x.untyped()),+], None)?.into_iter();
                Ok(($(Tensor::<$t>::face(next(&mut all)?),)+))
            }

            #[track_caller]
            fn eval_all_on(self, device: &Device) -> Result<Self::Tensors> {
                let ($($x,)+) = self;
                let mut all = AnyExpr::eval_each(&[$($x.untyped()),+], Some(device))?.into_iter();
                Ok(($(Tensor::<$t>::face(next(&mut all)?),)+))
            }
        }

        impl<$($t: Place, $v: IntoExpr<$t::Element>),+> AssignAll<($($v,)+)> for ($($t,)+) {
            #[track_caller]
            fn assign_all(self, values: ($($v,)+)) -> Result<()> {
                let (($($x,)+), ($($y,)+)) = (self, values);
                AnyTensor::assign_all([$(($x.place(), AnyExpr::from($y.into_expr()))),+])
            }
        }
    )*};
}
tuples! {
    (A V a x);
    (A V a x) (B W b y);
    (A V a x) (B W b y) (C X c z);
    (A V a x) (B W b y) (C X c z) (D Y d u);
    (A V a x) (B W b y) (C X c z) (D Y d u) (E Z e v);
    (A V a x) (B W b y) (C X c z) (D Y d u) (E Z e v) (F U f w);
}

impl<T: Element> Expr<T> {
    /// Assigns any number of expressions to tensors or views, as if all were read before the first is written
    /// ([`AssignAll`], whose tuples may have several types).
    ///
    /// # Errors
    /// As [`assign`](Self::assign); nothing is written then.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let x = Device::cpu().upload(&[1, 2, 3, 4], [4])?;
    /// let parts = [x.slice(0, ..2), x.slice(0, 2..)];
    /// Expr::assign_all([(&parts[0], &parts[1]), (&parts[1], &parts[0])])?;
    /// assert_eq!(x.to_vec()?, [3, 4, 1, 2]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign_all<P: Place<Element = T>, V: IntoExpr<T>>(
        pairs: impl IntoIterator<Item = (P, V)>,
    ) -> Result<()> {
        AnyTensor::assign_all(pairs.into_iter().map(|(to, value)| (to.place(), value.into_expr())))
    }
}

impl AnyTensor {
    /// Assigns expressions to tensors or views, as if all were read before the first is written ([`AssignAll`]).
    ///
    /// # Errors
    /// As [`assign`](Self::assign); nothing is written then.
    ///
    /// ```
    /// use zerostride::{AnyTensor, DType, Device};
    ///
    /// let device = Device::cpu();
    /// let x = device.upload_bytes(&[1, 2], DType::U8, [2])?;
    /// let y = device.zeros_any(DType::I16, [2])?;
    /// AnyTensor::assign_all([(&x, y.cast(DType::U8)), (&y, x.cast(DType::I16))])?;
    /// assert_eq!(x.to_bytes()?, [0, 0]);
    /// assert_eq!(y.to_bytes()?, [1, 0, 2, 0]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn assign_all<P: Into<AnyExpr>, V: Into<AnyExpr>>(
        pairs: impl IntoIterator<Item = (P, V)>,
    ) -> Result<()> {
        let at = Location::caller();
        let named = |(to, value): (P, V)| Ok((to.into().tensor().map_err(|e| e.at(at))?, value.into()));
        let pairs = pairs.into_iter().map(named).collect::<Result<Vec<_>>>()?;
        called(at, || Self::assign_pairs(&pairs))
    }

    fn assign_pairs(pairs: &[(AnyTensor, AnyExpr)]) -> Result<()> {
        let Some((first, _)) = pairs.first() else { return Ok(()) };
        let device = &first.device;
        for (to, value) in pairs {
            device.is_that_of(&[to.device.as_backend().clone()])?;
            to.takes(device, value)?;
        }
        let values: Vec<AnyExpr> =
            pairs.iter().map(|(to, value)| value.broadcast_to(to.shape().clone())).collect();
        let kernels = Kernels::new(&values.iter().collect::<Vec<_>>(), device)?;
        let schedule = |group: &Vec<usize>| Ok((group.clone(), kernels.schedule(group, device)?));
        let groups = kernels.groups.iter().map(schedule).collect::<Result<Vec<_>>>()?;
        let meet = |a: &AnyTensor, b: &AnyTensor| {
            a.storage().same(b.storage()) && a.layout().may_overlap(b.layout())
        };
        let shares = |i: usize| pairs[..i].iter().any(|(before, _)| meet(before, &pairs[i].0));
        let is_written =
            |(storage, _): (&Storage, &Layout)| pairs.iter().any(|(to, _)| to.storage().same(storage));
        let stages = groups.iter().flat_map(|(_, schedule)| schedule.all());
        if stages.flat_map(Stage::tensors).any(is_written) || (0..pairs.len()).any(shares) {
            let results = kernels.eval(device)?;
            let mut written = Written(Vec::new());
            for ((to, _), result) in pairs.iter().zip(results) {
                written.and(&[to], to.assign_by(device, &result.expr()))?;
            }
            return Ok(());
        }
        let mut written = Written(Vec::new());
        for (group, schedule) in &groups {
            let own: Vec<&AnyTensor> = group.iter().map(|&i| &pairs[i].0).collect();
            written.and(&own, Self::assign_group(device, schedule, &own))?;
        }
        Ok(())
    }

    /// Assigns the results of one kernel, or of one after another.
    fn assign_group(device: &Device, schedule: &Schedule, to: &[&AnyTensor]) -> Result<()> {
        let places: Vec<(&Storage, &Layout)> = to.iter().map(|to| (to.storage(), to.layout())).collect();
        device.backend()?.run(Cow::Borrowed(schedule), Destination::Into(&places), None).map(drop)
    }
}

/// Expressions, and the ones of each kernel. A common part of several kernels that runs as a kernel of its own, such as
/// a product of matrices, is computed already, once.
pub(super) struct Kernels {
    nodes: Vec<Arc<Node>>,
    groups: Vec<Vec<usize>>,
    /// Whether an expression is a common part.
    common: Vec<bool>,
}

impl Kernels {
    pub(super) fn new(exprs: &[&AnyExpr], device: &Device) -> Result<Kernels> {
        let own = exprs.iter().map(|expr| expr.node()).collect::<Result<Vec<_>>>()?;
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (i, node) in own.iter().enumerate() {
            match groups.iter_mut().find(|group| schedule::are_alike(own[group[0]], node)) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        let store = |node: &Arc<Node>| {
            let result = device.run(node, Destination::New, || Schedule::of(node, device.bounds()))?;
            device.tensor(result, node.dtype, &node.shape)?.node().cloned()
        };
        let nodes = match groups.len() {
            0 | 1 => own.iter().copied().cloned().collect(),
            _ => schedule::stored(&own, &groups, device.bounds(), store)?,
        };
        let is_common = |(own, node): (&&Arc<Node>, &Arc<Node>)| {
            own.kind.is_apart() && matches!(node.kind, NodeKind::Leaf { .. })
        };
        let common = own.iter().zip(&nodes).map(is_common).collect();
        Ok(Kernels { nodes, groups, common })
    }

    fn schedule(&self, group: &[usize], device: &Device) -> Result<Schedule> {
        let roots: Vec<_> = group.iter().map(|&i| &self.nodes[i]).collect();
        Schedule::new(&roots, &roots[0].shape, device.bounds())
    }

    /// A new tensor for each expression.
    pub(super) fn eval(&self, device: &Device) -> Result<Vec<AnyTensor>> {
        let mut results: Vec<Option<AnyTensor>> = self.nodes.iter().map(|_| None).collect();
        for group in &self.groups {
            let mut group = group.as_slice();
            let result = |i: usize, storage| {
                let Node { dtype, ref shape, .. } = *self.nodes[i];
                Ok(Some(AnyTensor::new(device.clone(), storage, dtype, Layout::contiguous(shape)?)))
            };
            // It is new. Equal ones are copied, as each result has its own memory.
            if let (NodeKind::Leaf { source: Source::Tensor(storage), .. }, [first, others @ ..]) =
                (&self.nodes[group[0]].kind, group)
                && self.common[*first]
            {
                results[*first] = result(*first, storage.clone())?;
                group = others;
            }
            if !group.is_empty() {
                let schedule = Cow::Owned(self.schedule(group, device)?);
                let storages = device.backend()?.run(schedule, Destination::New, None)?;
                for (&i, storage) in group.iter().zip(storages) {
                    results[i] = result(i, storage)?;
                }
            }
        }
        Ok(results.into_iter().flatten().collect())
    }
}

/// The tensors written so far. If the next one fails, they must not be read without it.
struct Written<'a>(Vec<&'a AnyTensor>);

impl<'a> Written<'a> {
    /// Notes the tensors that are written next, and whether that failed: then earlier ones are poisoned.
    fn and(&mut self, next: &[&'a AnyTensor], outcome: Result<()>) -> Result<()> {
        let poison = |error: &Error| {
            self.0.iter().for_each(|to| to.device.as_backend().poison(to.storage(), error));
        };
        outcome.inspect_err(poison)?;
        self.0.extend(next);
        Ok(())
    }
}
