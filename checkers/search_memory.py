"""The memory of one searching thread: move buffer, transposition table, ordering tables, the line, the endgames.

Transposition table: buckets of two entries of two words, addressed by the Zobrist key. The first of a bucket is
preferred for depth: it is replaced by the same position, by an entry of the same or greater depth, or once it is left
from an earlier search; the one it held moves to the second, which is always replaced. An entry holds the 64-bit key,
and in its second word depth (6 bits), generation (2), bound (2), the best move's place in the generator's order (6),
a verification key (16) and the value (32). Lookups compare both keys, 80 bits.

What has a fixed size lives in one record, which kernels pass as a single pointer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import float32, int64, types, uint32, uint64
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from checkers.bitboard import bits_float, float_bits, popcount
from checkers.draw_tracking import MOST_PLIES
from checkers.endgame_build import CODES, slice_code
from checkers.endgame_index import position_number
from checkers.jit import helper, tuple_type
from checkers.movegen import LINE_ROWS, new_buffer

if TYPE_CHECKING:
    from checkers.endgame import EndgameDatabase

#: A win on the board; a win in n plies scores WIN - n.
WIN = 1000.0
#: Scores beyond this are proven wins or losses; no evaluation comes near it.
PROVEN = 500.0
INFINITY = 2000.0

#: Deepest search in plies; captures beyond it have room too.
MOST_DEPTH = 60
#: Plies from the root that a line can have: a side loses at most 12 pieces to captures.
LINE = MOST_DEPTH + 26
#: Room for an evaluation's hidden units, in floats.
MOST_HIDDEN = 2048
#: Least depth that the table keeps: to look a position up costs more than to search it one ply deep.
TABLE_DEPTH = 2

EXACT, LOWER, UPPER = 0, 1, 2
NO_MOVE = 63
NO_ENTRY = 0xFFFFFFFFFFFFFFFF

#: Slots of the record's ``counters``: nodes and evaluated leaves so far; most nodes; set to stop the search; use table
#: entries of equal depth only; generation of the table; pieces of the endgame database (0: none); place of the root in
#: ``path``; repetitions are draws; plies without progress that are a draw (0: off); plies of a game that are a draw (0:
#: off); depth of the last finished iteration; length of ``line``; reduce late moves; look up and keep positions in the
#: table; order moves; follow captures below depth 0.
(
    NODES,
    LEAVES,
    NODE_LIMIT,
    STOPPED,
    EQUAL_DEPTH,
    GENERATION,
    ENDGAME_PIECES,
    ROOT,
    REPETITION,
    QUIET_LIMIT,
    PLY_LIMIT,
    FINISHED,
    LINE_LENGTH,
    REDUCE,
    TABLE,
    ORDERING,
    QUIESCENCE,
) = range(17)
COUNTERS = 20

#: Fields: ``path`` the keys and ``quiet`` the plies without progress of the game and the line searched; ``pv`` the best
#: line from each ply, as move codes, ``pv_length`` where it ends in plies from the root; ``line`` that of the finished
#: iteration; ``order`` the ordering score of each row of the move buffer; ``killers`` the last two moves that cut off
#: at a ply; ``history`` how often a step (starting square, direction) of a colour cut off; ``slices`` place and bits of
#: each endgame slice, by its code.
MEMORY_DTYPE = np.dtype(
    [
        ("counters", np.int64, (COUNTERS,)),
        ("hidden", np.float32, (MOST_HIDDEN,)),
        ("path", np.uint64, (MOST_PLIES + LINE,)),
        ("quiet", np.int64, (MOST_PLIES + LINE,)),
        ("pv", np.uint32, (LINE, LINE)),
        ("pv_length", np.int64, (LINE,)),
        ("line", np.uint32, (LINE,)),
        ("order", np.int32, (LINE_ROWS,)),
        ("killers", np.uint32, (LINE, 2)),
        ("history", np.int32, (2, 128)),
        ("slices", np.int64, (CODES, 2)),
    ],
    align=True,
)


class Workspace(NamedTuple):
    """The memory of one searching thread.

    Shapes: ``moves`` uint32 (rows, 4); ``memory`` a record of MEMORY_DTYPE; ``table`` uint64 (4 * buckets,);
    ``endgames`` uint8, the packed values of an endgame database, read-only.
    """

    moves: NDArray[np.uint32]
    memory: Any
    table: NDArray[np.uint64]
    endgames: NDArray[np.uint8]

    @property
    def counters(self) -> NDArray[np.int64]:
        """The record's counters, for callers in Python."""
        counters: NDArray[np.int64] = self.memory["counters"]
        return counters

    def forget(self) -> None:
        """Empty the table and the ordering tables: what comes depends on nothing before."""
        self.table.fill(0)
        self.memory["killers"].fill(0xFFFFFFFF)
        self.memory["history"].fill(0)


WORKSPACE_TYPE = tuple_type(
    [
        types.uint32[:, ::1],
        from_dtype(MEMORY_DTYPE),
        types.uint64[::1],
        types.Array(types.uint8, 1, "C", readonly=True),
    ],
    Workspace,
)


def new_workspace(table_bits: int = 18, endgames: EndgameDatabase | None = None) -> Workspace:
    """A workspace whose table has 2 ** ``table_bits`` entries of 16 bytes; 0: no table is used."""
    memory = np.zeros(1, MEMORY_DTYPE)[0]
    data = np.zeros(1, np.uint8)
    memory["counters"][NODE_LIMIT] = np.iinfo(np.int64).max
    memory["counters"][[TABLE, ORDERING, QUIESCENCE]] = table_bits > 0, 1, 1
    memory["killers"].fill(0xFFFFFFFF)
    if endgames is not None:
        data, slices = endgames.packed()
        memory["slices"][:] = slices
        memory["counters"][ENDGAME_PIECES] = endgames.pieces
    data = data.view()
    data.flags.writeable = False
    return Workspace(new_buffer(LINE_ROWS), memory, np.zeros(2 << max(table_bits, 1), np.uint64), data)


@helper
def bucket_of(table: Any, key: Any) -> Any:
    """Place of a key's bucket in the table."""
    return int64(key & uint64((table.shape[0] >> 2) - 1)) << 2


@helper
def find_entry(table: Any, bucket: Any, key: Any, check: Any) -> Any:
    """The second word of a position's entry, or all ones where it has none."""
    if table[bucket] == key and (table[bucket + 1] >> uint64(16)) & uint64(0xFFFF) == check:
        return table[bucket + 1]
    if table[bucket + 2] == key and (table[bucket + 3] >> uint64(16)) & uint64(0xFFFF) == check:
        return table[bucket + 3]
    return uint64(NO_ENTRY)


@helper
def entry_depth(entry: Any) -> Any:
    """Depth of an entry."""
    return int64(entry & uint64(63))


@helper
def entry_bound(entry: Any) -> Any:
    """EXACT, LOWER or UPPER."""
    return int64((entry >> uint64(8)) & uint64(3))


@helper
def entry_move(entry: Any) -> Any:
    """Place of the best move in the generator's order, or NO_MOVE."""
    return int64((entry >> uint64(10)) & uint64(63))


@helper
def entry_value(entry: Any, ply: Any) -> Any:
    """Value of an entry seen from the root: in the table proven scores count from the position."""
    value = bits_float(uint32(entry >> uint64(32)))
    if value > float32(PROVEN):
        return float32(value - float32(ply))
    if value < float32(-PROVEN):
        return float32(value + float32(ply))
    return value


@helper
def store_entry(
    table: Any, bucket: Any, key: Any, check: Any, generation: Any, depth: Any, bound: Any, move: Any, value: Any,
    ply: Any,
) -> Any:  # fmt: skip
    """Keep a search's result, by the replacement policy above."""
    if value > float32(PROVEN):
        value = float32(value + float32(ply))
    elif value < float32(-PROVEN):
        value = float32(value - float32(ply))
    entry = (
        uint64(depth)
        | (uint64(generation) << uint64(6))
        | (uint64(bound) << uint64(8))
        | (uint64(min(move, int64(NO_MOVE))) << uint64(10))
        | (check << uint64(16))
        | (uint64(float_bits(value)) << uint64(32))
    )
    held = table[bucket + 1]
    if table[bucket] == key and (held >> uint64(16)) & uint64(0xFFFF) == check:
        table[bucket + 1] = entry
    elif depth >= entry_depth(held) or int64((held >> uint64(6)) & uint64(3)) != generation:
        table[bucket + 2] = table[bucket]
        table[bucket + 3] = held
        table[bucket] = key
        table[bucket + 1] = entry
    else:
        table[bucket + 2] = key
        table[bucket + 3] = entry


@helper
def endgame_value(own: Any, opp: Any, kings: Any, ply: Any, work: Any) -> Any:
    """Value of a position that the database holds, for its side to move, which moves up in number."""
    place = work.memory.slices[
        slice_code(
            popcount(uint32(own & ~kings)),
            popcount(uint32(own & kings)),
            popcount(uint32(opp & ~kings)),
            popcount(uint32(opp & kings)),
        )
    ]
    bits = place[1]
    first = position_number(own, opp, kings) * bits
    at = place[0] + (first >> 3)
    pair = int64(work.endgames[at]) | (int64(work.endgames[at + 1]) << 8)
    value = (pair >> (first & 7)) & ((1 << bits) - 1)
    if value == 0:
        return float32(0.0)
    end = float32(WIN - (ply + value - 1))
    return end if value & 1 == 0 else float32(-end)
