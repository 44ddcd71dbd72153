"""Items: signatures, modules, host code that is passed over, Op structs."""

from __future__ import annotations

import pytest
from source_printer import print_expression
from syntax_helpers import codes_of, function_of, module_of

from teenyc.syntax import ast


def test_signature() -> None:
    function = function_of(
        """
        #[allow(clippy::too_many_arguments)]
        #[kernel(backward = Foo, grid = [n, bh], shape(q = [bh, n]), pad(N))]
        #[cfg(feature = "x")]
        pub(crate) unsafe fn f<'a, T: Triton + 'a, D: teeny::dtype::Float,
            E: AddOffsets<i32, 1, Output = T::X<D>> + Num, const N: i32, const B: bool>(
            mut p: T::Pointer<D>, _q: &'a [f32], X: (i32, f32), lambda: i32,
        ) -> (i32, Tensor<f32, 1>)
        where
            T::I32Tensor: Comparison<i32, BoolTensor = T::BoolTensor>,
            T::Pointer<D>: AddOffsets<i32, 1, T::I32Tensor, Output = T::Tensor<T::Pointer<D>>>,
            'a: 'static,
        { (1, x) }
        """
    )
    assert [a.name.text for a in function.attributes] == ["allow", "kernel", "cfg"]
    kernel = function.attributes[1]
    assert [a.name.text if a.name else type(a.value).__name__ for a in kernel.arguments] == [
        "backward",
        "grid",
        "Call",
        "Call",
    ]
    generics = [
        (g.name.text, [b.text for b in g.bounds] if isinstance(g, ast.TypeParameter) else g.type)
        for g in function.generics
    ]
    assert generics[:3] == [("T", ["Triton"]), ("D", ["Float"]), ("E", ["AddOffsets", "Num"])]
    assert [name for name, _ in generics[3:]] == ["N", "B"]
    assert [(p.name.text, p.mutable) for p in function.parameters] == [
        ("p", True),
        ("_q", False),
        ("X", False),
        ("lambda", False),
    ]
    assert isinstance(function.parameters[1].type, ast.OtherType)
    assert function.parameters[1].type.text == "&'a [f32]"
    assert isinstance(function.parameters[2].type, ast.TupleTypeExpression)
    assert isinstance(function.result, ast.TupleTypeExpression)


def test_module_items_in_order() -> None:
    module = module_of(
        "const N: i32 = 4;\npub mod inner { //! inner doc\n #[kernel] pub fn k() {} mod deep { const M: i64 = N; } }\n"
        "fn g() {}"
    )
    first, second, third = module.items
    assert isinstance(first, ast.ConstItem)
    assert isinstance(second, ast.ModuleItem)
    assert [type(i).__name__ for i in second.items] == ["Function", "ModuleItem"]
    assert isinstance(third, ast.Function)
    assert module.doc == ""


HOST = r"""#!/usr/bin/env run
//! Module
//! text.
#![no_std]
#![cfg_attr(x, doc = "}")]
use core::marker::PhantomData;
use a::{b::{c, d}, *};
extern crate alloc;
pub(crate) static NAME: &str = "}{";
static OTHER: [u8; 2] = [b'{', b'}'];
const _: () = assert!(1 > 0);
const HOST: Foo = Foo { a: '{', ..Default::default() };
type F<'a> = unsafe extern "C" fn(i32) -> &'a u8;
macro_rules! m { ($x:expr) => { fn broken( } ) ; }
"""


def test_host_code_is_passed_over() -> None:
    host = HOST.replace("macro_rules! m { ($x:expr) => { fn broken( } ) ; }\n", "")
    module = module_of(
        host
        + r"""
        macro_rules! m { ($x:expr, $($y:tt)*) => { fn $x() { "}" } }; }
        m! { a b } m!(c; d); a::m![e];
        enum E { A = 1, B(u8), C { x: i32 } }
        union U { a: u8 }
        pub trait Tr: Sized { fn f(&self) -> i32 { '}' as i32 } }
        unsafe impl<'a, T: 'static + Tr> Tr for Vec<T> where T: Clone { /* } */ fn f(&self) -> i32 { r#"}"#; 1 } }
        extern "C" { fn g(x: i32); }
        #[derive(Clone)] struct S<'a> { x: &'a str }
        struct Unit; struct Pair(i32, i32);
        impl S<'_> { const X: char = '\''; fn f(self) { 'a: loop { break 'a } } }
        #[cfg(test)] mod tests { use super::*; #[test] fn t() { assert_eq!(1, 1); } }
        mod other;
        async fn h() -> Result<(), E> { g().await?; Ok(()) }
        fn main() -> Result<()> { println!("{}", 1)?; let s = S { x: "a" }; Ok(()) }
        #[kernel] fn k(p: Pointer<i32>) { helper(p); }
        fn helper(p: Pointer<i32>) {}
        """
    )
    assert [i.name.text for i in module.items] == ["tests", "k", "helper"]
    assert module.doc == "Module\ntext."


def test_host_functions_that_a_kernel_mentions_are_parsed() -> None:
    assert codes_of("fn helper() { g()?; }\n#[kernel] fn k() { other(); }\nfn other() { helper(); }") == ["E0120"]
    assert codes_of("fn helper() { g()?; }\n#[kernel] fn k() {}") == []
    assert codes_of("fn helper() { let = 1; }\n#[kernel] fn k() {}") == ["E0101"]


def test_braces_in_comments_characters_and_strings_do_not_count() -> None:
    text = "/* { /* } */ { */ struct S { a: char } // }\nimpl S { fn f() { '{'; \"}\"; b'}'; r\"}\"; 'x: loop {} } }\n"
    text += "fn g() {}"
    assert [i.name.text for i in module_of(text).items if not isinstance(i, ast.OpStruct)] == ["g"]


# ---- Op structs -----------------------------------------------------------------------------------------------------

OP = """
/// Both passes.
pub struct FooOp<'a, D: Float + Send + 'static> {
    /// Forward.
    pub forward: FooForward<D>,
    pub(crate) backward: crate::FooBackward<D>,
    private: FooForward<D>,
    pub _marker: core::marker::PhantomData<&'a ()>,
    pub pair: (i32, i32),
}

impl<'a, D: Float> Drop for FooOp<'a, D> { fn new() {} }

impl<'a, D: Float + Send + 'static> FooOp<'a, D> {
    pub fn name(&self) -> &str { "}" }

    pub fn new(head_dim: i32, block: i32) -> Self {
        NEW
    }
}
"""
NEW = """Self {
            forward: FooForward::<D>::new(head_dim, 2 * block),
            backward: FooBackward::new(block),
            private: FooForward::new(1),
            pair,
            _marker: PhantomData,
        }"""


def op_of(text: str) -> ast.OpStruct:
    (op,) = module_of(text).items
    assert isinstance(op, ast.OpStruct)
    return op


def test_op_struct() -> None:
    op = op_of(OP.replace("NEW", NEW))
    assert op.name.text == "FooOp"
    assert op.doc == "Both passes."
    assert [(f.name.text, f.type.text) for f in op.fields] == [("forward", "FooForward"), ("backward", "FooBackward")]
    assert [p.text for p in op.parameters or ()] == ["head_dim", "block"]
    assert [(a.name.text, a.type.text, [print_expression(x) for x in a.arguments]) for a in op.arguments] == [
        ("forward", "FooForward", ["head_dim", "2 * block"]),
        ("backward", "FooBackward", ["block"]),
    ]


@pytest.mark.parametrize(
    "new",
    [
        "let s = 1; Self { forward: FooForward::new(s), backward: FooBackward::new(s) }",
        "Self { forward: FooForward::new(1), backward: make() }",
        "Self { forward: FooForward::new(1) }",
        "Self::default()",
        "Self { forward: FooForward::new(vec![1]), backward: FooBackward::new(1) }",
    ],
)
def test_op_struct_whose_new_does_something_else(new: str) -> None:
    op = op_of(OP.replace("NEW", new))
    assert op.parameters is None
    assert op.arguments == ()
    assert len(op.fields) == 2


def test_op_struct_without_impl_and_other_structs() -> None:
    assert op_of("pub struct AOp { pub a: B }").parameters is None
    assert module_of("pub struct A { pub a: B }\nstruct BOp;\nstruct COp(i32);\nstruct DOp { a: B }").items == ()


def test_braces_among_generics_end_no_item() -> None:
    assert codes_of("struct A<T, const N: usize = { 3 + 4 }> where T: Debug { x: T }\n#[kernel] fn k() {}") == []
    assert codes_of("impl B<{ 1 + 2 }, 3> for C<{ N }> { fn f() {} }\n#[kernel] fn k() {}") == []


def test_a_script_may_begin_with_its_interpreter() -> None:
    assert codes_of("#!/usr/bin/env run {\n#![allow(x)]\n#[kernel] fn k() {}") == []


def test_bounds_of_every_form() -> None:
    function = function_of(
        """
        #[kernel]
        fn f<'a, F: Fn(i32, &'a f32) -> f32 + 'a, G: for<'b> FnMut(&'b D) + ?Sized, D: Num>(x: i32)
        where
            for<'c> &'c D: Copy,
            for<> F: Fn() -> (i32, f32),
            [(); N as usize]: Sized,
        {}
        """
    )
    bounds = [g.bounds for g in function.generics if isinstance(g, ast.TypeParameter)]
    assert [[b.text for b in each] for each in bounds] == [["Fn"], ["FnMut", "Sized"], ["Num"]]
