"""The sequence tree with node unification (theory.md 3.6-3.10): a second way to the net weights of pairs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """A node of the sequence tree: a state number and its branches."""

    value: int
    branches: dict[int, Branch] = field(default_factory=dict)


@dataclass(slots=True)
class Branch:
    """A branch of the sequence tree: its weight and the node it leads to."""

    weight: int
    next: Node


def ers_mining(sequences: Iterable[Iterable[int]]) -> dict[int, dict[int, int]]:
    """Net weights ``w + d - l`` of all pairs by ErsMining's sequence tree (theory.md 3.6-3.10).

    Nodes of one value are merged when the tree is complete: weights only add up, so this gives what merging after every
    step gives.

    Args:
        sequences: signed state numbers of each game.

    Returns:
        state -> next state -> weight; the root, with value 0, leads to the states that games start from.
    """
    root = Node(0)
    for sequence in sequences:
        node = root
        for signed in sequence:
            number = abs(int(signed))
            branch = node.branches.get(number)
            if branch is None:
                branch = node.branches[number] = Branch(0, Node(number))
            branch.weight += 1 if signed > 0 else -1
            node = branch.next
    return _unify(root)


def _unify(root: Node) -> dict[int, dict[int, int]]:
    """Merge all nodes of equal value; equal branches add their weights (theory.md 3.9)."""
    table: dict[int, dict[int, int]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not node.branches:
            continue
        merged = table.setdefault(node.value, {})
        for number, branch in node.branches.items():
            merged[number] = merged.get(number, 0) + branch.weight
            waiting.append(branch.next)
    return table
