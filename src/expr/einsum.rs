//! Products by an equation with a letter for each axis. Operands are combined two by two.

use super::both::built;
use super::products::{Call, Label, Labelled};
use super::{AnyExpr, Expr, IntoExpr, ReduceOptions};
use crate::dtype::Numeric;
use crate::error::{Result, bail};
use crate::layout::{Layout, Shape};

/// The label of the last axis of `...`; others count down from it.
const ELLIPSIS: Label = 1 << 24;

/// The labels of a term of an equation. For an operand, `rank` is its number of axes.
fn term(equation: &str, text: &str, rank: Option<usize>, most: usize) -> Result<Vec<Label>> {
    let (before, after) = text.split_once("...").unwrap_or((text, ""));
    let letters = |text: &str| -> Result<Vec<Label>> {
        let mut labels = Vec::new();
        for c in text.chars().filter(|c| !c.is_whitespace()) {
            if !c.is_ascii_alphabetic() {
                bail!(Shape, "einsum \"{equation}\": '{c}' is no label, which are letters");
            }
            labels.push(c as Label);
        }
        Ok(labels)
    };
    let (before, after) = (letters(before)?, letters(after)?);
    let named = before.len() + after.len();
    let is_open = text.contains("...");
    let own = match rank {
        Some(rank) if named > rank || named < rank && !is_open => {
            bail!(
                Shape,
                "einsum \"{equation}\": \"{}\" has {named} labels for an operand of {rank} axes",
                text.trim()
            )
        }
        Some(rank) => rank - named,
        None if is_open => most,
        None => 0,
    };
    let open = (0..own as Label).rev().map(|k| ELLIPSIS + k);
    Ok(before.into_iter().chain(open).chain(after).collect())
}

fn written(label: Label) -> String {
    char::from_u32(label).filter(|_| label < ELLIPSIS).map_or("...".into(), |c| c.to_string())
}

fn einsum(equation: &str, operands: &[AnyExpr]) -> Result<AnyExpr> {
    let call = Call::new("einsum", &operands.iter().collect::<Vec<_>>())?;
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (equation, None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    let mut all: Vec<Labelled> = Vec::new();
    let mut every: Vec<Label> = Vec::new();
    for (text, operand) in terms.iter().zip(operands) {
        let labels = term(equation, text, Some(operand.shape()?.rank()), 0)?;
        every.extend(&labels);
        all.push(call.labelled(operand, labels));
    }
    if terms.len() != operands.len() {
        bail!(Shape, "einsum \"{equation}\" has {} terms and got {} operands", terms.len(), operands.len());
    }
    let (order, result) = labels(equation, output, &every)?;
    agree(equation, &all)?;
    let mut all = all.into_iter().map(diagonals).collect::<Result<Vec<Labelled>>>()?;
    sum_alone(&mut all, &result);
    let mut pairs = Pairs::new(&all);
    let mut all: Vec<Option<Labelled>> = all.into_iter().map(Some).collect();
    while let Some((i, j)) = pairs.cheapest() {
        let (Some(left), Some(right)) = (all[i].take(), all[j].take()) else {
            bail!(Kernel, "einsum multiplies operands {i} and {j}, of which one is used up");
        };
        let both = order.iter().filter(|label| left.labels.contains(label) && right.labels.contains(label));
        // A label of two operands alone is contracted by their product.
        let is_last = |label: &&Label| pairs.owners(**label) == 2 && !result.contains(label);
        let contracted: Vec<Label> = both.filter(is_last).copied().collect();
        let product = call.product([&left, &right], &contracted)?;
        pairs.multiplied((i, j), &product);
        all[i] = Some(product);
    }
    match all.into_iter().flatten().next() {
        Some(last) => call.finish(last, &result),
        None => bail!(Operation, "einsum takes an operand at least"),
    }
}

/// The labels of all operands, each once, and of the result.
fn labels(equation: &str, output: Option<&str>, every: &[Label]) -> Result<(Vec<Label>, Vec<Label>)> {
    let is_first = |&k: &usize| !every[..k].contains(&every[k]);
    let order: Vec<Label> = (0..every.len()).filter(is_first).map(|k| every[k]).collect();
    let mut open: Vec<Label> = order.iter().copied().filter(|&label| label >= ELLIPSIS).collect();
    open.sort_unstable_by(|a, b| b.cmp(a));
    let result = match output {
        Some(text) => term(equation, text, None, open.len())?,
        None => {
            let count = |label: &Label| every.iter().filter(|own| *own == label).count();
            let once = order.iter().copied().filter(|label| count(label) == 1 && *label < ELLIPSIS);
            let mut once: Vec<Label> = once.collect();
            once.sort_unstable();
            [open.as_slice(), &once].concat()
        }
    };
    for (k, &label) in result.iter().enumerate() {
        if result[..k].contains(&label) {
            bail!(Shape, "einsum \"{equation}\": the result has label '{}' twice", written(label));
        }
        if !order.contains(&label) {
            bail!(
                Shape,
                "einsum \"{equation}\": the result has label '{}', which no operand has",
                written(label)
            );
        }
    }
    if !open.iter().all(|label| result.contains(label)) {
        bail!(Shape, "einsum \"{equation}\": the result has no \"...\", which operands have");
    }
    Ok((order, result))
}

/// Checks that each label has one length.
fn agree(equation: &str, all: &[Labelled]) -> Result<()> {
    let mut known: Vec<(Label, usize)> = Vec::new();
    for own in all {
        for (&label, &length) in own.labels.iter().zip(own.any.shape()?.iter()) {
            let first = known.iter().find(|(other, _)| *other == label).map_or(length, |&(_, first)| first);
            if first != length && label < ELLIPSIS {
                let name = written(label);
                bail!(Shape, "einsum \"{equation}\": label '{name}' has lengths {first} and {length}");
            }
            known.push((label, length));
        }
    }
    Ok(())
}

/// Sums over labels that only one operand has.
fn sum_alone(all: &mut [Labelled], result: &[Label]) {
    for i in 0..all.len() {
        let is_alone = |label: &Label| {
            let others = all.iter().enumerate().any(|(k, own)| k != i && own.labels.contains(label));
            !others && !result.contains(label)
        };
        let alone = (0..).zip(&all[i].labels).filter(|(_, label)| is_alone(label));
        let alone: Vec<isize> = alone.map(|(axis, _)| axis).collect();
        if !alone.is_empty() {
            let labels = all[i].labels.iter().copied().filter(|label| !is_alone(label)).collect();
            all[i] = Labelled { any: all[i].any.reduce("sum", alone, ReduceOptions::default()), labels };
        }
    }
}

/// An operand with each label once: a repeated label becomes the diagonal's.
fn diagonals(mut own: Labelled) -> Result<Labelled> {
    let labels = own.labels.clone();
    let first: Vec<usize> = (0..labels.len()).filter(|&k| !labels[..k].contains(&labels[k])).collect();
    if first.len() == labels.len() {
        return Ok(own);
    }
    let place = |k: usize| first.iter().position(|&axis| labels[axis] == labels[k]).unwrap_or(0);
    let node = own.any.node()?.view(&|layout| {
        let mut strides = vec![0; first.len()];
        layout.strides().iter().enumerate().for_each(|(k, stride)| strides[place(k)] += stride);
        let shape: Shape = first.iter().map(|&axis| layout.shape()[axis]).collect();
        Layout::strided(shape, &strides, layout.offset(), usize::MAX)
    })?;
    own.any = AnyExpr::new(Ok(node));
    own.labels = first.iter().map(|&axis| labels[axis]).collect();
    Ok(own)
}

/// Operands by their place, and for each the cheapest product with one to its right. A product stands at its left
/// factor's place and changes few of the others' choices, so a choice takes time by the number of operands.
struct Pairs {
    /// Labels with their lengths, in order. `None` for the right factor of a product.
    operands: Vec<Option<Vec<(Label, usize)>>>,
    /// The multiplications of the cheapest product, and its right factor.
    best: Vec<Option<(usize, usize)>>,
}

impl Pairs {
    fn new(all: &[Labelled]) -> Pairs {
        let operands: Vec<_> = all.iter().map(|own| Some(Self::lengths(own))).collect();
        let mut pairs = Pairs { best: vec![None; operands.len()], operands };
        (0..all.len()).for_each(|i| pairs.best[i] = pairs.best_of(i));
        pairs
    }

    fn lengths(own: &Labelled) -> Vec<(Label, usize)> {
        let mut all: Vec<_> = own.labels.iter().map(|&label| (label, own.length(label))).collect();
        all.sort_unstable();
        all
    }

    /// The pair whose product takes the fewest multiplications; of equals the leftmost.
    fn cheapest(&self) -> Option<(usize, usize)> {
        let best = self.best.iter().enumerate().filter_map(|(i, best)| best.map(|(cost, j)| (cost, i, j)));
        best.min().map(|(_, i, j)| (i, j))
    }

    /// How many operands have a label.
    fn owners(&self, label: Label) -> usize {
        let has = |own: &&Vec<(Label, usize)>| own.iter().any(|(other, _)| *other == label);
        self.operands.iter().flatten().filter(has).take(3).count()
    }

    fn best_of(&self, i: usize) -> Option<(usize, usize)> {
        (i + 1..self.operands.len()).filter_map(|j| Some((self.cost(i, j)?, j))).min()
    }

    /// The multiplications of a product of two operands: the lengths of all labels, multiplied.
    fn cost(&self, i: usize, j: usize) -> Option<usize> {
        let (a, b) = (self.operands[i].as_deref()?, self.operands[j].as_deref()?);
        let of = |own: &[(Label, usize)], label: Label| {
            own.binary_search_by_key(&label, |&(other, _)| other).ok().map(|k| own[k].1)
        };
        let own = a.iter().map(|&(label, n)| n.max(of(b, label).unwrap_or(1)));
        let more = b.iter().filter(|&&(label, _)| of(a, label).is_none()).map(|&(_, n)| n.max(1));
        Some(own.chain(more).fold(1, usize::saturating_mul))
    }

    /// Puts a product in the place of its left factor.
    fn multiplied(&mut self, (i, j): (usize, usize), product: &Labelled) {
        (self.operands[i], self.operands[j]) = (Some(Self::lengths(product)), None);
        (self.best[i], self.best[j]) = (self.best_of(i), None);
        for k in (0..j).filter(|&k| k != i) {
            self.best[k] = match self.best[k] {
                Some((_, other)) if other == i || other == j => self.best_of(k),
                best if k < i => self.cost(k, i).map(|cost| (cost, i)).into_iter().chain(best).min(),
                best => best,
            };
        }
    }
}

impl AnyExpr {
    /// Sums of products by an equation ([`Expr::einsum`]).
    ///
    /// ```
    /// use zerostride::{AnyExpr, Device};
    ///
    /// let x = AnyExpr::from(Device::cpu().upload(&[1, 2, 3, 4], [2, 2])?);
    /// assert_eq!(AnyExpr::einsum("ij,kj->ik", &[x.clone(), x]).to_vec::<i32>()?, [5, 11, 11, 25]);
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn einsum(equation: &str, operands: &[AnyExpr]) -> AnyExpr {
        built(|| einsum(equation, operands))
    }
}

impl<T: Numeric> Expr<T> {
    /// Sums of products by an equation. It has a letter for each axis of each operand and, after `->`, for each axis of
    /// the result (NumPy `einsum`). Letters that the result lacks are summed over. `...` stands for axes that
    /// broadcast. A repeated letter of one operand is its diagonal. Without `->` the result has the letters that appear
    /// once, in alphabetical order.
    ///
    /// Letters of one operand alone are summed first. More than two operands are combined two by two: first the pair
    /// with the fewest multiplications, of equals the leftmost, whose product takes the place of its left factor.
    ///
    /// ```
    /// use zerostride::{Device, Expr};
    ///
    /// let device = Device::cpu();
    /// let (q, k) = (device.upload(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?, device.upload(&[1.0_f32, 0.0], [1, 2])?);
    /// assert_eq!(Expr::einsum("qd,kd->qk", [&q, &k]).to_vec()?, [1.0, 3.0]);
    /// assert_eq!(Expr::einsum("ii", [&q]).to_vec()?, [5.0]);
    ///
    /// let error = Expr::einsum("ij,jk", [&q, &k]).eval().unwrap_err();
    /// assert_eq!(error.message(), "einsum \"ij,jk\": label 'j' has lengths 2 and 1");
    /// # Ok::<(), zerostride::Error>(())
    /// ```
    #[track_caller]
    pub fn einsum<E: IntoExpr<T>>(equation: &str, operands: impl IntoIterator<Item = E>) -> Expr<T> {
        let operands: Vec<AnyExpr> = operands.into_iter().map(|operand| operand.into_expr().any).collect();
        Expr::face(AnyExpr::einsum(equation, &operands))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;

    /// The pair with the fewest multiplications, of equals the leftmost, found by trying all.
    fn tried(all: &[Option<Labelled>]) -> Option<(usize, usize)> {
        let mut best = None::<(usize, usize, usize)>;
        for (i, left) in all.iter().enumerate().filter_map(|(i, own)| Some((i, own.as_ref()?))) {
            for (j, right) in
                all.iter().enumerate().skip(i + 1).filter_map(|(j, own)| Some((j, own.as_ref()?)))
            {
                let more = right.labels.iter().filter(|label| !left.labels.contains(label));
                let labels = left.labels.iter().chain(more);
                let lengths = labels.map(|&label| left.length(label).max(right.length(label)));
                let cost = lengths.fold(1_usize, usize::saturating_mul);
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, i, j));
                }
            }
        }
        best.map(|(_, i, j)| (i, j))
    }

    #[test]
    fn the_cheapest_pair_is_that_of_a_search() {
        let mut state = 7_u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for _ in 0..200 {
            let lengths: Vec<usize> = (0..5).map(|_| below(4) as usize).collect();
            let mut operand = || {
                let labels: Vec<Label> = (0..5).filter(|_| below(3) == 0).collect();
                let shape: Shape = labels.iter().map(|&label| lengths[label as usize]).collect();
                Labelled { any: AnyExpr::full(DType::F32, shape, 1), labels }
            };
            let all: Vec<Labelled> = (0..9).map(|_| operand()).collect();
            let mut pairs = Pairs::new(&all);
            let mut all: Vec<Option<Labelled>> = all.into_iter().map(Some).collect();
            while let Some((i, j)) = tried(&all) {
                assert_eq!(pairs.cheapest(), Some((i, j)));
                // Any product does: some labels of both.
                let product = operand();
                all[j] = None;
                pairs.multiplied((i, j), &product);
                all[i] = Some(product);
            }
            assert_eq!(pairs.cheapest(), None);
        }
    }
}
