//! The cases: the operands of each, and the work.

/// The work of a case.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    Add,
    Exp,
    /// `relu((a - row) / column * b + s)`
    Chain,
    /// The sum over some axes.
    Sum(&'static [usize]),
    /// The greatest element.
    Amax,
    /// The index of the greatest element of each row.
    Argmax,
    /// The variance of each row, with a correction of 1.
    Var,
    /// The sum of products of all elements.
    Dot,
    /// Softmax of each row.
    Softmax,
    /// `(x - mean) / sqrt(var + EPSILON)` along an axis; along rows it is a layer norm.
    Standardize(usize),
    /// The squares of the distances between all points of two lists.
    Distances,
    Cumsum(usize),
    /// The product of matrices, or of a batch of them.
    Matmul,
    /// `softmax(q k^T / sqrt(depth), masked) v`, where the mask hides what comes later.
    Attention,
}

pub(crate) const EPSILON: f32 = 1e-5;

pub(crate) struct Case {
    pub name: &'static str,
    pub work: Work,
    /// Shapes of the operands. The second may be transposed.
    pub shapes: Vec<Vec<usize>>,
    pub turned: bool,
}

impl Case {
    /// The elements of all operands.
    pub fn operands(&self) -> impl Iterator<Item = (Vec<f32>, &[usize])> {
        self.shapes.iter().map(|shape| (values(shape), shape.as_slice()))
    }

    /// The table of the report that has the case.
    pub fn kind(&self) -> &'static str {
        match self.work {
            Work::Add | Work::Exp | Work::Chain => "elementwise",
            Work::Matmul | Work::Attention => "products",
            _ => "reductions",
        }
    }

    /// The shape that the operands broadcast to.
    pub fn broadcast(&self) -> Vec<usize> {
        let longest = |k| self.shapes.iter().map(|shape: &Vec<usize>| shape[k]).max().unwrap_or(1);
        (0..self.shapes[0].len()).map(longest).collect()
    }
}

fn values(shape: &[usize]) -> Vec<f32> {
    (0..shape.iter().product()).map(|i: usize| (i % 1021 + 1) as f32 / 1024.0).collect()
}

pub(crate) fn cases(n: usize) -> Vec<Case> {
    let case = |name, work, shapes: &[&[usize]]| Case {
        name,
        work,
        shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
        turned: false,
    };
    let same = |name, work, operands, shape: &[usize]| case(name, work, &vec![shape; operands]);
    let side = n / 32;
    let (square, images): (&[usize], &[usize]) = (&[n, n], &[16, 64, side, side]);
    vec![
        case("same", Work::Add, &[square, square]),
        case("row", Work::Add, &[square, &[1, n]]),
        case("col", Work::Add, &[square, &[n, 1]]),
        case("scalar", Work::Add, &[square, &[1, 1]]),
        case("outer", Work::Add, &[&[n, 1], &[1, n]]),
        case("nchw", Work::Add, &[images, &[1, 64, 1, 1]]),
        case("mid", Work::Add, &[&[n / 16, 16, n], &[n / 16, 1, n]]),
        case("odd", Work::Add, &[&[n - 1, n + 1], &[1, n + 1]]),
        Case { turned: true, ..case("transposed", Work::Add, &[square, square]) },
        case("exp", Work::Exp, &[square]),
        case("chain5", Work::Chain, &[square, &[1, n], &[n, 1], &[1, 1], &[1, 1]]),
        case("sum all", Work::Sum(&[0, 1]), &[square]),
        case("sum rows", Work::Sum(&[1]), &[square]),
        case("sum columns", Work::Sum(&[0]), &[square]),
        case("sum tall last", Work::Sum(&[1]), &[&[n * n / 8, 8]]),
        case("sum channels", Work::Sum(&[0, 2, 3]), &[images]),
        case("max all", Work::Amax, &[square]),
        case("argmax rows", Work::Argmax, &[square]),
        case("var rows", Work::Var, &[square]),
        case("dot", Work::Dot, &[square, square]),
        case("softmax", Work::Softmax, &[square]),
        case("layer norm", Work::Standardize(1), &[square]),
        case("standardize", Work::Standardize(0), &[square]),
        case("pairwise distances", Work::Distances, &[&[n, 16], &[n / 16, 16]]),
        case("cumsum", Work::Cumsum(1), &[square]),
        case("cumsum first", Work::Cumsum(0), &[square]),
        // Names are those at a side of 4096.
        same("matmul 512", Work::Matmul, 2, &[n / 8, n / 8]),
        same("matmul 1024", Work::Matmul, 2, &[n / 4, n / 4]),
        same("matmul 2048", Work::Matmul, 2, &[n / 2, n / 2]),
        case("matrix by vector", Work::Matmul, &[square, &[n, 1]]),
        same("64 matmul 64", Work::Matmul, 2, &[64, n / 64, n / 64]),
        same("attention", Work::Attention, 3, &[2, 8, n / 8, 64]),
    ]
}
