"""Borrowed arrays: functions called only by kernels take array arguments without reference counting.

Numba updates an array's reference count whenever a tuple of arrays is unpacked or an array is sliced. A caller keeps
its arguments alive until the call returns, so within the callee its arguments and slices of them need no counting. They
have the type `BorrowedArray`, which is not counted. The type stays inside the callee: a function with borrowed
arguments must not return an array, and a variable that is a borrowed array on one path and an owned one on another is
rejected.
"""

from typing import NoReturn

from llvmlite import ir
from numba.core import types, typing
from numba.core.datamodel.models import StructModel
from numba.core.errors import NumbaTypeError
from numba.core.extending import lower_cast, register_model
from numba.core.registry import CPUDispatcher
from numba.np.numpy_support import as_dtype

from dbt_tangles.kernel_runtime import interpreted

_COUNT = ir.IntType(types.intp.bitwidth)


class BorrowedArray(types.Array):
    """The type of an array that the caller owns."""

    def __init__(self, dtype: types.Type, ndim: int, layout: str, readonly: bool = False, aligned: bool = True) -> None:
        """Derive the name from the type of the array."""
        owned = types.Array(dtype, ndim, layout, readonly, aligned=aligned)
        super().__init__(dtype, ndim, layout, readonly, f"borrowed {owned}", aligned)

    def copy(
        self,
        dtype: types.Type | None = None,
        ndim: int | None = None,
        layout: str | None = None,
        readonly: bool | None = None,
    ) -> types.Array:
        """Return the type of a derived array: borrowed if it shares the memory, owned if `readonly` is given.

        Raises:
            NumbaTypeError: The memory is reinterpreted as another dtype.
        """
        owned = super().copy(dtype, ndim, layout, readonly)
        if readonly is not None:
            return owned
        if owned.dtype != self.dtype:
            raise NumbaTypeError(f"the memory of a {self} is viewed as another type: copy the array first")
        return _borrowed_array(owned)

    def unify(self, typingctx: object, other: types.Type) -> None:
        """Refuse to unify with another type."""

    def can_convert_to(self, typingctx: object, other: types.Type) -> None:
        """Refuse to convert to another type."""


@register_model(BorrowedArray)
class _BorrowedModel(StructModel):
    """The fields of an array, with the owner as a plain pointer, because numba counts references by field type.

    Arguments are passed as data pointer and shape, plus strides if the array is not contiguous.
    """

    def __init__(self, manager, borrowed: BorrowedArray) -> None:
        whole = types.UniTuple(types.intp, borrowed.ndim)
        fields = {
            "meminfo": types.voidptr,
            "parent": types.pyobject,
            "nitems": types.intp,
            "itemsize": types.intp,
            "data": types.CPointer(borrowed.dtype),
            "shape": whole,
            "strides": whole,
        }
        super().__init__(manager, borrowed, list(fields.items()))
        passed = ("data", "shape") if borrowed.layout == "C" else ("data", "shape", "strides")
        self._passed = [(name, manager.lookup(fields[name])) for name in passed]
        self._item_size = as_dtype(borrowed.dtype).itemsize

    def get_argument_type(self) -> tuple:
        return tuple(model.get_argument_type() for _, model in self._passed)

    def as_argument(self, builder, value) -> tuple:
        return tuple(model.as_argument(builder, self.get(builder, value, name)) for name, model in self._passed)

    def from_argument(self, builder, value):
        found = {
            name: model.from_argument(builder, part) for (name, model), part in zip(self._passed, value, strict=True)
        }
        size = ir.Constant(_COUNT, self._item_size)
        strides = ir.Constant(ir.ArrayType(_COUNT, self._fe_type.ndim), ir.Undefined)
        span, items = size, ir.Constant(_COUNT, 1)
        for at in reversed(range(self._fe_type.ndim)):
            strides = builder.insert_value(strides, span, at)
            length = builder.extract_value(found["shape"], at)
            span, items = (builder.mul(each, length, flags=["nsw"]) for each in (span, items))
        array = ir.Constant(self.get_value_type(), None)
        for name, part in ({"strides": strides} | found | {"nitems": items, "itemsize": size}).items():
            array = self.set(builder, array, part, name)
        return array


def _borrowed_array(array: types.Array) -> BorrowedArray:
    return BorrowedArray(array.dtype, array.ndim, array.layout, not array.mutable, array.aligned)


def borrowed(argument: types.Type) -> types.Type:
    """Return the parameter type for an argument: arrays are borrowed, also within tuples."""
    if type(argument) is types.Array:
        return _borrowed_array(argument)
    if isinstance(argument, types.BaseTuple):
        items = tuple(map(borrowed, argument))
        if items == tuple(argument):
            return argument
        if isinstance(argument, types.StarArgTuple | types.StarArgUniTuple):
            return types.StarArgTuple.from_types(items)
        return types.BaseTuple.from_types(items, getattr(argument, "instance_class", None))
    return argument


def _has_array(found: types.Type) -> bool:
    return isinstance(found, types.Array) or (isinstance(found, types.BaseTuple) and any(map(_has_array, found)))


@lower_cast(types.Array, BorrowedArray)
def _borrow(context, builder, _, borrowed_type, value):
    """Cast an array to a borrowed one: clear the pointers to its owner."""
    array = context.make_helper(builder, borrowed_type, value)
    for field in ("meminfo", "parent"):
        setattr(array, field, context.get_constant_null({"meminfo": types.voidptr, "parent": types.pyobject}[field]))
    return array._getvalue()


@lower_cast(BorrowedArray, types.Array)
def _refuse_to_own(*_) -> NoReturn:
    raise NumbaTypeError(
        "a variable is a borrowed array on one path and an owned array on another: copy the borrowed array"
    )


@lower_cast(types.NamedTuple, types.NamedTuple)
@lower_cast(types.NamedUniTuple, types.NamedUniTuple)
def _borrow_tuple(context, builder, owned, borrowed_type, value):
    items = [
        context.cast(builder, builder.extract_value(value, at), *both)
        for at, both in enumerate(zip(owned, borrowed_type, strict=True))
    ]
    return context.make_tuple(builder, borrowed_type, items)


class Borrower(CPUDispatcher):
    """A function called from machine code; it borrows its array arguments."""

    def __call__(self, *arguments):
        """Interpret the function, for an interpreted kernel."""
        return interpreted.call(self.py_func, arguments)

    def get_call_template(self, args: tuple, kws: dict) -> tuple:
        """Compile the function for the argument types of a call."""
        signature, args = self._compiler.fold_argument_types(args, kws)
        args = tuple(map(borrowed, args))
        self.compile(args)
        name = self.py_func.__name__
        if _has_array(self.overloads[args].signature.return_type):
            raise NumbaTypeError(f"{name} returns an array, which may be borrowed: write the result into an argument")
        template = typing.make_concrete_template(f"CallTemplate({name})", name, self.nopython_signatures)
        return template, signature, args, {}
