"""Name the types of arrays once, for every floor."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""An array of floats; over states, it starts at state 1 and ends at state goal - 1."""

Ints: TypeAlias = NDArray[np.int64]
"""An array of whole numbers."""

Words: TypeAlias = NDArray[np.uint64]
"""An array of unsigned 64-bit words."""

Bools: TypeAlias = NDArray[np.bool_]
"""An array of truth values."""
