"""Text of the IR for people and goldens: a program goes in, one statement a line comes out, the same on every run.

Names do not depend on ids: a value without a name is `%1`, `%2`, … in order of definition in its kernel, a value with
the author's name is `%acc`, and where the name occurs again `%acc.2`, `%acc.3`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from teenyc.ir.nodes import (
    Apply,
    Attribute,
    Attributes,
    Binary,
    Block,
    Call,
    Carried,
    Cast,
    Compare,
    Constant,
    Copy,
    ExpandDims,
    For,
    Function,
    If,
    Kernel,
    Let,
    Literal,
    Offset,
    OpClass,
    Operand,
    Operation,
    Program,
    Return,
    Statement,
    Unary,
    Value,
    While,
)
from teenyc.ir.walk import bodies_of, values_of
from teenyc.types import BOOL, F32, I32, Extent, TypeVar, shape_text

Names = Mapping[int, str]


def print_program(program: Program) -> str:
    """The whole program, ending in a newline; functions come first, as in the generated module."""
    parts = [print_body(body) for body in bodies_of(program)]
    parts.extend(_op_text(op) for op in program.ops)
    return "\n".join(parts)


def print_body(body: Kernel | Function) -> str:
    """One kernel or device function, ending in a newline."""
    names = value_names(body)
    lines = [_signature(body, names)]
    if isinstance(body, Kernel):
        lines.extend(_kernel_facts(body))
    lines.extend(_block_lines(body.body, names, 1))
    return "\n".join(lines) + "\n"


def print_statement(statement: Statement, names: Names) -> str:
    """One statement with what is inside it; a value that `names` lacks shows its id."""
    return "\n".join(_statement_lines(statement, names, 0))


def value_names(body: Kernel | Function) -> dict[int, str]:
    """The printed name of each value, by id."""
    count: Counter[str] = Counter()
    names: dict[int, str] = {}
    for value in values_of(body):
        count[value.name] += 1
        number = count[value.name]
        names[value.id] = f"%{number}" if not value.name else f"%{value.name}" + (f".{number}" if number > 1 else "")
    return names


def operand_text(operand: Operand, names: Names) -> str:
    """An operand: `%x`, `HEAD_DIM`, `4`, `0.5_f64`; i32 and f32 literals have no suffix."""
    match operand:
        case Value():
            return names.get(operand.id, f"%{operand.name}#{operand.id}")
        case Constant():
            return operand.name
        case Literal():
            text = str(operand.value).lower() if isinstance(operand.value, bool) else repr(operand.value)
            return text if operand.type.element in (I32, F32, BOOL) else f"{text}_{operand.type.element}"
        case _:
            assert_never(operand)


# ---- signatures -----------------------------------------------------------------------------------------------------


def _signature(body: Kernel | Function, names: Names) -> str:
    generics = [_variable_text(v) for v in body.type_variables]
    for constant in body.constants:
        known = "" if constant.known is None else f" = {constant.known}"
        generics.append(f"const {constant.name}: {constant.type}{known}")
    text = f"<{', '.join(generics)}>" if generics else ""
    parameters = _definitions_text((p.value for p in body.parameters), names)
    if isinstance(body, Kernel):
        return f"kernel {body.name}{text}({parameters})"
    results = f" -> ({', '.join(map(str, body.results))})" if body.results else ""
    return f"function {body.name}{text}({parameters}){results}"


def _variable_text(variable: TypeVar) -> str:
    return f"{variable.name}: {variable.bound.value}"


def _kernel_facts(kernel: Kernel) -> Iterator[str]:
    for name, element in kernel.elements:
        yield f"    where {name} = {element}"
    for requirement in kernel.requirements:
        yield f"    where {requirement.extent} is {requirement.rule} for {requirement.what}"
    for padded in kernel.padded:
        least = f", {padded.minimum} or more" if padded.minimum > 1 else ""
        power = "greatest power of two in" if padded.is_part else "next power of two of"
        beyond = f" - {padded.beyond}" if padded.beyond else ""
        yield f"    constant {padded.name} = {power} {padded.of}{beyond}{least}"
    yield from _attribute_lines(kernel.attributes)


def _attribute_lines(attributes: Attributes) -> Iterator[str]:
    if attributes.grid is not None:
        yield f"    grid {shape_text(attributes.grid)}"
    for name, shape in attributes.shapes:
        yield f"    shape {name} = {shape_text(shape)}"
    for name, value in attributes.options:
        yield f"    option {name} = {value}"
    for config in attributes.configs:
        yield f"    config {' '.join(f'{name} {value}' for name, value in config)}"
    for name in attributes.pad:
        yield f"    pad {name}"
    if attributes.backward is not None:
        yield f"    backward {attributes.backward}"
    for name in ("dot_operands", "dot_precision"):
        word = getattr(attributes, name)
        if word is not None:
            yield f"    {name} {word}"


def _op_text(op: OpClass) -> str:
    lines = [f"op {op.name}({', '.join(op.parameters)})"]
    for field in op.fields:
        arguments = ", ".join(f"{name} = {extent}" for name, extent in field.arguments)
        lines.append(f"    {field.name} = {field.kernel}<{arguments}>")
    return "\n".join(lines) + "\n"


# ---- statements -----------------------------------------------------------------------------------------------------


def _block_lines(block: Block, names: Names, depth: int) -> Iterator[str]:
    for statement in block.statements:
        yield from _statement_lines(statement, names, depth)
    if block.yields:
        yield "    " * depth + f"yield {_operands_text(block.yields, names)}"


def _statement_lines(statement: Statement, names: Names, depth: int) -> Iterator[str]:
    indent = "    " * depth
    match statement:
        case Let():
            results = _definitions_text(statement.results, names)
            operation = _operation_text(statement.operation, names)
            yield f"{indent}{results} = {operation}" if results else f"{indent}{operation}"
        case For():
            yield indent + _for_text(statement, names)
            yield from _block_lines(statement.body, names, depth + 1)
        case While():
            yield f"{indent}while{_options_text(statement)}{_carried_text(statement.carried, names)}"
            yield from _block_lines(statement.condition, names, depth + 1)
            yield f"{indent}do"
            yield from _block_lines(statement.body, names, depth + 1)
        case If():
            results = f" -> ({_definitions_text(statement.results, names)})" if statement.results else ""
            yield f"{indent}if {operand_text(statement.condition, names)}{results}"
            yield from _block_lines(statement.then, names, depth + 1)
            if statement.otherwise != Block():
                yield f"{indent}else"
                yield from _block_lines(statement.otherwise, names, depth + 1)
        case Return():
            yield f"{indent}return {_operands_text(statement.values, names)}".rstrip()
        case _:
            assert_never(statement)


def _for_text(loop: For, names: Names) -> str:
    start, stop, step = (operand_text(o, names) for o in (loop.start, loop.stop, loop.step))
    unroll = " unroll" if loop.unroll else ""
    counter = _definitions_text((loop.counter,), names)
    carried = _carried_text(loop.carried, names)
    sign = "..=" if loop.inclusive else ".."
    return f"for {counter} in {start}{sign}{stop} step {step}{unroll}{_options_text(loop)}{carried}"


def _options_text(loop: For | While) -> str:
    return "".join(f" {name} = {_attribute_text(value)}" for name, value in loop.options)


def _carried_text(carried: tuple[Carried, ...], names: Names) -> str:
    if not carried:
        return ""
    inside = ", ".join(f"{_definitions_text((c.inside,), names)} = {operand_text(c.initial, names)}" for c in carried)
    return f" carry ({inside}) -> ({', '.join(names.get(c.result.id, '%?') for c in carried)})"


def _definitions_text(values: Iterable[Value], names: Names) -> str:
    return ", ".join(f"{operand_text(v, names)}: {v.type}" for v in values)


def _operands_text(operands: Iterable[Operand], names: Names) -> str:
    return ", ".join(operand_text(o, names) for o in operands)


# ---- operations -----------------------------------------------------------------------------------------------------


def _operation_text(operation: Operation, names: Names) -> str:
    match operation:
        case Copy():
            return operand_text(operation.operand, names)
        case Cast():
            return f"cast {operand_text(operation.operand, names)}"
        case Unary():
            return f"{operation.operator} {operand_text(operation.operand, names)}"
        case Binary() | Compare():
            return f"{operation.operator} {_operands_text((operation.left, operation.right), names)}"
        case Offset():
            return f"offset {_operands_text((operation.pointer, operation.offset), names)}"
        case ExpandDims():
            return f"expand_dims {operand_text(operation.operand, names)} at {list(operation.axes)}"
        case Call():
            arguments = [f"{name} = {operand_text(operand, names)}" for name, operand in operation.operands]
            arguments.extend(f"{name} = {_attribute_text(value)}" for name, value in operation.attributes)
            return f"{operation.intrinsic}({', '.join(arguments)})"
        case Apply():
            generics = [str(element) for element in operation.elements]
            generics.extend(f"{name} = {_constant_text(given, names)}" for name, given in operation.constants)
            text = f"<{', '.join(generics)}>" if generics else ""
            return f"apply {operation.function}{text}({_operands_text(operation.operands, names)})"
        case _:
            assert_never(operation)


def _attribute_text(value: Attribute) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(str(item) for item in value) + "]"
    if isinstance(value, Extent | int | float):
        return str(value)
    return "none" if value is None else str(value)


def _constant_text(given: Operand | Extent, names: Names) -> str:
    return str(given) if isinstance(given, Extent) else operand_text(given, names)
