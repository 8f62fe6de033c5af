"""How each parameter of NumPy's functions is drawn: `OF` has those of single functions, `ALL` those of each name. None is not drawn."""

import numpy as np
from argument_draws import (
    METHODS, along, another, array, as_one, at, axes, axis, axis_or_all, beside, bins, blocks, chain, choices, conditions,
    counted, counts, dtype, edges, fill, indices, integers, limit, mask_or_host, matrix, new_shape, of, operand, operands,
    order, pad_options, pads, percents, places, plain_of, quantiles, regular, right, rising, same, scalar, sections, several, shape,
    small, some_axes, spread, square, table, vector, vectors, weights, wider,
)  # fmt: skip
from drawn import TYPES

ARRAY = dict.fromkeys("a arr ary array x x1 m v A p f y ar ar1 a1 element val prototype self condition from_ dst object start cond".split(), array)
# Of each parameter of a name.
ALL = ARRAY | {
    **dict.fromkeys("b x2 a2 values test_elements ar2".split(), operand), "axis": axis_or_all, "keepdims": of(True, False),
    "dtype": dtype, "where": mask_or_host, "initial": small, "ddof": counted(0, 3), "correction": of(0, 1, 0.5),
    "decimals": of(0, 1, 2, -1, -2, -3), "k": counted(-3, 4), "n": counted(0, 3), "offset": counted(-3, 4), "axis1": axis,
    "axis2": axis, "order": of("C", "F"), "copy": of(True, None), "subok": of(True, False), "kind": of("stable"), "stable": None,
    "equal_nan": of(True, False), "rtol": of(1e-5, 0.5, 0), "atol": of(0, 0.5, 1e-8), "side": of("left", "right"),
    "mode": of("raise", "clip", "wrap"), "casting": of("same_kind", "safe", "unsafe", "no"), "method": METHODS, "q": quantiles,
    "overwrite_input": of(False), "fill_value": fill, "shape": new_shape, "optimize": of(True, False), "keys": several,
    "arrays": several, "tup": several, "arys": several, "xi": vectors, "args": vectors, "indices_or_sections": sections,
    "weights": weights, "returned": of(True), "assume_unique": of(False), "invert": of(True, False), "upper": of(True, False),
    "hermitian": of(True, False), "UPLO": of("L", "U"), "rcond": of(1e-6), "full_matrices": of(True, False),
    "compute_uv": of(True, False), "sorted": of(True), "return_index": of(True), "return_inverse": of(True),
    "return_counts": of(True), "include_initial": of(True), "dims": of((3, 4)), "max_line_width": of(20, 60), "precision": of(1, 3),
    "suppress_small": of(True), "include": of(True), "device": of("cpu"),
}  # fmt: skip


def reduction_options(*names):
    return lambda d: {name: ALL[name](d) for name in names if d.chance(0.3)}


NORMS = of(None, 1, 2, np.inf, -np.inf, 0, 3, -1, "fro", "nuc", 0.5)
ONE_AXIS = (
    "argmax argmin nanargmax nanargmin cumsum cumprod nancumsum nancumprod sort argsort partition argpartition take compress repeat delete insert append "
    "concatenate unique take_along_axis put_along_axis"
).split()
SEVERAL = "any all sum prod min max amin amax mean std var nansum nanprod nanmin nanmax nanmean nanstd nanvar median nanmedian quantile percentile".split()
SEVERAL += "nanquantile nanpercentile ptp count_nonzero flip squeeze vector_norm average roll expand_dims gradient norm".split()
OWN_AXIS = "stack diff array_split split unstack unwrap trapezoid lexsort linalg.cross linalg.vecdot cumulative_sum cumulative_prod cross rollaxis linspace".split()
# Optional parameters that are always given: a sort is to be stable, and values have a place.
ALWAYS = {"argsort.kind", "insert.axis"}
# Of the parameters of one function.
OF = {
    **{f"{name}.axis": axes for name in SEVERAL}, **{f"{name}.axis": axis for name in OWN_AXIS}, "linspace.axis": of(0, -1),
    **{f"{name}.a": square for name in "det slogdet matrix_power".split()}, "matrix_power.n": counted(0, 5),
    **{f"{name}.a": regular for name in "cholesky eigh eigvalsh inv pinv qr solve svd lstsq".split()},
    **{f"{name}.x": regular for name in "cond svdvals".split()}, "matrix_rank.A": regular, "solve.b": right, "lstsq.b": right,
    "det.a": regular, "slogdet.a": regular, "cond.p": of(None, 1, 2, "fro", np.inf), "qr.mode": of("reduced", "r", "complete"),
    "norm.ord": NORMS, "vector_norm.ord": of(2, 1, 0, np.inf, -np.inf, 3, 0.5),
    "matrix_norm.ord": of("fro", 1, -1, 2, np.inf, "nuc", None), "matrix_rank.tol": of(0.1, 100), "multi_dot.arrays": chain,
    "linalg.tensordot.axes": counted(0, 3), "tensordot.axes": of(0, 1, 2, ([0], [0]), ([-1], [0]), (0, -1)),
    **{f"{name}.{each}": matrix for name, each in (("tril", "m"), ("triu", "m"), ("linalg.trace", "x"), ("matrix_norm", "x"))},
    "linalg.matmul.x1": lambda d: d.values(d.types[0], d.pick([(2, 3), (3,), (2, 2, 3), (0, 3), ()]), True),
    "linalg.matmul.x2": lambda d: d.values(d.pick(d.types), d.pick([(3, 2), (3,), (2, 3, 1), (2,)]), True),
    **{f"{name}.{each}": lambda d: d.values(d.types[1] if d.types[1].kind != "b" else np.dtype("i4"), d.pick([(3,), (2, 3), (3, 3)]), True) for name, of_ in (("cross", "ab"), ("linalg.cross", ("x1", "x2"))) for each in of_},
    **{f"cross.{each}": of(-1, 0, 1) for each in ("axisa", "axisb", "axisc")}, "linalg.outer.x1": vector, "linalg.outer.x2": vector,
    **{f"{name}.b": lambda d: d.values(d.pick(d.types), d.pick([d.lengths[::-1], d.lengths, ()])) for name in ("dot", "inner", "vdot", "kron", "tensordot")},
    "linalg.tensordot.x2": lambda d: d.values(d.pick(d.types), d.pick([d.lengths[::-1], d.lengths])), "linalg.vecdot.x2": another,
    "searchsorted.a": rising, "searchsorted.v": operand, "searchsorted.sorter": lambda d: np.arange(len(d.first)),
    "digitize.bins": lambda d: edges(d), "digitize.right": of(True, False),
    "interp.xp": lambda d: np.cumsum(np.abs(d.values(d.types[1], (d.below(1, 5),), True).astype("f8")) + 0.5),
    "interp.fp": lambda d: d.values(d.types[0], d.arguments["xp"].shape), "interp.left": small, "interp.right": small,
    "bincount.x": lambda d: integers(d, -d.chance(0.03), 5, (d.below(0, 6),)), "bincount.weights": beside,
    "bincount.minlength": counted(0, 9), "histogram.bins": bins, "histogram.range": of((0, 3), (-1.5, 2.5), (2, 2)),
    "histogram.density": of(True, False), "histogram.weights": same, "convolve.a": vector, "convolve.v": vector,
    "correlate.a": vector, "correlate.v": vector, "convolve.mode": of("full", "same", "valid"),
    "correlate.mode": of("full", "same", "valid"), "cov.m": lambda d: d.values(d.types[0], d.pick([(4,), (2, 4), (3, 3), (1, 4)])),
    "cov.y": same, "cov.rowvar": of(True, False), "cov.bias": of(True, False),
    "cov.fweights": lambda d: d.random.integers(1, 3, d.lengths[-1]), "cov.aweights": lambda d: d.random.random(d.lengths[-1]),
    "cov.dtype": of("f4", "f8"), "corrcoef.dtype": of("f4", "f8"),
    "corrcoef.x": lambda d: d.values(d.types[0], d.pick([(4,), (2, 4), (3, 3), (1, 4)])), "corrcoef.y": same,
    "corrcoef.rowvar": of(True, False), "gradient.varargs": lambda d: d.pick([[], [], [0.5], [spread(d)], [1, 2.0]]),
    "gradient.edge_order": of(1, 2), "trapezoid.x": same, "trapezoid.dx": of(0.5, 2), "unwrap.period": of(6, 2.5),
    "unwrap.discont": of(None, 1, 4.0), "polyval.p": vector, "polyval.x": array, "diff.prepend": operand, "diff.append": operand,
    "ediff1d.to_end": operand, "ediff1d.to_begin": operand, "diff.n": counted(-1, 4), "percentile.q": percents,
    "nanpercentile.q": of(0, 50, [10, 90], []), "nanquantile.q": of(1, 0.5, [0.1, 0.9], []), "count_nonzero.keepdims": of(True, False), "gradient.f": array, "gradient.axis": some_axes,
    "nanquantile.axis": some_axes, "nanpercentile.axis": some_axes, "where.x": operand, "where.y": operand, "clip.a_min": limit,
    "clip.a_max": limit, "clip.min": None, "clip.max": None, "clip.kwargs": lambda d: {}, "Array.clip.min": limit,
    "Array.clip.max": limit,
    **{f"array2string.{each}": None for each in ("separator", "prefix", "formatter", "threshold", "edgeitems", "sign", "floatmode", "suffix", "legacy")},
    "isclose.b": operand, "choose.a": lambda d: integers(d, 0, 2 + d.chance(0.05), d.shape), "choose.choices": table,
    "select.condlist": conditions, "select.choicelist": choices, "select.default": of(0, 1, 2),
    "compress.condition": lambda d: as_one(d, d.values(np.dtype(bool), (d.below(0, 4),))), "extract.condition": array,
    "extract.arr": same, "take.indices": indices("first"), "take_along_axis.indices": along, "put_along_axis.indices": along,
    "put_along_axis.values": operand, "delete.obj": at, "insert.obj": at,
    "insert.axis": lambda d: (axis if np.ndim(plain_of(d.arguments["values"])) > 1 else axis_or_all)(d), "insert.values": operand,
    "repeat.repeats": counts, "tile.reps": of(0, 1, 2, (2, 1), (1, 2, 2), (), [2, 2]), "roll.shift": of(0, 1, -1, 5, (1, 2)),
    "roll.axis": lambda d: axes(d) or 0, "rollaxis.axis": axis, "rollaxis.start": axis,
    "rot90.axes": of((0, 1), (1, 0), (-1, -2), (0, 0), (0, 2)), "rot90.k": counted(-3, 6), "moveaxis.source": axes,
    "moveaxis.destination": axes, "swapaxes.axis1": axis, "swapaxes.axis2": axis, "transpose.axes": order, "expand_dims.axis": axes,
    "reshape.shape": shape, "broadcast_to.shape": wider,
    "sliding_window_view.window_shape": lambda d: d.pick([d.below(0, 3), tuple(d.below(0, 3) for _ in d.lengths)]),
    "sliding_window_view.axis": axes, "sliding_window_view.writeable": None, "pad.pad_width": pads,
    "pad.mode": of("constant", "edge", "linear_ramp", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap"),
    "pad.kwargs": pad_options, "partition.kth": of(0, 1, -1, [0, 1], 5), "argpartition.kth": of(0, 1, -1, [0, 1], 5),
    "partition.kind": None, "argpartition.kind": None, "partition.order": None, "argpartition.order": None, "sort.order": None,
    "argsort.order": None, "size.axis": axis, "can_cast.to": dtype,
    "result_type.arrays_and_dtypes": lambda d: [array(d), d.pick([another(d), small(d), d.pick(TYPES)])], "astype.dtype": dtype,
    "can_cast.casting": of("safe", "same_kind", "no", "unsafe"), "nan_to_num.nan": small, "nan_to_num.posinf": small,
    "nan_to_num.neginf": small, "nan_to_num.copy": of(True, False), "real_if_close.tol": of(100), "copyto.src": operand,
    "copyto.where": mask_or_host, "putmask.mask": lambda d: d.values(np.dtype(bool), d.lengths), "putmask.values": operand,
    "fill_diagonal.a": matrix, "fill_diagonal.val": fill, "fill_diagonal.wrap": None,
    "unravel_index.indices": lambda d: integers(d, 0, 12 + d.chance(0.05), d.shape),
    "unravel_index.shape": of((3, 4), (12,), (2, 3, 2)), "ravel_multi_index.multi_index": places, "einsum.operands": operands,
    "einsum.kwargs": lambda d: {}, "meshgrid.copy": of(True), "meshgrid.sparse": of(True, False),
    "meshgrid.indexing": of("xy", "ij"), "block.arrays": blocks, "column_stack.tup": several,
    "broadcast_arrays.args": lambda d: [array(d), another(d)],
    "lexsort.keys": lambda d: tuple(same(d) for _ in range(d.below(1, 4))), "arange.start_or_stop": of(3, 2.5, 0, -1),
    "arange.stop": of(7, 2.5, None, -3), "arange.step": of(1, 2, -1, 0.5), "arange.dtype": of("f4", "f8"),
    "array.object": of([1, 2], [1.5, True], 3, [[1], [2]], []), "array.ndmin": counted(0, 4), "isin.kind": of("sort"),
    "array.ndmax": None, "asarray.a": of([1, 2], 2.5, True), "asanyarray.a": of([1, 2], 2.5, True),
    "ascontiguousarray.a": of([1, 2], 2.5, True), "empty.shape": new_shape, "eye.N": counted(0, 4), "eye.M": of(None, 0, 2, 3),
    "identity.n": counted(0, 4), "linspace.stop": another, "linspace.num": of(0, 1, 2, 5), "linspace.dtype": of("f4", "i8", "f8"),
    "linspace.endpoint": of(True, False), "linspace.retstep": of(True, False), "intersect1d.return_indices": None,
    "cov.ddof": of(0, 1, 2), "full_like.fill_value": scalar, "average.axis": axes, "diag.v": lambda d: d.values(d.types[0], d.shape[:3]), "std.mean": None,
    "var.mean": None, "nanstd.mean": None, "nanvar.mean": None,
    **{f"{name}.weights": None for name in ("percentile", "quantile", "nanpercentile", "nanquantile")}, "interp.period": None,
    "asarray.copy": of(None, True),
    **{f"Array.{name}.kwargs": reduction_options("keepdims", "initial", "where") for name in ("sum", "prod", "min", "max")},
    **{f"Array.{name}.kwargs": reduction_options("keepdims", "where") for name in ("mean", "std", "var")},
    "Array.clip.kwargs": lambda d: {}, "Array.repeat.repeats": counts,
    "Array.reshape.shape": lambda d: list(s) if (s := shape(d)) and isinstance(s, tuple) else [s],
    "Array.searchsorted.self": rising, "Array.transpose.axes": lambda d: list(order(d) or ()),
    "Array.astype.casting": of("unsafe", "same_kind", "safe"),
    "Array.item.args": lambda d: d.pick([[], [0], [-1], [5], [0] * d.rank]),
    "Array.dot.other": lambda d: d.values(d.pick(d.types), d.pick([d.lengths[::-1], d.lengths])), "Array.copy.order": of("C", "K"),
    "pad.array": array, "cond.x": regular, "array2string.a": array,
}  # fmt: skip
