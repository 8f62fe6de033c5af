//! Burn on its default adapter, with fusion and autotuning. One element of each result is read, because Burn may never
//! compute a result that is dropped.

use burn::tensor::kind::Basic;
use burn::tensor::ops::AttentionModuleOptions;
use burn::tensor::{Device, DeviceKind, Tensor, TensorData, activation, module};

use super::{Reader, Run};
use crate::cases::{Case, EPSILON, Work};

pub(crate) struct Burn(Device);

impl Burn {
    pub fn open() -> Self {
        Self(Device::wgpu(DeviceKind::DefaultDevice))
    }

    pub fn name(&self) -> String {
        self.0.identity().map_or("an adapter without a name".into(), |identity| identity.name)
    }

    pub fn run(&self, case: &Case) -> Run {
        match case.shapes[0].len() {
            _ if case.kind() == "products" => self.product(case),
            2 if case.kind() == "reductions" => self.reduction(case),
            2 => self.elementwise::<2>(case),
            3 => self.elementwise::<3>(case),
            _ => self.elementwise::<4>(case),
        }
    }

    /// Work that keeps the rank, and sums of any rank.
    fn elementwise<const D: usize>(&self, case: &Case) -> Run {
        let mut x: Vec<Tensor<D>> = self.operands(case);
        if case.turned {
            x[1] = x[1].clone().swap_dims(0, 1);
        }
        match case.work {
            Work::Exp => self.computed(move || x[0].clone().exp()),
            Work::Chain => self.computed(move || {
                let chain = (x[0].clone() - x[1].clone()) / x[2].clone() * x[3].clone() + x[4].clone();
                activation::relu(chain)
            }),
            Work::Sum(axes) if axes.len() == D => self.computed(move || x[0].clone().sum()),
            Work::Sum(axes) => self.computed(move || x[0].clone().sum_dims(axes)),
            _ => self.computed(move || x[0].clone() + x[1].clone()),
        }
    }

    fn reduction(&self, case: &Case) -> Run {
        let x: Vec<Tensor<2>> = self.operands(case);
        let columns = case.shapes[0][1];
        match case.work {
            Work::Amax => self.computed(move || x[0].clone().max()),
            Work::Argmax => self.computed(move || x[0].clone().argmax(1)),
            Work::Var => self.computed(move || x[0].clone().var(1)),
            Work::Dot => self.computed(move || {
                let flat = |x: &Tensor<2>| x.clone().flatten::<1>(0, 1);
                flat(&x[0]).dot(flat(&x[1]))
            }),
            Work::Softmax => self.computed(move || activation::softmax(x[0].clone(), 1)),
            Work::Standardize(1) => {
                let gamma = Tensor::<1>::ones([columns], &self.0);
                self.computed(move || module::layer_norm(x[0].clone(), gamma.clone(), None, EPSILON.into()))
            }
            Work::Standardize(axis) => self.computed(move || {
                let (var, mean) = x[0].clone().var_mean_bias(axis);
                (x[0].clone() - mean) / (var + EPSILON).sqrt()
            }),
            Work::Distances => self.computed(move || {
                let apart = x[0].clone().unsqueeze_dim::<3>(1) - x[1].clone().unsqueeze_dim::<3>(0);
                apart.square().sum_dim(2)
            }),
            Work::Cumsum(axis) => self.computed(move || x[0].clone().cumsum(axis)),
            _ => self.elementwise::<2>(case),
        }
    }

    fn product(&self, case: &Case) -> Run {
        match (case.work, case.shapes[0].len()) {
            (Work::Matmul, 2) => self.matmul::<2>(case),
            (Work::Matmul, _) => self.matmul::<3>(case),
            _ => {
                let x: Vec<Tensor<4>> = self.operands(case);
                // Its own function takes a third of the time of the same by `matmul`, `mask_fill` and `softmax`.
                let options = AttentionModuleOptions { is_causal: true, ..Default::default() };
                self.computed(move || {
                    let [q, k, v] = [0, 1, 2].map(|i| x[i].clone());
                    module::attention(q, k, v, None, None, options)
                })
            }
        }
    }

    fn matmul<const D: usize>(&self, case: &Case) -> Run {
        let x: Vec<Tensor<D>> = self.operands(case);
        self.computed(move || x[0].clone().matmul(x[1].clone()))
    }

    fn operands<const D: usize>(&self, case: &Case) -> Vec<Tensor<D>> {
        let operand =
            |(x, shape): (Vec<f32>, &[usize])| Tensor::from_data(TensorData::new(x, shape.to_vec()), &self.0);
        case.operands().map(operand).collect()
    }

    fn computed<const D: usize, K: Basic>(&self, work: impl Fn() -> Tensor<D, K> + 'static) -> Run
    where
        Tensor<D, K>: 'static,
    {
        let device = self.0.clone();
        Box::new(move || {
            let result = work();
            let one = result.clone().slice(std::array::from_fn::<_, D, _>(|_| 0..1)).into_data();
            assert_eq!(one.num_elements(), 1);
            device.sync()?;
            let read: Reader = Box::new(move || Ok(result.into_data().iter::<f64>().collect()));
            Ok(read)
        })
    }
}
