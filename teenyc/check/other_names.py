"""Names that other libraries have for what kernels can do: a name goes in, what to write here comes out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MODULES = frozenset("tl triton torch np numpy jnp jax math F nn cuda libdevice cupy tt".split())
"""Modules whose functions people call with a point; here the functions are in scope."""

_FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys("transpose swapaxes moveaxis t".split(), "`trans(x)`, or `permute(x, &[…])`"),
        **dict.fromkeys("matmul mm bmm gemm tensordot einsum inner".split(), "`dot(a, b)`"),
        **dict.fromkeys("mean average".split(), "`sum(x, axis = 0) / N as f32`"),
        "not": "`!x`",
        **dict.fromkeys("relu".split(), "`maximum(x, 0.0)`"),
        **dict.fromkeys("silu swish".split(), "`x * sigmoid(x)`"),
        "gelu": "`0.5 * x * (1.0 + erf(x * 0.7071067811865476))`",
        "softplus": "`log(1.0 + exp(x))`",
        "leaky_relu": "`where_(x > 0.0, x, slope * x)`",
        **dict.fromkeys("pow powi powf power".split(), "`x * x`, or `exp(log(x) * y)`"),
        "square": "`x * x`",
        "reciprocal": "`1.0 / x`",
        "neg": "`-x`",
        "log1p": "`log(1.0 + x)`",
        "expm1": "`exp(x) - 1.0`",
        "log10": "`log(x) * 0.4342944819032518`",
        **dict.fromkeys("len size numel".split(), "the constant that the tensor was made with, such as `N`"),
        **dict.fromkeys("ones ones_like".split(), "`full::<f32>(&[N], 1.0)`"),
        **dict.fromkeys("empty empty_like new_zeros".split(), "`zeros::<f32>(&[N])`"),
        **dict.fromkeys("linspace iota range_ xrange".split(), "`arange(0, N)`"),
        **dict.fromkeys("concat concatenate hstack vstack stack".split(), "`cat(a, b)` or `join(a, b)`"),
        "unsqueeze": "`expand_dims(x, axis)`, or `x[(.., None)]`",
        "expand": "`broadcast_to(x, &[…])`",
        **dict.fromkeys(
            "var variance".split(), "`sum(d * d, axis = 0) / N as f32`, with `d` the difference from the mean"
        ),
        **dict.fromkeys("std stddev".split(), "`sqrt` of the variance, made with `sum`"),
        "any": "`reduce_or(mask, axis = 0)`",
        **dict.fromkeys("all all_".split(), "`reduce_and(mask, axis = 0)`"),
        "product": "`prod(x, axis = 0)`",
        "argsort": "`sort(x)`; its indices are not given",
        **dict.fromkeys("cond select ifelse masked_fill".split(), "`where_(condition, a, b)`"),
        **dict.fromkeys("fmax fmaxf".split(), "`maximum(a, b)`"),
        **dict.fromkeys("fmin fminf".split(), "`minimum(a, b)`"),
        **dict.fromkeys("fabs fabsf absolute".split(), "`abs(x)`"),
        **dict.fromkeys("clip clamp_".split(), "`clamp(x, low, high)`"),
        **dict.fromkeys("ceil_div ceildiv div_ceil cdiv_".split(), "`cdiv(a, b)`"),
        **dict.fromkeys(
            "__syncthreads syncthreads syncwarp __syncwarp barrier sync".split(),
            "`debug_barrier()`, where lanes load what other lanes of the program have stored: Triton places all others",
        ),
        **dict.fromkeys("atomicAdd atomicadd".split(), "`atomic_add(pointer, value)`"),
        **dict.fromkeys("atomicMax".split(), "`atomic_max(pointer, value)`"),
        **dict.fromkeys("atomicCAS".split(), "`atomic_cas(pointer, compared, value)`"),
        **dict.fromkeys("print printf println".split(), '`device_print("x =", x)`'),
        **dict.fromkeys("assert assert_".split(), '`device_assert(condition, "text")`'),
        **dict.fromkeys("get_program_id pid block_id blockIdx".split(), "`program_id(0)`"),
        **dict.fromkeys(
            "thread_id tid threadIdx get_thread_id".split(),
            "`arange(0, N)`: a program works on whole tensors, its threads have no numbers",
        ),
        **dict.fromkeys("num_blocks grid_dim".split(), "`num_programs(0)`"),
        **dict.fromkeys("float float32 f32".split(), "`x as f32`"),
        **dict.fromkeys("int int32 i32".split(), "`x as i32`"),
        **dict.fromkeys("int64 long i64".split(), "`x as i64`"),
        **dict.fromkeys("bool double f64 f16 bf16 u32 u64 half float64 float16".split(), "a cast such as `x as f64`"),
        **dict.fromkeys("astype type_as".split(), "`x as f32`, or `cast::<_, f32>(x)`"),
        "type": "nothing: types are known when the kernel is compiled",
    }
)

_METHODS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            "clone to_owned copy copied cloned as_ref as_mut borrow".split(), "the value itself: it is copied"
        ),
        **dict.fromkeys("into try_into to_f32 to_float float to_i32 int to_f64 half".split(), "a cast: `x as f32`"),
        **dict.fromkeys(
            "unwrap expect unwrap_or is_some is_none ok".split(), "the value itself: nothing is an `Option`"
        ),
        **dict.fromkeys(
            "iter map for_each zip fold filter collect into_iter enumerate".split(),
            "the operation on the whole tensor: functions work element by element, `sum` and its kin reduce",
        ),
        **dict.fromkeys("contiguous detach cuda cpu".split(), "the value itself"),
        **dict.fromkeys("shape dim ndim rank".split(), "the constants that the tensor was made with, such as `N`"),
        **dict.fromkeys("to_string as_str format".split(), "nothing: kernels make no strings"),
        **dict.fromkeys("push insert pop append extend".split(), "tensors of a fixed shape: they do not grow"),
        **dict.fromkeys("get get_unchecked index".split(), "`load(pointer + offset)`"),
        **dict.fromkeys("offset wrapping_offset".split(), "`p + off` or `p.add_offsets(off)`"),
        **dict.fromkeys("read read_volatile".split(), "`load(p)`"),
        **dict.fromkeys("write write_volatile".split(), "`store(p, value)`"),
        **dict.fromkeys("item tolist".split(), "`sum(x)`, if it has one element"),
    }
)

_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "T": "the transposed matrix is `trans(x)`",
        "mT": "the transposed matrix is `trans(x)`",
        **dict.fromkeys(("shape", "ndim", "size"), "shapes are made of the kernel's constants: use those, such as `N`"),
        **dict.fromkeys(("dtype", "type"), "the element type is the parameter `D`, or stated where the tensor is made"),
    }
)

_VALUES: Mapping[str, str] = MappingProxyType(
    {
        "True": "write `true`",
        "False": "write `false`",
        **dict.fromkeys(
            ("None", "null", "nullptr", "NULL", "nil"), "`None` stands for an argument that is left out only"
        ),
        **dict.fromkeys(("pass", "Ellipsis"), "leave it out: a block may be empty"),
        "threadIdx": "write `arange(0, N)`: a program works on whole tensors",
        "blockIdx": "write `program_id(Axis::X)`",
        "blockDim": "write the constant of the block, such as `BLOCK`",
        "gridDim": "write `num_programs(Axis::X)`",
        **dict.fromkeys(("inf", "INFINITY", "Infinity", "INF"), "write `f32::INFINITY`"),
        **dict.fromkeys(("nan", "NaN", "NAN"), "write `f32::NAN`"),
        **dict.fromkeys(("pi", "PI", "π", "M_PI"), "write `f32::PI`"),
        **dict.fromkeys(("self", "Self"), "kernels are functions, they have no `self`"),
    }
)

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys("float float32 fp32 single Float32 f32_t tl.float32 FloatTensor".split(), "write `f32`"),
        **dict.fromkeys("double float64 fp64".split(), "write `f64`"),
        **dict.fromkeys("half float16 fp16".split(), "write `f16`"),
        **dict.fromkeys("bfloat16 bfloat".split(), "write `bf16`"),
        **dict.fromkeys("int int32 int32_t integer".split(), "write `i32`"),
        **dict.fromkeys("long int64 int64_t i128 isize".split(), "write `i64`, or `i32`"),
        **dict.fromkeys("usize size_t".split(), "write `i32`, or `i64`: sizes and offsets are signed"),
        **dict.fromkeys("u128 ulong uint64 uint64_t".split(), "write `u64`"),
        **dict.fromkeys("uint uint32 uint32_t unsigned".split(), "write `u32`"),
        **dict.fromkeys("char byte uint8 uint8_t".split(), "write `u8`"),
        **dict.fromkeys("int8 int8_t".split(), "write `i8`"),
        **dict.fromkeys("short int16".split(), "write `i16`"),
        **dict.fromkeys("int1 boolean Bool".split(), "write `bool`"),
        **dict.fromkeys("str String &str".split(), "strings stand in asserts and prints only"),
        **dict.fromkeys(
            "Vec Box Rc Arc HashMap Option Result".split(), "kernels have numbers, tensors and pointers only"
        ),
        **dict.fromkeys("ptr Ptr NonNull".split(), "memory is a `Pointer<f32>`"),
        **dict.fromkeys(
            "Tensor I32Tensor BoolTensor".split(), "a kernel takes a `Pointer<f32>`, and loads what it points to"
        ),
        "constexpr": "constants are parameters in `<…>`: `const N: i32`",
    }
)


def function(name: str) -> str:
    """What to write for a function that teenyc does not have under that name; empty where nothing is known."""
    plain = name.strip("_")
    known = _FUNCTIONS.get(name) or _FUNCTIONS.get(plain) or _FUNCTIONS.get(plain.removesuffix("f"))
    return f"write {known}" if known else ""


def method(name: str) -> str:
    """What to write for a method."""
    known = _METHODS.get(name) or _FUNCTIONS.get(name)
    return f"write {known}" if known else ""


def field(name: str) -> str:
    """What to write for a field of a value."""
    return _FIELDS.get(name, "")


def value(name: str) -> str:
    """What to write for a name of a value."""
    return _VALUES.get(name, "")


def type_(name: str) -> str:
    """What to write for a type, given as it stands in the source."""
    plain = name.removeprefix("tl.").removeprefix("tl::").removeprefix("torch.").removeprefix("torch::")
    if name.startswith("&") and name.endswith("str"):
        return _TYPES["str"]
    if name.startswith(("&", "*")):
        return "kernels have no references: memory is a `Pointer<f32>`"
    plain = plain.rpartition("::")[2]
    return _TYPES.get(plain) or _TYPES.get(plain.partition("<")[0]) or ""
