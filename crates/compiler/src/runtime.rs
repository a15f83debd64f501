//! Functions that compiled functions call: those of the engine, and those of the module itself.

use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType};

use crate::emit::{COUNTED, EXCEPTION, INTEGERS};
use crate::image::Layout;

const I: ValType = ValType::I32;
const L: ValType = ValType::I64;

macro_rules! helpers {
    ($($name:ident $export:literal ($($parameter:ident)*) -> ($($result:ident)?);)*) => {
        /// Function that the engine exports (`quickjs-compiled.h`).
        #[derive(Debug, Clone, Copy)]
        pub(crate) enum Helper { $($name),* }

        /// Names, parameters and results.
        pub(crate) const HELPERS: &[(&str, &[ValType], &[ValType])] =
            &[$(($export, &[$($parameter),*], &[$($result)?])),*];
    };
}

helpers! {
    FreeZero "fn_free_zero" (I L) -> ();
    Poll "fn_poll" (I) -> (I);
    Closure "fn_closure" (I I L) -> (L);
    Object "fn_object" (I) -> (L);
    Special "fn_special" (I I I) -> (L);
    Rest "fn_rest" (I I I) -> (L);
    CloseLoc "fn_close_loc" (I I I) -> ();
    Call "fn_call" (I L L I I) -> (L);
    Construct "fn_construct" (I L L I I) -> (L);
    ArrayFrom "fn_array_from" (I I I) -> (L);
    GetField "fn_get_field" (I L I) -> (L);
    GetLength "fn_get_length" (I L) -> (L);
    PutField "fn_put_field" (I L I L) -> (I);
    DefineField "fn_define_field" (I L I L) -> (I);
    GetElement "fn_get_el" (I L L) -> (L);
    PutElement "fn_put_el" (I L L L) -> (I);
    GetVar "fn_get_var" (I I I) -> (L);
    PutVar "fn_put_var" (I I L I) -> (I);
    Add "fn_add" (I L L) -> (L);
    AddLoc "fn_add_loc" (I I L) -> (I);
    Binary "fn_binary" (I L L I) -> (L);
    Unary "fn_unary" (I L I) -> (L);
    StrictEq "fn_strict_eq" (I L L) -> (I);
    ToBool "fn_to_bool" (I L) -> (I);
    TypeofIs "fn_typeof_is" (I L I) -> (I);
    TypeofAtom "fn_typeof_atom" (I L) -> (I);
    Typeof "fn_typeof" (I L) -> (L);
    Resume "fn_resume" (I I) -> (L);
    Pad "fn_pad" (I I I I I) -> ();
    CloseRefs "fn_close_refs" (I I) -> ();
    GetFieldCell "fn_get_field_cell" (I L I I) -> (L);
    PutFieldCell "fn_put_field_cell" (I L I L I) -> (I);
    Step "fn_step" (I I I I I) -> (I);
}

impl Helper {
    pub(crate) fn index(self) -> u32 {
        self as u32
    }
}

/// Function of the module itself.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Local {
    Drop,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Compare,
    Element,
    Leave,
    Count,
    Call,
    Field,
    PutField,
    StrictEq,
    Length,
}

pub(crate) const LOCALS: &[(Local, &[ValType], &[ValType])] = &[
    (Local::Drop, &[I, L], &[]),
    (Local::Add, &[I, L, L], &[L]),
    (Local::Subtract, &[I, L, L], &[L]),
    (Local::Multiply, &[I, L, L], &[L]),
    (Local::Divide, &[I, L, L], &[L]),
    (Local::Remainder, &[I, L, L], &[L]),
    (Local::Compare, &[I, L, L, I], &[L]),
    (Local::Element, &[I, L, L], &[L]),
    // Frame, place in the code, distance of the stack's top, size of the frame with whether an exception was thrown.
    (Local::Leave, &[I, I, I, I], &[L]),
    (Local::Count, &[L], &[]),
    // Context, function, this, argv, argc.
    (Local::Call, &[I, L, L, I, I], &[L]),
    // Context, object, atom, cell.
    (Local::Field, &[I, L, I, I], &[L]),
    (Local::PutField, &[I, L, I, L, I], &[I]),
    (Local::StrictEq, &[I, L, L], &[I]),
    (Local::Length, &[I, L], &[L]),
];

impl Local {
    pub(crate) fn index(self) -> u32 {
        u32::try_from(HELPERS.len()).unwrap_or(0) + self as u32
    }
}

/// Numbers of opcodes that the engine's helpers need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    pub(crate) sub: i32,
    pub(crate) mul: i32,
    pub(crate) div: i32,
    pub(crate) modulo: i32,
    pub(crate) lt: i32,
    pub(crate) lte: i32,
    pub(crate) gt: i32,
}

fn at(offset: u64, align: u32) -> MemArg {
    MemArg { offset, align, memory_index: 0 }
}

const CONTEXT: u32 = 0;
const LEFT: u32 = 1;
const RIGHT: u32 = 2;
/// The least value that is an object.
const OBJECTS: u64 = 0xffff_ffff << 32;
/// JS_FLOAT64_TAG_ADDEND of quickjs.h.
const ADDEND: u64 = 0x7ff8_000a << 32;
const NAN: u64 = (0x7ff8_u64 << 48).wrapping_sub(ADDEND);
const FIRST_TAG: u64 = 9 << 32;
const FLOATS: u64 = 17 << 32;

pub(crate) fn body(local: Local, layout: Layout, numbers: Numbers, runtime: u32) -> Function {
    let mut locals = vec![(1, I), (2, ValType::F64), (1, L)];
    if matches!(local, Local::Length | Local::Count) {
        locals = vec![(1, I)];
    } else if matches!(local, Local::Drop) {
        locals = vec![(2, I)];
    } else if matches!(local, Local::Call) {
        locals = vec![(2, I), (2, L)];
    } else if matches!(local, Local::Field | Local::PutField) {
        locals = vec![(3, I), (1, L)];
    }
    let mut function = Function::new(locals);
    let mut out = function.instructions();
    match local {
        Local::Drop => drop_value(&mut out, layout),
        Local::Element => element(&mut out, layout),
        Local::Leave => {
            let result = 7;
            out.local_get(0).local_get(1).i32_store(at(layout.cur_pc, 2));
            out.local_get(0).local_get(0).local_get(2).i32_add().i32_store(at(layout.cur_sp, 2));
            out.local_get(0).local_get(3).i32_const(1).i32_and().call(Helper::Resume.index()).local_set(result);
            out.local_get(0).local_get(3).i32_const(-2).i32_and().i32_add().global_set(0).local_get(result);
        }
        Local::Count => {
            let address = 1;
            out.local_get(0).i32_wrap_i64().i32_const(layout.count_before).i32_sub().local_tee(address);
            out.local_get(address).i32_load(at(0, 2)).i32_const(1).i32_add().i32_store(at(0, 2));
        }
        Local::Call => call(&mut out, layout, runtime),
        Local::Field => field(&mut out, layout),
        Local::PutField => put_field(&mut out, layout),
        Local::StrictEq => {
            // The same bits are equal but for NaN, which has one form.
            out.local_get(LEFT)
                .local_get(RIGHT)
                .i64_eq()
                .local_get(LEFT)
                .i64_const(NAN.cast_signed())
                .i64_ne()
                .i32_and();
            out.if_(BlockType::Empty).i32_const(1).return_().end();
            out.local_get(CONTEXT).local_get(LEFT).local_get(RIGHT).call(Helper::StrictEq.index());
        }
        Local::Length => {
            let word = 2;
            out.local_get(LEFT)
                .i64_const(32)
                .i64_shr_u()
                .i64_const((STRINGS >> 32).cast_signed())
                .i64_eq()
                .if_(BlockType::Empty);
            out.local_get(LEFT)
                .i32_wrap_i64()
                .i32_load(at(0, 2))
                .i32_const(i32::MAX)
                .i32_and()
                .i64_extend_i32_u()
                .return_();
            out.end();
            out.local_get(LEFT).i64_const(OBJECTS.cast_signed()).i64_ge_u().if_(BlockType::Empty);
            out.local_get(LEFT).i32_wrap_i64().local_tee(word).i32_load16_u(at(layout.class_id, 1));
            out.i32_const(layout.class_array).i32_eq().if_(BlockType::Empty);
            // The length of an array is its first property.
            out.local_get(word).i32_load(at(layout.properties, 2)).i64_load(at(0, 3)).return_().end().end();
            out.local_get(CONTEXT).local_get(LEFT).call(Helper::GetLength.index());
        }
        Local::Compare => {
            let (first, second) = (5, 6);
            numbers_of(&mut out, first, second);
            for (number, is_last) in [(numbers.lt, false), (numbers.lte, false), (numbers.gt, false), (0, true)] {
                if !is_last {
                    out.local_get(3).i32_const(number).i32_eq().if_(BlockType::Empty);
                }
                out.local_get(first).local_get(second);
                match number {
                    _ if is_last => out.f64_ge(),
                    each if each == numbers.lt => out.f64_lt(),
                    each if each == numbers.lte => out.f64_le(),
                    _ => out.f64_gt(),
                };
                out.i64_extend_i32_u().i64_const(1 << 32).i64_or().return_();
                if !is_last {
                    out.end();
                }
            }
            out.end();
            out.local_get(CONTEXT).local_get(LEFT).local_get(RIGHT).local_get(3).call(Helper::Binary.index());
        }
        Local::Remainder => {
            let (first, second, bits) = (4, 5, 6);
            numbers_of(&mut out, first, second);
            // Integers that a double has exactly, without a sign.
            out.local_get(first)
                .f64_const(0.0.into())
                .f64_ge()
                .local_get(second)
                .f64_const(0.0.into())
                .f64_gt()
                .i32_and();
            for each in [first, second] {
                out.local_get(each).f64_trunc().local_get(each).f64_eq().i32_and();
                out.local_get(each).f64_const(9_007_199_254_740_991.0.into()).f64_le().i32_and();
            }
            // A negative zero stays one.
            out.local_get(first).i64_reinterpret_f64().i64_const(0).i64_ge_s().i32_and().if_(BlockType::Empty);
            out.local_get(first)
                .i64_trunc_sat_f64_s()
                .local_get(second)
                .i64_trunc_sat_f64_s()
                .i64_rem_u()
                .local_tee(bits);
            out.i64_const(i64::from(i32::MAX)).i64_le_u().if_(BlockType::Empty).local_get(bits).return_().end();
            out.local_get(bits)
                .f64_convert_i64_s()
                .i64_reinterpret_f64()
                .i64_const(ADDEND.cast_signed())
                .i64_sub()
                .return_();
            out.end().end();
            out.local_get(CONTEXT)
                .local_get(LEFT)
                .local_get(RIGHT)
                .i32_const(numbers.modulo)
                .call(Helper::Binary.index());
        }
        Local::Add | Local::Subtract | Local::Multiply | Local::Divide => {
            let (word, first, second, bits) = (3, 4, 5, 6);
            numbers_of(&mut out, first, second);
            out.local_get(first).local_get(second);
            match local {
                Local::Add => out.f64_add(),
                Local::Subtract => out.f64_sub(),
                Local::Multiply => out.f64_mul(),
                _ => out.f64_div(),
            };
            out.local_tee(first).i64_reinterpret_f64().local_set(bits);
            if matches!(local, Local::Multiply | Local::Divide) {
                out.local_get(first).i32_trunc_sat_f64_s().local_tee(word).f64_convert_i32_s().i64_reinterpret_f64();
                out.local_get(bits).i64_eq().if_(BlockType::Empty);
                out.local_get(word).i64_extend_i32_u().return_().end();
            }
            out.local_get(first).local_get(first).f64_ne().if_(BlockType::Empty);
            out.i64_const(NAN.cast_signed()).return_().end();
            out.local_get(bits).i64_const(ADDEND.cast_signed()).i64_sub().return_().end();
            out.local_get(CONTEXT).local_get(LEFT).local_get(RIGHT);
            match local {
                Local::Add => out.call(Helper::Add.index()),
                Local::Subtract => out.i32_const(numbers.sub).call(Helper::Binary.index()),
                Local::Multiply => out.i32_const(numbers.mul).call(Helper::Binary.index()),
                _ => out.i32_const(numbers.div).call(Helper::Binary.index()),
            };
        }
    }
    out.end();
    function
}

/// Opens a block that runs when both values are numbers, with these in two locals.
fn numbers_of(out: &mut InstructionSink<'_>, first: u32, second: u32) {
    for value in [LEFT, RIGHT] {
        out.local_get(value).i64_const(INTEGERS.cast_signed()).i64_lt_u();
        out.local_get(value).i64_const(FIRST_TAG.cast_signed()).i64_add();
        out.i64_const(FLOATS.cast_signed()).i64_ge_u().i32_or();
    }
    out.i32_and().if_(BlockType::Empty);
    for (value, number) in [(LEFT, first), (RIGHT, second)] {
        out.local_get(value).i64_const(INTEGERS.cast_signed()).i64_lt_u().if_(BlockType::Result(ValType::F64));
        out.local_get(value).i32_wrap_i64().f64_convert_i32_s().else_();
        out.local_get(value).i64_const(ADDEND.cast_signed()).i64_add().f64_reinterpret_i64().end();
        out.local_set(number);
    }
}

fn drop_value(out: &mut InstructionSink<'_>, layout: Layout) {
    let (address, count) = (2, 3);
    out.local_get(LEFT).i32_wrap_i64().i32_const(layout.count_before).i32_sub().local_tee(address);
    out.local_get(address).i32_load(at(0, 2)).i32_const(1).i32_sub().local_tee(count).i32_store(at(0, 2));
    out.local_get(count).i32_const(0).i32_le_s().if_(BlockType::Empty);
    out.local_get(CONTEXT).local_get(LEFT).call(Helper::FreeZero.index()).end();
}

fn element(out: &mut InstructionSink<'_>, layout: Layout) {
    let (address, value) = (3, 6);
    out.local_get(LEFT).i64_const(OBJECTS.cast_signed()).i64_ge_u();
    out.local_get(RIGHT).i64_const(INTEGERS.cast_signed()).i64_lt_u().i32_and().if_(BlockType::Empty);
    out.local_get(LEFT).i32_wrap_i64().local_tee(address).i32_load16_u(at(layout.class_id, 1));
    out.i32_const(layout.class_array).i32_eq().if_(BlockType::Empty);
    out.local_get(RIGHT).i32_wrap_i64().local_get(address).i32_load(at(layout.array_count, 2)).i32_lt_u();
    out.if_(BlockType::Empty);
    out.local_get(address).i32_load(at(layout.array_values, 2));
    out.local_get(RIGHT).i32_wrap_i64().i32_const(3).i32_shl().i32_add().i64_load(at(0, 3)).local_tee(value);
    out.i64_const(COUNTED.cast_signed()).i64_ge_u().if_(BlockType::Empty);
    out.local_get(value).i32_wrap_i64().i32_const(layout.count_before).i32_sub().local_tee(address);
    out.local_get(address).i32_load(at(0, 2)).i32_const(1).i32_add().i32_store(at(0, 2)).end();
    out.local_get(value).return_().end().end().end();
    out.local_get(CONTEXT).local_get(LEFT).local_get(RIGHT).call(Helper::GetElement.index());
}

/// Calls a compiled function without the engine.
fn call(out: &mut InstructionSink<'_>, layout: Layout, runtime: u32) {
    let (callee, this, argv, argc, word, end, result, value) = (1, 2, 3, 4, 5, 6, 7, 8);
    out.local_get(callee).i64_const(OBJECTS.cast_signed()).i64_ge_u().if_(BlockType::Empty);
    out.local_get(callee).i32_wrap_i64().local_tee(word).i32_load16_u(at(layout.class_id, 1));
    out.i32_const(layout.class_function).i32_eq();
    let deep = (runtime + layout.deep_stack).cast_signed();
    out.global_get(0).i32_const(deep).i32_load(at(0, 2)).i32_ge_u().i32_and().if_(BlockType::Empty);
    out.local_get(word).i32_load(at(layout.bytecode, 2)).i32_load(at(u64::from(layout.compiled), 2)).local_tee(word);
    out.if_(BlockType::Empty);
    out.local_get(callee).local_get(this).i64_const(crate::emit::UNDEFINED.cast_signed());
    out.local_get(argc)
        .local_get(argv)
        .i32_const(0)
        .local_get(word)
        .call_indirect(1, crate::FUNCTION_TYPE)
        .local_set(result);
    out.local_get(argv).local_get(argc).i32_const(3).i32_shl().i32_add().local_set(end);
    out.block(BlockType::Empty).loop_(BlockType::Empty);
    out.local_get(argv).local_get(end).i32_ge_u().br_if(1);
    out.local_get(argv).i64_load(at(0, 3)).local_tee(value).i64_const(COUNTED.cast_signed()).i64_ge_u();
    out.if_(BlockType::Empty).local_get(CONTEXT).local_get(value).call(Local::Drop.index()).end();
    out.local_get(argv).i32_const(8).i32_add().local_set(argv).br(0).end().end();
    out.local_get(result).return_().end().end().end();
    for each in 0..5 {
        out.local_get(each);
    }
    out.call(Helper::Call.index());
}

const STRINGS: u64 = 0xffff_fff9 << 32;

fn field(out: &mut InstructionSink<'_>, layout: Layout) {
    let (cell, object, shape, holder, value) = (3, 4, 5, 6, 7);
    // An object, or the prototype of strings for a string.
    out.block(BlockType::Empty);
    out.local_get(LEFT).i64_const(OBJECTS.cast_signed()).i64_ge_u().if_(BlockType::Empty);
    out.local_get(LEFT).i32_wrap_i64().local_set(object).else_();
    out.local_get(LEFT).i64_const(STRINGS.cast_signed()).i64_sub().i64_const(2 << 32).i64_ge_u().br_if(1);
    out.local_get(CONTEXT).i32_load(at(layout.class_proto, 2)).i32_load(at(8 * layout.class_string, 2));
    out.local_set(object).end();
    out.local_get(object)
        .i32_load(at(layout.shape, 2))
        .local_tee(shape)
        .local_get(cell)
        .i32_load(at(0, 2))
        .i32_ne()
        .br_if(0);
    out.local_get(cell).i32_load(at(layout.cell_holder, 2)).local_tee(holder).if_(BlockType::Empty);
    out.local_get(holder).i32_load(at(layout.shape, 2)).local_get(cell).i32_load(at(layout.cell_holder_shape, 2));
    out.i32_ne().br_if(1);
    out.local_get(object).i32_load16_u(at(layout.class_id, 1)).local_get(cell).i32_load(at(layout.cell_class, 2));
    out.i32_ne().br_if(1);
    out.local_get(holder).local_set(object).end();
    out.local_get(object).i32_load(at(layout.properties, 2)).local_get(cell).i32_load(at(layout.cell_offset, 2));
    out.i32_add().i64_load(at(0, 3)).local_tee(value);
    out.i64_const(COUNTED.cast_signed()).i64_ge_u().if_(BlockType::Empty);
    out.local_get(value).i32_wrap_i64().i32_const(layout.count_before).i32_sub().local_tee(object);
    out.local_get(object).i32_load(at(0, 2)).i32_const(1).i32_add().i32_store(at(0, 2)).end();
    out.local_get(value).return_().end();
    for each in 0..4 {
        out.local_get(each);
    }
    out.call(Helper::GetFieldCell.index());
}

fn put_field(out: &mut InstructionSink<'_>, layout: Layout) {
    let (new, cell, object, place, old) = (3, 4, 5, 6, 8);
    out.block(BlockType::Empty);
    out.local_get(LEFT).i64_const(OBJECTS.cast_signed()).i64_lt_u().br_if(0);
    out.local_get(LEFT).i32_wrap_i64().local_tee(object).i32_load(at(layout.shape, 2));
    out.local_get(cell).i32_load(at(0, 2)).i32_ne().br_if(0);
    out.local_get(object).i32_load(at(layout.properties, 2)).local_get(cell).i32_load(at(layout.cell_offset, 2));
    out.i32_add().local_tee(place).i64_load(at(0, 3)).local_set(old);
    out.local_get(place).local_get(new).i64_store(at(0, 3));
    out.local_get(old).i64_const(COUNTED.cast_signed()).i64_ge_u().if_(BlockType::Empty);
    out.local_get(CONTEXT).local_get(old).call(Local::Drop.index()).end();
    out.i32_const(0).return_().end();
    for each in 0..5 {
        out.local_get(each);
    }
    out.call(Helper::PutFieldCell.index());
}

/// Checked by the engine and here: an exception has no payload.
const _: () = assert!(EXCEPTION == 6 << 32);
