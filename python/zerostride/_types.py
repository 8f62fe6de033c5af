"""Names for types in annotations."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._core import Array, Device

AnyArray: TypeAlias = Array | NDArray[Any] | np.generic
Number: TypeAlias = bool | int | float
Operand: TypeAlias = AnyArray | Number
DeviceLike: TypeAlias = Device | str | None
Axes: TypeAlias = int | tuple[int, ...] | None
Shape: TypeAlias = int | Sequence[int]
