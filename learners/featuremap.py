"""NET-FEATUREMAP as a scikit-learn transformer: positions to the inputs of a network (theory.md 4.1).

The features come from the kernels that the search uses, and the inputs are those of :mod:`learners.network`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from checkers.errors import InputError
from checkers.features import feature_rows, select, selection_mask
from checkers.position import FULL
from learners.network import LYNCH_FEATURES, encode

#: ``binary``: one input per bit of a feature, low bits first. ``count``: one per feature, its value / its maximum.
ENCODINGS = ("binary", "count")
COLUMNS = ("black", "white", "kings", "side to move")


class NetFeatureMap(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns positions into inputs, seen by the side that has just moved.

    Positions are whole numbers (positions, 4): black, white and kings as 32-bit boards, side to move (0 Black,
    1 White), the fields of :class:`~checkers.position.Position`. The columns of the output follow the features' keys,
    whatever the order in which they are named.

    Args:
        features: names of the features; None means Lynch's twelve.
        encoding: ``binary`` (0 or 1 per bit, low bits first) or ``count`` (value / maximum, one input per feature).

    Attributes:
        features_: the features (:class:`~checkers.features.Feature`), in key order.
        n_features_in_: 4, the columns of a position.

    >>> inputs = NetFeatureMap().fit_transform([[0x00000FFF, 0xFFF00000, 0, 0]])
    >>> inputs.shape
    (1, 38)
    """

    def __init__(self, features: Sequence[str] | None = None, encoding: str = "binary") -> None:
        self.features = features
        self.encoding = encoding

    def fit(self, X: ArrayLike, y: object = None) -> NetFeatureMap:
        """Settle the features; nothing is learned from ``X`` (positions, 4), which is checked all the same.

        Raises:
            InputError: a feature or the encoding is unknown, or ``X`` holds something that is no position.
        """
        if self.encoding not in ENCODINGS:
            raise InputError(f"encoding {self.encoding!r} is unknown; there are {', '.join(ENCODINGS)}")
        names = LYNCH_FEATURES if self.features is None else self.features
        chosen = tuple(sorted(select([names] if isinstance(names, str) else names)))
        self._positions(X, reset=True)
        self.features_ = chosen
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """The inputs of positions (positions, 4), float64 (positions, inputs); may raise :class:`InputError`."""
        check_is_fitted(self)
        positions = self._positions(X, reset=False)
        values = np.zeros((len(positions), len(self.features_)), np.uint8)
        feature_rows(positions, selection_mask(self.features_), values)
        if self.encoding == "count":
            return values / np.array([(1 << feature.bits) - 1 for feature in self.features_], np.float64)
        return encode(values, self.features_).astype(np.float64)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[np.object_]:
        """Names of the inputs, such as ``PieceAdvantage_0`` for its lowest bit.

        ``input_features`` may name the columns of a position; the names are not used.
        """
        check_is_fitted(self)
        if input_features is not None and len(input_features) != self.n_features_in_:
            raise InputError(
                f"input_features should have length equal to {self.n_features_in_}, the fields of a position"
            )
        if self.encoding == "count":
            return np.array([feature.name for feature in self.features_], dtype=object)
        names = [f"{feature.name}_{bit}" for feature in self.features_ for bit in range(feature.bits)]
        return np.array(names, dtype=object)

    def _positions(self, X: ArrayLike, *, reset: bool) -> NDArray[np.uint32]:
        """``X`` as the kernels take it, once every row is known to be a position."""
        fields = f"right would be whole numbers in 4 columns: {', '.join(COLUMNS)}"
        try:
            rows = validate_data(self, X, reset=reset)
        except ValueError as error:  # scikit-learn's advice goes on for many lines
            raise InputError(f"{str(error).splitlines()[0].rstrip('.:')}; {fields}") from error
        if rows.shape[1] != len(COLUMNS):
            raise InputError(f"positions have n_features={rows.shape[1]}; {fields}")
        # narrower floats cannot hold a board of 32 squares: they would be other positions without a word
        if rows.dtype.kind not in "iu" and rows.dtype != np.float64:
            raise InputError(f"positions are {rows.dtype} numbers, which cannot hold boards; right would be uint32")
        top = np.array([FULL, FULL, FULL, 1])
        wrong = (rows != np.floor(rows)) | (rows < 0) | (rows > top)
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"position {row}: {COLUMNS[column]} is {rows[row, column]};"
                f" right would be a whole number from 0 to {top[column]}"
            )
        positions: NDArray[np.uint32] = np.ascontiguousarray(rows, np.uint32)
        black, white, kings = positions[:, 0], positions[:, 1], positions[:, 2]
        _refuse(black & white, "two pieces; right would be one")
        _refuse(kings & ~(black | white), "a king of neither colour; right would be a piece on it")
        return positions

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _refuse(boards: NDArray[np.uint32], what: str) -> None:
    """Raise :class:`InputError` for the first row whose board has a square; rows count from 0."""
    rows = np.flatnonzero(boards)
    if len(rows):
        board = int(boards[rows[0]])
        raise InputError(f"position {rows[0]}: square {(board & -board).bit_length()} holds {what}")
