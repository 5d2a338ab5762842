"""The mutation operators: by kind of node, what a slip of the pen could have made of it.

Each row names the operator and a function from a node to its replacements. A replacement shares
the children of the node that it stands for; whoever applies it works on a tree of their own.
"""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

Replacements = Iterator[ast.AST]

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE,
    ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_NEIGHBOUR: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}  # fmt: skip
_BITWISE: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "abs": None, "any": "all", "all": "any"}


def _comparison(node: ast.Compare) -> Replacements:
    for i, op in enumerate(node.ops):
        ops = [*node.ops[:i], _OPPOSITE[type(op)](), *node.ops[i + 1 :]]
        yield ast.Compare(node.left, ops, node.comparators)


def _boundary(node: ast.Compare) -> Replacements:
    for i, op in enumerate(node.ops):
        if type(op) in _NEIGHBOUR:
            ops = [*node.ops[:i], _NEIGHBOUR[type(op)](), *node.ops[i + 1 :]]
            yield ast.Compare(node.left, ops, node.comparators)


def _arithmetic(node: ast.BinOp) -> Replacements:
    if type(node.op) in _ARITHMETIC:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)


def _bitwise(node: ast.BinOp) -> Replacements:
    if type(node.op) in _BITWISE:
        yield ast.BinOp(node.left, _BITWISE[type(node.op)](), node.right)


def _in_place(node: ast.AugAssign) -> Replacements:
    other = {**_ARITHMETIC, **_BITWISE}.get(type(node.op))
    if other:
        yield ast.AugAssign(node.target, other(), node.value)


def _sign(node: ast.UnaryOp) -> Replacements:
    if isinstance(node.op, ast.USub | ast.Invert):
        yield node.operand


def _boolean(node: ast.BoolOp) -> Replacements:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _operand(node: ast.BoolOp) -> Replacements:
    """Leave one of the operands out."""
    for i in range(len(node.values)):
        rest = [*node.values[:i], *node.values[i + 1 :]]
        yield rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _has_opposite(test: ast.expr) -> bool:
    """Whether another operator makes its opposite already."""
    return isinstance(test, ast.Compare) or (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    )


def _not_dropped(node: ast.UnaryOp) -> Replacements:
    if isinstance(node.op, ast.Not):
        yield node.operand


def _if_negated(node: ast.If) -> Replacements:
    if not _has_opposite(node.test):
        yield ast.If(_negated(node.test), node.body, node.orelse)


def _while_negated(node: ast.While) -> Replacements:
    if not _has_opposite(node.test):
        yield ast.While(_negated(node.test), node.body, node.orelse)


def _choice_negated(node: ast.IfExp) -> Replacements:
    if not _has_opposite(node.test):
        yield ast.IfExp(_negated(node.test), node.body, node.orelse)


def _operand_negated(node: ast.BoolOp) -> Replacements:
    for i, value in enumerate(node.values):
        if not _has_opposite(value):
            values = [*node.values[:i], _negated(value), *node.values[i + 1 :]]
            yield ast.BoolOp(node.op, values)


def _constant(node: ast.Constant) -> Replacements:
    if isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node.value, int):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)


def _named_constant(node: ast.Name) -> Replacements:
    if isinstance(node.ctx, ast.Load) and node.id.isupper():
        yield ast.BinOp(node, ast.Add(), ast.Constant(1))
        yield ast.BinOp(node, ast.Sub(), ast.Constant(1))


def _call(node: ast.Call) -> Replacements:
    if isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        other = _CALLS[node.func.id]
        name = ast.Name(other, ast.Load()) if other else None
        yield ast.Call(name, node.args, node.keywords) if name else node.args[0]


def _returned(node: ast.Return) -> Replacements:
    if node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None):
        return
    yield ast.Return(ast.Constant(None))
    if not _has_opposite(node.value) and not isinstance(node.value, ast.Constant):
        yield ast.Return(_negated(node.value))


def _deleted(node: ast.stmt) -> Replacements:
    is_declaration = isinstance(node, ast.AnnAssign) and node.value is None
    if not is_declaration:  # that of an attribute or a name does nothing
        yield ast.Pass()


class Operator(NamedTuple):
    """``replace`` takes a node of ``kind`` only."""

    name: str
    kind: type[ast.AST] | tuple[type[ast.AST], ...]
    replace: Callable[..., Replacements]


_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue)
_BRANCHES = (ast.If, ast.For, ast.While)

OPERATORS = (
    Operator("comparison", ast.Compare, _comparison),
    Operator("boundary", ast.Compare, _boundary),
    Operator("arithmetic", ast.BinOp, _arithmetic),
    Operator("bitwise", ast.BinOp, _bitwise),
    Operator("in place", ast.AugAssign, _in_place),
    Operator("sign", ast.UnaryOp, _sign),
    Operator("boolean", ast.BoolOp, _boolean),
    Operator("operand", ast.BoolOp, _operand),
    Operator("negation", ast.BoolOp, _operand_negated),
    Operator("negation", ast.UnaryOp, _not_dropped),
    Operator("negation", ast.If, _if_negated),
    Operator("negation", ast.While, _while_negated),
    Operator("negation", ast.IfExp, _choice_negated),
    Operator("constant", ast.Constant, _constant),
    Operator("named constant", ast.Name, _named_constant),
    Operator("call", ast.Call, _call),
    Operator("return value", ast.Return, _returned),
    Operator("deletion", (*_SIMPLE, *_BRANCHES, ast.Return), _deleted),
)


def replacements(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Every mutation of this very node: the operator's name and the node in its place."""
    for operator in OPERATORS:
        if isinstance(node, operator.kind):
            for other in operator.replace(node):
                yield operator.name, other
