"""Multilayer perceptrons over NET-FEATUREMAP: shape, gradient, npz files (theory.md 4.3).

One hidden layer of tanh and a tanh output. The inputs of a feature are the bits of its value, least significant first.
Parameters are one flat float64 array: input-hidden weights (inputs, hidden), hidden biases (hidden,), output weights
(hidden,), output bias. For play they are turned into an :class:`~checkers.evaluation.Evaluation`.
"""

from __future__ import annotations

import json
import os
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numba import float32, float64, int64, uint64
from numpy.typing import NDArray

from checkers.errors import FileFormatError, InputError
from checkers.evaluation import LANES, NETWORK, VALUES, Evaluation, evaluate_rows
from checkers.features import FEATURES, Feature, select, selection_mask
from checkers.jit import helper, kernel

FORMAT = "ace-rl-checkers network"
VERSION = 1

Floats = NDArray[np.float64]

#: What reading a damaged npz file can raise.
_DAMAGE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    MemoryError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    OSError,
    EOFError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A network: which features it sees, its hidden units, its parameters, and how it was trained.

    ``parameters`` is float64 (inputs * hidden + 2 * hidden + 1,); ``history`` holds JSON values.
    """

    features: tuple[Feature, ...]
    hidden: int
    parameters: Floats
    history: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if list(self.features) != sorted(self.features):
            raise ValueError("features are not in key order, as the kernels hand them out")
        if self.hidden < 1:
            raise ValueError(f"{self.hidden} hidden units; right would be 1 or more")
        if self.parameters.shape != (parameter_count(self.features, self.hidden),):
            raise ValueError(f"parameters have shape {self.parameters.shape}, not what {self.hidden} hidden units need")

    @classmethod
    def initial(
        cls, features: Iterable[str], rng: np.random.Generator, *, hidden: int = 20, bound: float = 0.2
    ) -> Network:
        """A network with parameters uniform in [-bound, bound]; features are put in key order."""
        chosen = tuple(sorted(select(features)))
        if hidden < 1:
            raise InputError(f"a network needs hidden units; {hidden} were asked for, right would be 20")
        return cls(chosen, hidden, rng.uniform(-bound, bound, parameter_count(chosen, hidden)))

    @property
    def inputs(self) -> int:
        """Number of inputs: the bits of all features."""
        return sum(feature.bits for feature in self.features)

    @property
    def bits(self) -> NDArray[np.int64]:
        """Bits of each feature, int64 (features,)."""
        return np.array([feature.bits for feature in self.features], np.int64)

    def evaluation(self) -> Evaluation:
        """The network as the search takes it."""
        evaluation = empty_evaluation(self.features, self.hidden)
        fill_table(self.parameters, self.bits, evaluation.weights, self.hidden)
        return evaluation

    def predict(self, positions: NDArray[np.uint32]) -> NDArray[np.float32]:
        """Values in (-1, 1), float32 (positions,), each for the side that has just moved.

        ``positions`` is uint32 (positions, 4): black, white, kings, side to move.
        """
        out = np.zeros(len(positions), np.float32)
        evaluate_rows(np.ascontiguousarray(positions, np.uint32), self.evaluation(), out)
        return out

    def with_parameters(self, parameters: Floats, **history: Any) -> Network:
        """The same shape with other parameters, and more history."""
        return replace(self, parameters=parameters.copy(), history={**self.history, **history})

    def save(self, path: str | Path) -> None:
        """Write an npz file (no pickles), whole or not at all."""
        target = Path(path)
        handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".npz.part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(
                    file,
                    format=np.array(FORMAT),
                    version=np.array(VERSION),
                    features=np.array([feature.name for feature in self.features]),
                    hidden=np.array(self.hidden),
                    parameters=self.parameters,
                    history=np.array(json.dumps(self.history, sort_keys=True)),
                )
            Path(temporary).chmod(0o644)  # mkstemp's files are their owner's alone
            Path(temporary).replace(target)
        except BaseException as error:
            Path(temporary).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise OSError(error.errno, error.strerror, str(target)) from None
            raise

    @classmethod
    def load(cls, path: str | Path) -> Network:
        """Read a network file; raise :class:`FileFormatError` in one line when it is none."""
        if Path(path).is_dir():
            raise FileFormatError(f"{path} is a folder; right would be a network file")
        if not Path(path).is_file():
            raise FileFormatError(f"network file {path} does not exist; `ace-checkers train --out {path}` makes one")
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as data:
                if str(data["format"]) != FORMAT:
                    raise FileFormatError(f"{path} is not a network of this program")
                if int(data["version"]) != VERSION:
                    raise FileFormatError(f"{path} has network version {int(data['version'])}; this is {VERSION}")
                features = select(str(name) for name in data["features"])
                parameters = np.asarray(data["parameters"], np.float64)
                history = json.loads(str(data["history"]))
                if not isinstance(history, dict):
                    raise ValueError("its history is not an object")
                network = cls(features, int(data["hidden"]), parameters, history)
        except FileFormatError:
            raise
        except _DAMAGE as error:
            why = " ".join(str(error).split()) or type(error).__name__
            if why.startswith("This file contains pickled"):  # what NumPy thinks of any bytes that it does not know
                why = "it is not in NumPy's npz format"
            raise FileFormatError(f"{path} is not a network file: {why}") from None
        if not np.all(np.isfinite(parameters)):
            raise FileFormatError(f"{path} holds weights that are not finite numbers")
        return network


def parameter_count(features: Iterable[Feature], hidden: int) -> int:
    """Number of weights and biases."""
    return (sum(feature.bits for feature in features) + 2) * hidden + 1


def padded(hidden: int) -> int:
    """Hidden units as the evaluation holds them, padded to whole registers."""
    return -(-hidden // LANES) * LANES


def empty_evaluation(features: tuple[Feature, ...], hidden: int) -> Evaluation:
    """An evaluation of the right shape with all weights 0, to be filled by :func:`fill_table`."""
    weights = np.zeros((len(features) * VALUES + 3, padded(hidden)), np.float32)
    return Evaluation(NETWORK, selection_mask(features), len(features), weights)


def encode(values: NDArray[np.uint8], features: tuple[Feature, ...]) -> NDArray[np.uint8]:
    """Feature values (positions, features) to inputs of 0 and 1 (positions, inputs), low bits first."""
    columns = [
        (values[:, i, None] >> np.arange(feature.bits, dtype=np.uint8)) & 1 for i, feature in enumerate(features)
    ]
    return np.concatenate(columns, axis=1)


@kernel("void(float64[::1],int64[::1],float32[:,::1],int64)")
def fill_table(parameters: Any, bits: Any, weights: Any, hidden: Any) -> Any:
    """Write a network's parameters as an evaluation's ``weights``; ``bits`` is int64 (features,)."""
    first = 0
    for i in range(bits.shape[0]):
        row = i * VALUES
        for j in range(hidden):
            weights[row, j] = float32(0.0)
        # each value is a smaller one plus its highest bit
        for bit in range(bits[i]):
            step = 1 << bit
            for value in range(step, 2 * step):
                for j in range(hidden):
                    added = float32(parameters[(first + bit) * hidden + j])
                    weights[row + value, j] = weights[row + value - step, j] + added
        first += bits[i]
    last = bits.shape[0] * VALUES
    for j in range(hidden):
        weights[last, j] = float32(parameters[first * hidden + j])
        weights[last + 1, j] = float32(parameters[(first + 1) * hidden + j])
    weights[last + 2, 0] = float32(parameters[(first + 2) * hidden])


@helper
def forward_backward(parameters: Any, bits: Any, packed: Any, hidden: Any, activation: Any, gradient: Any) -> Any:
    """The value of packed features, and its gradient by the parameters (overwritten).

    ``activation`` is float64 (hidden,) scratch, ``gradient`` has the shape of the parameters.
    """
    features = bits.shape[0]
    inputs = 0
    for i in range(features):
        inputs += bits[i]
    bias = inputs * hidden
    for j in range(hidden):
        activation[j] = parameters[bias + j]
    for k in range(bias):
        gradient[k] = 0.0
    first = 0
    rest = packed
    for i in range(features):
        value = int64(rest & uint64(VALUES - 1))
        rest = rest >> uint64(4)
        for bit in range(bits[i]):
            if (value >> bit) & 1:
                row = (first + bit) * hidden
                for j in range(hidden):
                    activation[j] += parameters[row + j]
        first += bits[i]
    total = parameters[bias + 2 * hidden]
    for j in range(hidden):
        activation[j] = np.tanh(activation[j])
        total += parameters[bias + hidden + j] * activation[j]
    output = np.tanh(total)
    slope = 1.0 - output * output
    gradient[bias + 2 * hidden] = slope
    for j in range(hidden):
        gradient[bias + hidden + j] = slope * activation[j]
        gradient[bias + j] = slope * parameters[bias + hidden + j] * (1.0 - activation[j] * activation[j])
    first = 0
    rest = packed
    for i in range(features):
        value = int64(rest & uint64(VALUES - 1))
        rest = rest >> uint64(4)
        for bit in range(bits[i]):
            if (value >> bit) & 1:
                row = (first + bit) * hidden
                for j in range(hidden):
                    gradient[row + j] = gradient[bias + j]
        first += bits[i]
    return output


@kernel("float64(float64[::1],int64[::1],uint64,int64,float64[::1])")
def value_and_gradient(parameters: Any, bits: Any, packed: Any, hidden: Any, gradient: Any) -> Any:
    """The value of packed feature values (four bits each) in float64; its gradient is written to ``gradient``."""
    activation = np.empty(hidden, np.float64)
    return float64(forward_backward(parameters, bits, packed, hidden, activation, gradient))


#: Lynch's twelve features, in order (theory.md 4.1).
LYNCH_FEATURES = tuple(feature.name for feature in FEATURES[:12])
