"""Draw changes of the source at random; the same seed draws the same ones.

One operator, constant, condition, call or result is changed at a time. Texts, annotations, imports
and what is written to a log stay as they are.
"""

import ast
import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

FLOORS = ("worlds", "planning", "fitting", "live", "serve")
"""Where changes are drawn."""

_SWAPPED = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}  # fmt: skip
_LOGGING = re.compile(r"log(ger|ging)?|warn(ings)?|print|super")
_UNTOUCHED = {"annotation", "returns"}
"""Fields of the syntax tree that nothing is changed in."""


class Change(NamedTuple):
    """One place of a file, in bytes, what is written there instead, and the function it is in."""

    start: int
    end: int
    new: str
    function: str

    def make(self, text: str) -> str:
        """Return a text with the change made."""
        data = text.encode()
        return (data[: self.start] + self.new.encode() + data[self.end :]).decode()


class _Finder:
    """Looks through one module."""

    def __init__(self, text: str) -> None:
        self._data, self._starts = text.encode(), [0]
        for line in self._data.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def walk(self, node: ast.AST, function: str = "") -> Iterator[Change]:
        """Yield what can be changed in a part of the module."""
        if _is_left_alone(node):
            return
        for place in (*self._operators(node), *self._values(node), *self._conditions(node)):
            yield Change(*place, function)
        for name, value in ast.iter_fields(node):
            if name in _UNTOUCHED:
                continue
            named = name == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            inside = f"{node.name}:{node.lineno}" if named else function
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.walk(child, inside)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _operators(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                pairs = pairwise([node.left, *node.comparators])
                for (left, right), operator in zip(pairs, node.ops, strict=True):
                    yield from self._between(left, right, operator)
            case ast.BinOp():
                yield from self._between(node.left, node.right, node.op)
            case ast.BoolOp():
                yield from self._between(*node.values[:2], node.op)
            case ast.UnaryOp(op=ast.Not() | ast.USub() as operator):
                begin = self._span(node)[0]
                yield begin, begin + (4 if isinstance(operator, ast.Not) else 1), ""

    def _between(
        self, left: ast.AST, right: ast.AST, operator: ast.AST
    ) -> Iterator[tuple[int, int, str]]:
        """Find an operator between its operands; texts are put together, not computed with."""
        if type(operator) in _SWAPPED and not (_is_text(left) or _is_text(right)):
            old, new = _SWAPPED[type(operator)]
            begin, until = self._span(left)[1], self._span(right)[0]
            words = re.escape(old).replace(r"\ ", r"\s+").encode()
            if found := re.search(words, self._data[begin:until]):
                yield begin + found.start(), begin + found.end(), new

    def _values(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Constant(value=bool(value)):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int(value) | float(value)):
                yield *self._span(node), repr(value + 1)
            case ast.Call(func=ast.Name(id="min" | "max" as name)):
                yield *self._span(node.func), "max" if name == "min" else "min"
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
                yield *self._span(value), "None"
            case ast.Expr(value=ast.Call()):
                yield *self._span(node), "pass"

    def _conditions(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            begin, until = self._span(node.test)
            yield begin, until, f"(not ({self._data[begin:until].decode()}))"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _is_logging(call: ast.Call) -> bool:
    return bool(_LOGGING.match(ast.unparse(call.func).lstrip("_").rpartition("._")[2]))


def _is_left_alone(node: ast.AST) -> bool:
    """Return whether nothing inside is changed."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return _is_logging(call)
        case ast.AnnAssign(annotation=annotation):
            return "TypeAlias" in ast.unparse(annotation)
        case (
            ast.JoinedStr()
            | ast.Import()
            | ast.ImportFrom()
            | ast.If(test=ast.Name(id="TYPE_CHECKING"))
            | ast.Assign(targets=[ast.Name(id="__all__")])
            | ast.keyword(arg="strict")  # Of zip: nothing trips it as long as all is right.
        ):
            return True
    return False


def find_changes(text: str) -> list[Change]:
    """Return all changes that can be made to a module, in the order of its text."""
    return sorted(set(_Finder(text).walk(ast.parse(text))))


@cache
def _list_possible(root: Path) -> list[tuple[str, Change]]:
    """Return all changes of the floors, each with its file."""
    files = sorted(path for floor in FLOORS for path in (root / "src/grbp" / floor).rglob("*.py"))
    return [
        (path.relative_to(root).as_posix(), change)
        for path in files
        for change in find_changes(path.read_text("utf-8"))
    ]


def draw(root: Path, count: int, seed: int) -> list[tuple[str, Change]]:
    """Draw changes, each with its file; a longer draw begins like a shorter one."""
    possible = _list_possible(root).copy()
    random.Random(seed).shuffle(possible)  # noqa: S311
    return possible[:count]
