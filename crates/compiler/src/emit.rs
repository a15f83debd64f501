//! Code of one function.
//!
//! Values of the operand stack are locals of WebAssembly. A value that an argument or a variable holds anyway is not counted again
//! ([`Slot::Held`]). Variables are stored to the frame as well, so that the interpreter can go on at each instruction.

use std::collections::HashMap;

use wasm_encoder::{BlockType, InstructionSink, MemArg, ValType};

use crate::flow::{Exit, Flow, Instruction};
use crate::image::{Cells, Function, Image, Layout};
use crate::runtime::{Helper, Local};

const TAG_BOOL: u64 = 1;
const TAG_UNINITIALIZED: u64 = 4;
const TAG_CATCH: u64 = 5;
const TAG_STRING: u32 = 0xffff_fff9;

pub(crate) const NULL: u64 = 2 << 32;
pub(crate) const UNDEFINED: u64 = 3 << 32;
pub(crate) const EXCEPTION: u64 = 6 << 32;
/// The rest is left to the interpreter.
const CONTINUE: u64 = TAG_CATCH << 32;
/// The least value with a count of references.
pub(crate) const COUNTED: u64 = 0xffff_fff7 << 32;
/// Values below are integers.
pub(crate) const INTEGERS: u64 = 1 << 32;
const ATOM_IS_INTEGER: u32 = 1 << 31;

/// A value of the operand stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// Value in a local, with a count of its own.
    Own(u32),
    /// Value in a local, which needs no count.
    Plain(u32),
    /// Integer of 32 bits.
    Integer(u32),
    /// Boolean, as 0 or 1.
    Boolean(u32),
    /// Constant, and whether it has a count.
    Constant(u64, bool),
    /// Value in a local that something else holds for as long as the call lasts, or until the variable changes.
    Held(u32),
}

/// Values of the stack at a place of the code, and locals that are free there.
#[derive(Debug, Clone, Default)]
struct State {
    stack: Vec<Slot>,
    free: Vec<u32>,
    free_words: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    Loop(usize),
    Block(usize),
    If,
}

/// None for a function that is left to the interpreter.
pub(crate) type Emitted<T> = Option<T>;

/// Parameters that all functions of a module have in common.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) image: Image<'a>,
    pub(crate) layout: Layout,
    pub(crate) numbers: &'a HashMap<&'a str, i32>,
    pub(crate) atoms_at: u32,
    pub(crate) runtime: u32,
}

/// Bytes of a function's frame. The machine's frame is in proportion to it.
pub(crate) fn frame_size(layout: Layout, function: &Function<'_>) -> u32 {
    let values = function.arguments + function.variables + function.stack;
    (layout.call_size + 16 * values + 4 * function.references + 128).next_multiple_of(16)
}

pub(crate) struct Emitter<'a> {
    image: Image<'a>,
    layout: Layout,
    runtime: u32,
    cells: &'a mut Cells,
    size: u32,
    frame: u32,
    function: &'a Function<'a>,
    instructions: &'a [Instruction<'a>],
    flow: &'a Flow,
    numbers: &'a HashMap<&'a str, i32>,
    atoms_at: u32,
    code: Vec<u8>,
    locals: Vec<ValType>,
    canonical: Vec<u32>,
    /// Locals that any instruction may use.
    pool: Vec<u32>,
    pool_words: Vec<u32>,
    arguments: Vec<Option<u32>>,
    variables: Vec<Option<u32>>,
    this: u32,
    frame_arguments: u32,
    frame_variables: u32,
    closure: u32,
    scopes: Vec<Scope>,
    state: State,
    children: Vec<Vec<usize>>,
    /// Offset of the instruction after the present one.
    after: usize,
}

const FUNCTION: u32 = 0;
const THIS: u32 = 1;
const NEW_TARGET: u32 = 2;
const ARGC: u32 = 3;
const ARGV: u32 = 4;
const IS_CONSTRUCTOR: u32 = 5;
const PARAMETERS: usize = 6;

fn at(offset: u64, align: u32) -> MemArg {
    MemArg { offset, align, memory_index: 0 }
}

/// Returns true for an instruction that the interpreter executes, with the rest of the call.
pub(crate) fn is_left(one: &Instruction<'_>) -> bool {
    const KNOWN: &[&str] = &[
        "push_i32",
        "push_bigint_i32",
        "push_const",
        "push_empty_string",
        "push_atom_value",
        "undefined",
        "null",
        "push_this",
        "push_false",
        "push_true",
        "object",
        "rest",
        "drop",
        "nip",
        "nip1",
        "dup",
        "dup1",
        "dup2",
        "dup3",
        "insert2",
        "insert3",
        "insert4",
        "perm3",
        "perm4",
        "perm5",
        "swap",
        "swap2",
        "rot3l",
        "rot3r",
        "rot4l",
        "rot5l",
        "fclosure",
        "call",
        "call_method",
        "call_constructor",
        "tail_call",
        "tail_call_method",
        "array_from",
        "apply",
        "return",
        "return_undef",
        "get_var",
        "get_var_undef",
        "put_var",
        "get_loc",
        "put_loc",
        "set_loc",
        "get_arg",
        "put_arg",
        "set_arg",
        "get_var_ref",
        "put_var_ref",
        "set_var_ref",
        "get_var_ref_check",
        "put_var_ref_check",
        "put_var_ref_check_init",
        "set_loc_uninitialized",
        "get_loc_check",
        "put_loc_check",
        "put_loc_check_init",
        "close_loc",
        "get_loc0_loc1",
        "goto",
        "if_true",
        "if_false",
        "catch",
        "nip_catch",
        "get_field",
        "get_field2",
        "put_field",
        "define_field",
        "get_length",
        "get_array_el",
        "get_array_el2",
        "put_array_el",
        "add",
        "sub",
        "mul",
        "div",
        "mod",
        "pow",
        "shl",
        "sar",
        "shr",
        "and",
        "or",
        "xor",
        "lt",
        "lte",
        "gt",
        "gte",
        "eq",
        "neq",
        "strict_eq",
        "strict_neq",
        "neg",
        "plus",
        "inc",
        "dec",
        "post_inc",
        "post_dec",
        "inc_loc",
        "dec_loc",
        "add_loc",
        "not",
        "lnot",
        "typeof",
        "is_undefined",
        "is_null",
        "is_undefined_or_null",
        "typeof_is_undefined",
        "typeof_is_function",
        "nop",
        "set_name",
        "check_ctor",
    ];
    match one.name {
        "special_object" => !matches!(one.operand, 0 | 2 | 3 | 4 | 6 | 7),
        name => !KNOWN.contains(&name) && steps(name).is_none(),
    }
}

/// For opcodes that `fn_step` executes: the number of values that it reads.
fn steps(name: &str) -> Option<usize> {
    Some(match name {
        "for_in_start" | "get_super" | "to_object" | "to_propkey" | "iterator_get_value_done" => 1,
        "delete" | "in" | "instanceof" | "regexp" | "get_private_field" | "to_propkey2" | "set_name_computed"
        | "define_method" => 2,
        "for_of_start" | "for_in_next" => 1,
        "iterator_close" | "append" | "define_array_el" | "put_private_field" => 3,
        // With the values that its operand names, which are counted from the top.
        "for_of_next" | "copy_data_properties" => 0,
        _ => return None,
    })
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(
        given: Given<'a>,
        function: &'a Function<'a>,
        instructions: &'a [Instruction<'a>],
        flow: &'a Flow,
        cells: &'a mut Cells,
    ) -> Self {
        let Given { image, layout, numbers, atoms_at, runtime } = given;
        let mut children = vec![Vec::new(); flow.blocks.len()];
        for (block, &dominator) in flow.dominators.iter().enumerate().skip(1) {
            if flow.is_merge[block] {
                children[dominator].push(block);
            }
        }
        Self {
            image,
            layout,
            runtime,
            cells,
            size: frame_size(layout, function),
            frame: 0,
            function,
            instructions,
            flow,
            numbers,
            atoms_at,
            code: Vec::new(),
            locals: Vec::new(),
            canonical: Vec::new(),
            pool: Vec::new(),
            pool_words: Vec::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            this: 0,
            frame_arguments: 0,
            frame_variables: 0,
            closure: 0,
            scopes: Vec::new(),
            state: State::default(),
            children,
            after: 0,
        }
    }

    /// Returns the types of the locals and the body.
    pub(crate) fn emit(mut self) -> Emitted<(Vec<ValType>, Vec<u8>)> {
        self.prologue();
        self.tree(0)?;
        self.out().unreachable().end();
        Some((self.locals, self.code))
    }

    fn out(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.code)
    }

    fn local(&mut self, kind: ValType) -> u32 {
        self.locals.push(kind);
        u32::try_from(PARAMETERS + self.locals.len() - 1).unwrap_or(u32::MAX)
    }

    fn wide(&mut self) -> u32 {
        self.state.free.pop().unwrap_or_else(|| {
            let made = self.local(ValType::I64);
            self.pool.push(made);
            made
        })
    }

    fn word(&mut self) -> u32 {
        self.state.free_words.pop().unwrap_or_else(|| {
            let made = self.local(ValType::I32);
            self.pool_words.push(made);
            made
        })
    }

    fn canonical(&mut self, index: usize) -> u32 {
        while self.canonical.len() <= index {
            let made = self.local(ValType::I64);
            self.canonical.push(made);
        }
        self.canonical[index]
    }

    fn release(&mut self, slot: Slot) {
        match slot {
            Slot::Own(local) | Slot::Plain(local) if self.pool.contains(&local) => self.state.free.push(local),
            Slot::Integer(local) | Slot::Boolean(local) => self.state.free_words.push(local),
            _ => {}
        }
    }

    fn helper(&mut self, helper: Helper) {
        self.out().call(helper.index());
    }

    fn own_function(&mut self, local: Local) {
        self.out().call(local.index());
    }

    fn context(&mut self) {
        let realm = self.function.realm.cast_signed();
        self.out().i32_const(realm);
    }

    fn prologue(&mut self) {
        let layout = self.layout;
        self.this = THIS;
        self.frame = self.local(ValType::I32);
        self.frame_variables = self.local(ValType::I32);
        self.frame_arguments = self.local(ValType::I32);
        self.closure = self.local(ValType::I32);
        let (frame, variables, arguments, closure) =
            (self.frame, self.frame_variables, self.frame_arguments, self.closure);
        let function = self.function;
        let (argument_count, references) = (function.arguments, function.references);
        let counter = (function.realm + layout.interrupt_counter).cast_signed();
        let current = (self.runtime + layout.current_frame).cast_signed();
        let size = self.size.cast_signed();
        let call_size = layout.call_size.cast_signed();
        let values = argument_count + function.variables + function.stack;
        let uses_closure = self.instructions.iter().any(|one| one.name.contains("var_ref"));
        let mut out = InstructionSink::new(&mut self.code);
        out.i32_const(counter).i32_const(counter).i32_load(at(0, 2)).i32_const(1).i32_sub().local_tee(closure);
        out.i32_store(at(0, 2)).local_get(closure).i32_const(0).i32_le_s().if_(BlockType::Empty);
        out.i32_const(function.realm.cast_signed()).call(Helper::Poll.index()).if_(BlockType::Empty);
        out.i64_const(EXCEPTION.cast_signed()).return_().end().end();
        out.global_get(0).i32_const(size).i32_sub().local_tee(frame).global_set(0);
        out.local_get(frame).i32_const(current).i32_load(at(0, 2)).i32_store(at(layout.prev_frame, 2));
        out.i32_const(current).local_get(frame).i32_store(at(0, 2));
        out.local_get(frame).local_get(FUNCTION).i64_store(at(layout.cur_func, 3));
        out.local_get(frame).local_get(ARGV).i32_store(at(layout.arg_buf, 2)).local_get(ARGV).local_set(arguments);
        out.local_get(frame).i32_const(call_size + 8 * argument_count.cast_signed()).i32_add().local_set(variables);
        out.local_get(frame).local_get(variables).i32_store(at(layout.var_buf, 2));
        out.local_get(frame).i32_const(function.code_at.cast_signed()).i32_store(at(layout.cur_pc, 2));
        let refs_at = layout.call_size + 8 * values;
        out.local_get(frame)
            .local_get(frame)
            .i32_const(refs_at.cast_signed())
            .i32_add()
            .i32_store(at(layout.frame_refs, 2));
        out.local_get(frame).i32_const(references.cast_signed()).i32_store16(at(layout.var_ref_count, 1));
        out.local_get(frame).local_get(ARGC).i32_store16(at(layout.arg_count, 1));
        out.local_get(frame).i32_const(i32::from(function.is_strict)).local_get(IS_CONSTRUCTOR).i32_const(8).i32_shl();
        out.i32_or().i32_store(at(layout.is_strict, 0));
        // The top of the stack and the owner of a coroutine.
        out.local_get(frame).i64_const(0).i64_store(at(layout.cur_sp, 2));
        for index in 0..references {
            out.local_get(frame).i32_const(0).i32_store(at(u64::from(refs_at + 4 * index), 2));
        }
        for index in 0..function.variables {
            out.local_get(variables).i64_const(UNDEFINED.cast_signed()).i64_store(at(8 * u64::from(index), 3));
        }
        if argument_count > 0 {
            out.local_get(ARGC).i32_const(argument_count.cast_signed()).i32_lt_s().if_(BlockType::Empty);
            out.local_get(frame).local_get(frame).i32_const(call_size).i32_add().local_tee(arguments);
            out.local_get(ARGC).local_get(ARGV).i32_const(argument_count.cast_signed()).call(Helper::Pad.index()).end();
        }
        out.local_get(frame).local_get(THIS).i64_store(at(layout.this_obj, 3));
        out.local_get(frame).local_get(NEW_TARGET).i64_store(at(layout.new_target, 3));
        out.local_get(frame).local_get(ARGC).i32_store(at(layout.argc, 2));
        out.local_get(frame).local_get(ARGV).i32_store(at(layout.argv, 2));
        if uses_closure {
            out.local_get(FUNCTION).i32_wrap_i64().i32_load(at(layout.closure_refs, 2)).local_set(closure);
        }
        for index in 0..self.function.arguments {
            let is_used = self.instructions.iter().any(|one| one.name.ends_with("_arg") && one.operand == index);
            let is_captured = self.function.captured[index as usize] != 0;
            let made = (!is_captured).then(|| self.local(ValType::I64));
            if let Some(local) = made
                && is_used
            {
                self.out().local_get(arguments).i64_load(at(8 * u64::from(index), 3)).local_set(local);
            }
            self.arguments.push(made);
        }
        for index in 0..self.function.variables {
            let is_captured = self.function.captured[(self.function.arguments + index) as usize] != 0;
            let made = (!is_captured).then(|| self.local(ValType::I64));
            if let Some(local) = made {
                self.out().i64_const(UNDEFINED.cast_signed()).local_set(local);
            }
            self.variables.push(made);
        }
    }

    // Control flow, after "Beyond Relooper" (Ramsey 2022).

    fn tree(&mut self, block: usize) -> Emitted<()> {
        if self.flow.is_loop[block] {
            self.scopes.push(Scope::Loop(block));
            self.out().loop_(BlockType::Empty);
            let merges = self.children[block].clone();
            self.within(block, &merges)?;
            self.out().end();
            self.scopes.pop();
            return Some(());
        }
        let merges = self.children[block].clone();
        self.within(block, &merges)
    }

    fn within(&mut self, block: usize, merges: &[usize]) -> Emitted<()> {
        let Some((&last, rest)) = merges.split_last() else {
            return self.block(block);
        };
        self.scopes.push(Scope::Block(last));
        self.out().block(BlockType::Empty);
        self.within(block, rest)?;
        self.out().end();
        self.scopes.pop();
        self.begin(last);
        self.tree(last)
    }

    /// The state at the beginning of a block that several others go on with.
    fn begin(&mut self, block: usize) {
        let depth = self.flow.blocks[block].catches.len();
        let stack = (0..depth).map(|index| Slot::Own(self.canonical(index))).collect();
        self.state = State { stack, free: self.pool.clone(), free_words: self.pool_words.clone() };
    }

    fn branch(&mut self, from: usize, to: usize) -> Emitted<()> {
        let is_back = to <= from;
        if is_back {
            self.settle();
            self.poll(to)?;
        } else if self.flow.is_merge[to] || self.flow.is_loop[to] {
            self.settle();
            if !self.flow.is_merge[to] {
                self.begin(to);
                return self.tree(to);
            }
        } else {
            return self.tree(to);
        }
        let wanted = if is_back { Scope::Loop(to) } else { Scope::Block(to) };
        let depth = self.scopes.iter().rev().position(|scope| *scope == wanted)?;
        self.out().br(u32::try_from(depth).ok()?);
        Some(())
    }

    fn block(&mut self, block: usize) -> Emitted<()> {
        let (from, to, exit) = {
            let it = &self.flow.blocks[block];
            (it.from, it.to, it.exit)
        };
        let instructions = self.instructions;
        let mut skipped = 0;
        for (index, one) in (from..to).zip(&instructions[from..to]) {
            if skipped > 0 {
                skipped -= 1;
                continue;
            }
            self.after = one.end;
            if self.typeof_comparison(&instructions[index..to])? {
                skipped = 2;
                continue;
            }
            if matches!(one.name, "goto" | "if_true" | "if_false") {
                break;
            }
            if is_left(one) {
                self.leave(one.at, CONTINUE);
                return Some(());
            }
            self.instruction(one)?;
        }
        match exit {
            Exit::Leaves => Some(()),
            Exit::Goes(next) => self.branch(block, next),
            Exit::Branches(yes, no) => {
                let condition = self.pop()?;
                self.truth(condition);
                let state = self.state.clone();
                self.scopes.push(Scope::If);
                self.out().if_(BlockType::Empty);
                self.branch(block, yes)?;
                self.out().else_();
                self.state = state;
                self.branch(block, no)?;
                self.out().end().unreachable();
                self.scopes.pop();
                Some(())
            }
        }
    }

    /// Compares `typeof` with a constant, without a string. Returns whether the three instructions are that.
    fn typeof_comparison(&mut self, code: &[Instruction<'a>]) -> Emitted<bool> {
        let [first, second, third, ..] = code else { return Some(false) };
        let is_negated = matches!(third.name, "strict_neq" | "neq");
        let is_comparison = is_negated || matches!(third.name, "strict_eq" | "eq");
        if first.name != "typeof" || second.name != "push_atom_value" || !is_comparison {
            return Some(false);
        }
        let slot = self.pop()?;
        self.context();
        self.raw(slot);
        self.helper(Helper::TypeofAtom);
        self.out().i32_const(second.operand.cast_signed());
        if is_negated {
            self.out().i32_ne();
        } else {
            self.out().i32_eq();
        }
        let result = self.word();
        self.out().local_set(result);
        self.discard(slot);
        self.push(Slot::Boolean(result));
        Some(true)
    }

    /// Moves the stack into the locals that all blocks agree on.
    fn settle(&mut self) {
        let stack = self.state.stack.clone();
        for (index, &slot) in stack.iter().enumerate() {
            if slot != Slot::Own(self.canonical(index)) {
                self.push_own(slot);
            }
        }
        for (index, &slot) in stack.iter().enumerate().rev() {
            let local = self.canonical(index);
            if slot != Slot::Own(local) {
                self.out().local_set(local);
            }
            self.release(slot);
            self.state.stack[index] = Slot::Own(local);
        }
    }

    /// Counts a step, as the interpreter does.
    fn poll(&mut self, to: usize) -> Emitted<()> {
        let counter = (self.function.realm + self.layout.interrupt_counter).cast_signed();
        let target = self.instructions[self.flow.blocks[to].from].at;
        let count = self.word();
        let mut out = self.out();
        out.i32_const(counter).i32_const(counter).i32_load(at(0, 2)).i32_const(1).i32_sub().local_tee(count);
        out.i32_store(at(0, 2)).local_get(count).i32_const(0).i32_le_s().if_(BlockType::Empty);
        self.program_counter(target);
        self.context();
        self.helper(Helper::Poll);
        self.out().if_(BlockType::Empty);
        self.leave(target, EXCEPTION);
        self.out().end().end();
        self.state.free_words.push(count);
        Some(())
    }

    // Leaving.

    fn program_counter(&mut self, offset: usize) {
        let address = self.function.code_at.cast_signed() + i32::try_from(offset).unwrap_or(0);
        let (place, frame) = (at(self.layout.cur_pc, 2), self.frame);
        self.out().local_get(frame).i32_const(address).i32_store(place);
    }

    fn place(&self, index: usize) -> MemArg {
        at(8 * (u64::from(self.function.variables) + index as u64), 3)
    }

    /// Stores values of the stack to the frame, without a change of the state.
    fn store(&mut self, from: usize, to: usize) {
        let variables = self.frame_variables;
        for index in from..to {
            self.out().local_get(variables);
            self.push_own(self.state.stack[index]);
            let place = self.place(index);
            self.out().i64_store(place);
        }
    }

    fn leave(&mut self, offset: usize, how: u64) {
        let depth = self.state.stack.len();
        self.store(0, depth);
        self.leave_stored(offset, how, depth);
    }

    fn leave_stored(&mut self, offset: usize, how: u64, depth: usize) {
        self.leave_at(offset, how, depth, None);
    }

    /// Leaves with a top of the stack; the local has -1 minus a number of values that are gone.
    fn leave_at(&mut self, offset: usize, how: u64, depth: usize, gone: Option<u32>) {
        let address = self.function.code_at.cast_signed() + i32::try_from(offset).unwrap_or(0);
        let base = self.layout.call_size + 8 * self.function.arguments;
        let distance = base.cast_signed() + i32::try_from(self.place(depth).offset).unwrap_or(0);
        let (frame, size) = (self.frame, self.size.cast_signed());
        let mut out = self.out();
        out.local_get(frame).i32_const(address);
        if let Some(gone) = gone {
            out.i32_const(distance + 8).local_get(gone).i32_const(3).i32_shl().i32_add();
        } else {
            out.i32_const(distance);
        }
        out.i32_const(size | i32::from(how == EXCEPTION));
        self.own_function(Local::Leave);
        self.out().return_();
    }

    /// Leaves when the value in the local is an exception.
    fn check(&mut self, local: u32) {
        self.out().local_get(local).i64_const(EXCEPTION.cast_signed()).i64_eq().if_(BlockType::Empty);
        self.leave(self.after, EXCEPTION);
        self.out().end();
    }

    // Values.

    fn pop(&mut self) -> Emitted<Slot> {
        self.state.stack.pop()
    }

    fn push(&mut self, slot: Slot) {
        self.state.stack.push(slot);
    }

    /// Pushes the value to the operands of WebAssembly.
    fn raw(&mut self, slot: Slot) {
        let mut out = self.out();
        match slot {
            Slot::Own(local) | Slot::Plain(local) | Slot::Held(local) => out.local_get(local),
            Slot::Integer(local) => out.local_get(local).i64_extend_i32_u(),
            Slot::Boolean(local) => {
                out.local_get(local).i64_extend_i32_u().i64_const((TAG_BOOL << 32).cast_signed()).i64_or()
            }
            Slot::Constant(value, _) => out.i64_const(value.cast_signed()),
        };
    }

    /// Pushes the value with a count of its own.
    fn push_own(&mut self, slot: Slot) {
        match slot {
            Slot::Held(local) => self.count(local),
            Slot::Constant(value, true) => {
                let counter =
                    (u32::try_from(value & 0xffff_ffff).unwrap_or(0)).cast_signed() - self.layout.count_before;
                let mut out = self.out();
                out.i32_const(counter).i32_const(counter).i32_load(at(0, 2)).i32_const(1).i32_add().i32_store(at(0, 2));
            }
            _ => {}
        }
        self.raw(slot);
    }

    /// Counts a reference to the value in the local.
    fn count(&mut self, local: u32) {
        self.out().local_get(local).i64_const(COUNTED.cast_signed()).i64_ge_u().if_(BlockType::Empty).local_get(local);
        self.own_function(Local::Count);
        self.out().end();
    }

    /// Ends the count of the value in the local.
    fn drop_local(&mut self, local: u32) {
        self.out().local_get(local).i64_const(COUNTED.cast_signed()).i64_ge_u().if_(BlockType::Empty);
        self.context();
        self.out().local_get(local);
        self.own_function(Local::Drop);
        self.out().end();
    }

    /// Ends the use of a value.
    fn discard(&mut self, slot: Slot) {
        if let Slot::Own(local) = slot {
            self.drop_local(local);
        }
        self.release(slot);
    }

    /// Makes a value of the stack independent of everything else.
    fn own(&mut self, slot: Slot) -> Slot {
        match slot {
            Slot::Own(_) | Slot::Plain(_) | Slot::Integer(_) | Slot::Boolean(_) | Slot::Constant(_, false) => slot,
            Slot::Constant(..) | Slot::Held(_) => {
                self.push_own(slot);
                let local = self.wide();
                self.out().local_set(local);
                Slot::Own(local)
            }
        }
    }

    fn copy(&mut self, slot: Slot) -> Slot {
        match slot {
            Slot::Constant(..) | Slot::Held(_) => slot,
            Slot::Own(local) => {
                self.count(local);
                let made = self.wide();
                self.out().local_get(local).local_set(made);
                Slot::Own(made)
            }
            Slot::Plain(local) => {
                let made = self.wide();
                self.out().local_get(local).local_set(made);
                Slot::Plain(made)
            }
            Slot::Integer(local) | Slot::Boolean(local) => {
                let made = self.word();
                self.out().local_get(local).local_set(made);
                if matches!(slot, Slot::Integer(_)) { Slot::Integer(made) } else { Slot::Boolean(made) }
            }
        }
    }

    fn push_boolean(&mut self) {
        let local = self.word();
        self.out().local_set(local);
        self.push(Slot::Boolean(local));
    }

    /// Consumes a value and pushes its truth to the operands of WebAssembly.
    fn truth(&mut self, slot: Slot) {
        match slot {
            Slot::Boolean(local) | Slot::Integer(local) => {
                self.out().local_get(local);
            }
            _ => {
                self.raw(slot);
                let value = self.wide();
                let simple = (4u64 << 32).cast_signed();
                let mut out = self.out();
                out.local_tee(value).i64_const(simple).i64_lt_u().if_(BlockType::Result(ValType::I32));
                out.local_get(value).i32_wrap_i64().else_();
                self.context();
                if matches!(slot, Slot::Held(_) | Slot::Constant(_, true)) {
                    self.push_own(slot);
                } else {
                    self.out().local_get(value);
                }
                self.helper(Helper::ToBool);
                self.out().end();
                self.state.free.push(value);
            }
        }
        self.release(slot);
    }

    fn instruction(&mut self, one: &Instruction<'a>) -> Emitted<()> {
        if let Some(reads) = steps(one.name) {
            return self.step(one, reads);
        }
        let operand = one.operand;
        let depth = self.state.stack.len();
        match one.name {
            "nop" => {}
            "push_i32" => self.push(Slot::Constant(u64::from(operand), false)),
            "push_bigint_i32" => self.push(Slot::Constant(7 << 32 | u64::from(operand), false)),
            "undefined" => self.push(Slot::Constant(UNDEFINED, false)),
            "null" => self.push(Slot::Constant(NULL, false)),
            "push_true" => self.push(Slot::Constant(TAG_BOOL << 32 | 1, false)),
            "push_false" => self.push(Slot::Constant(TAG_BOOL << 32, false)),
            "catch" => {
                let place = u64::try_from(one.target).ok()?;
                self.push(Slot::Constant(TAG_CATCH << 32 | place, false));
            }
            "push_const" => {
                let value = self.constant(operand)?;
                self.push(Slot::Constant(value, value >= COUNTED));
            }
            "push_atom_value" => {
                let value = self.atom_text(operand)?;
                self.push(Slot::Constant(value, true));
            }
            "push_empty_string" => {
                let value = self.atom_text(self.empty_string()?)?;
                self.push(Slot::Constant(value, true));
            }
            "push_this" if self.function.is_strict => self.push(Slot::Held(self.this)),
            "push_this" => return None,
            "object" => {
                self.context();
                self.helper(Helper::Object);
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                self.push(Slot::Own(made));
            }
            "fclosure" => {
                let value = self.constant(operand)?;
                self.context();
                let frame = self.frame;
                self.out().local_get(frame).i64_const(value.cast_signed());
                self.helper(Helper::Closure);
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                self.push(Slot::Own(made));
            }
            "special_object" | "rest" => {
                self.context();
                let frame = self.frame;
                self.out().local_get(frame).i32_const(operand.cast_signed());
                self.helper(if one.name == "rest" { Helper::Rest } else { Helper::Special });
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                self.push(Slot::Own(made));
            }
            "check_ctor" => {
                let mut out = self.out();
                out.local_get(NEW_TARGET).i64_const(UNDEFINED.cast_signed()).i64_eq().if_(BlockType::Empty);
                self.leave(one.at, CONTINUE);
                self.out().end();
            }
            "drop" => {
                let slot = self.pop()?;
                self.discard(slot);
            }
            "nip" => self.remove(2)?,
            "nip1" => self.remove(3)?,
            "nip_catch" => {
                let result = self.pop()?;
                let kinds = self.kinds_before(one)?;
                let to = kinds[..depth - 1].iter().rposition(|&is_catch| is_catch)?;
                while self.state.stack.len() > to {
                    let slot = self.pop()?;
                    self.discard(slot);
                }
                self.push(result);
            }
            "dup" => self.copies(&[0])?,
            "dup2" => self.copies(&[1, 1])?,
            "dup3" => self.copies(&[2, 2, 2])?,
            "dup1" => {
                self.copies(&[1])?;
                self.state.stack.swap(depth, depth - 1);
            }
            "insert2" => self.insert(2)?,
            "insert3" => self.insert(3)?,
            "insert4" => self.insert(4)?,
            "perm3" => self.state.stack.swap(depth.checked_sub(2)?, depth.checked_sub(3)?),
            "perm4" => self.state.stack[depth.checked_sub(4)?..depth - 1].rotate_right(1),
            "perm5" => self.state.stack[depth.checked_sub(5)?..depth - 1].rotate_right(1),
            "swap" => self.state.stack.swap(depth.checked_sub(1)?, depth.checked_sub(2)?),
            "swap2" => self.state.stack[depth.checked_sub(4)?..].rotate_left(2),
            "rot3l" => self.state.stack[depth.checked_sub(3)?..].rotate_left(1),
            "rot4l" => self.state.stack[depth.checked_sub(4)?..].rotate_left(1),
            "rot5l" => self.state.stack[depth.checked_sub(5)?..].rotate_left(1),
            "rot3r" => self.state.stack[depth.checked_sub(3)?..].rotate_right(1),
            "call" => self.call(operand as usize, false)?,
            "call_method" => self.call(operand as usize, true)?,
            "call_constructor" => self.construct(operand as usize)?,
            "tail_call" | "tail_call_method" => {
                self.call(operand as usize, one.name == "tail_call_method")?;
                self.return_top()?;
            }
            "array_from" => {
                let from = depth.checked_sub(operand as usize)?;
                self.store(from, depth);
                for _ in from..depth {
                    let slot = self.pop()?;
                    self.release(slot);
                }
                self.context();
                self.stack_address(from);
                self.out().i32_const(operand.cast_signed());
                self.helper(Helper::ArrayFrom);
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                self.push(Slot::Own(made));
            }
            "apply" => self.step(one, 3)?,
            "set_name" => self.step(one, 1)?,
            "return" => self.return_top()?,
            "return_undef" => {
                self.push(Slot::Constant(UNDEFINED, false));
                self.return_top()?;
            }
            "get_var" | "get_var_undef" => {
                self.program_counter(self.after);
                self.context();
                self.out().i32_const(operand.cast_signed()).i32_const(i32::from(one.name == "get_var"));
                self.helper(Helper::GetVar);
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                self.push(Slot::Own(made));
            }
            "put_var" => {
                self.program_counter(self.after);
                let value = self.pop()?;
                self.context();
                self.out().i32_const(operand.cast_signed());
                self.push_own(value);
                self.release(value);
                self.out().i32_const(0);
                self.helper(Helper::PutVar);
                self.failed();
            }
            _ => return self.more(one),
        }
        Some(())
    }

    /// Instructions on variables, properties and numbers.
    fn more(&mut self, one: &Instruction<'a>) -> Emitted<()> {
        let operand = one.operand;
        match one.name {
            "get_loc0_loc1" => {
                self.get_variable(0)?;
                self.get_variable(1)?;
            }
            "get_loc" => self.get_variable(operand)?,
            "get_loc_check" => {
                self.guard_variable(operand, true, one.at)?;
                self.get_variable(operand)?;
            }
            "put_loc" => self.put_variable(operand, false)?,
            "set_loc" => self.put_variable(operand, true)?,
            "put_loc_check" => {
                self.guard_variable(operand, true, one.at)?;
                self.put_variable(operand, false)?;
            }
            "put_loc_check_init" => {
                self.guard_variable(operand, false, one.at)?;
                self.put_variable(operand, false)?;
            }
            "set_loc_uninitialized" => {
                self.push(Slot::Constant(TAG_UNINITIALIZED << 32, false));
                self.put_variable(operand, false)?;
            }
            "close_loc" => {
                self.context();
                let frame = self.frame;
                self.out().local_get(frame).i32_const(operand.cast_signed());
                self.helper(Helper::CloseLoc);
            }
            "get_arg" => self.get_argument(operand)?,
            "put_arg" => self.put_argument(operand, false)?,
            "set_arg" => self.put_argument(operand, true)?,
            "get_var_ref" | "get_var_ref_check" => self.get_closure(operand, one)?,
            "put_var_ref" | "set_var_ref" | "put_var_ref_check" | "put_var_ref_check_init" => {
                self.put_closure(operand, one)?;
            }
            "get_field" | "get_field2" | "get_length" => {
                let object = *self.state.stack.last()?;
                self.program_counter(self.after);
                self.context();
                self.raw(object);
                if one.name == "get_length" {
                    self.own_function(Local::Length);
                } else {
                    self.out().i32_const(operand.cast_signed());
                    match self.cell(operand) {
                        Some(cell) => {
                            self.out().i32_const(cell);
                            self.own_function(Local::Field);
                        }
                        None => self.helper(Helper::GetField),
                    }
                }
                let made = self.wide();
                self.out().local_set(made);
                self.check(made);
                if one.name != "get_field2" {
                    let object = self.pop()?;
                    self.discard(object);
                }
                self.push(Slot::Own(made));
            }
            "put_field" => {
                let value = self.pop()?;
                let object = self.pop()?;
                self.program_counter(self.after);
                self.context();
                self.raw(object);
                self.out().i32_const(operand.cast_signed());
                self.push_own(value);
                self.release(value);
                match self.cell(operand) {
                    Some(cell) => {
                        self.out().i32_const(cell);
                        self.own_function(Local::PutField);
                    }
                    None => self.helper(Helper::PutField),
                }
                let failed = self.word();
                self.out().local_set(failed);
                self.discard(object);
                self.out().local_get(failed);
                self.state.free_words.push(failed);
                self.failed();
            }
            "define_field" => {
                let value = self.pop()?;
                let object = *self.state.stack.last()?;
                self.context();
                self.raw(object);
                self.out().i32_const(operand.cast_signed());
                self.push_own(value);
                self.release(value);
                self.helper(Helper::DefineField);
                self.failed();
            }
            "get_array_el" | "get_array_el2" => {
                let depth = self.state.stack.len();
                let (object, index) = (self.state.stack[depth.checked_sub(2)?], self.state.stack[depth - 1]);
                self.program_counter(self.after);
                self.context();
                self.raw(object);
                self.raw(index);
                self.own_function(Local::Element);
                let made = self.wide();
                self.out().local_set(made);
                // The interpreter has freed the index when it comes to the exception.
                let index = self.pop()?;
                self.discard(index);
                if one.name == "get_array_el" {
                    self.push(Slot::Constant(UNDEFINED, false));
                    self.check(made);
                    self.pop()?;
                    let object = self.pop()?;
                    self.discard(object);
                } else {
                    self.push(Slot::Constant(UNDEFINED, false));
                    self.check(made);
                    self.pop()?;
                }
                self.push(Slot::Own(made));
            }
            "put_array_el" => {
                let value = self.pop()?;
                let index = self.pop()?;
                let object = self.pop()?;
                self.program_counter(self.after);
                self.context();
                self.raw(object);
                self.push_own(index);
                self.push_own(value);
                self.release(value);
                self.release(index);
                self.helper(Helper::PutElement);
                let failed = self.word();
                self.out().local_set(failed);
                self.discard(object);
                self.out().local_get(failed);
                self.state.free_words.push(failed);
                self.failed();
            }
            "add" | "sub" | "mul" | "div" | "mod" | "pow" | "shl" | "sar" | "shr" | "and" | "or" | "xor" => {
                self.arithmetic(one.name)?;
            }
            "lt" | "lte" | "gt" | "gte" | "eq" | "neq" => self.compare(one.name)?,
            "strict_eq" | "strict_neq" => self.strictly_equal(one.name == "strict_neq")?,
            "neg" | "plus" | "inc" | "dec" | "not" => self.unary(one.name)?,
            "post_inc" | "post_dec" => self.after_step(one.name)?,
            "inc_loc" | "dec_loc" => self.step_variable(operand, one.name)?,
            "add_loc" => self.add_variable(operand)?,
            "lnot" => {
                let slot = self.pop()?;
                self.truth(slot);
                self.out().i32_eqz();
                self.push_boolean();
            }
            "is_undefined" | "is_null" => {
                let slot = self.pop()?;
                self.raw(slot);
                let wanted = if one.name == "is_null" { NULL } else { UNDEFINED };
                self.out().i64_const(wanted.cast_signed()).i64_eq();
                let result = self.word();
                self.out().local_set(result);
                self.discard(slot);
                self.push(Slot::Boolean(result));
            }
            "is_undefined_or_null" => {
                let slot = self.pop()?;
                self.raw(slot);
                // Null and undefined have neighbouring tags, and no payload.
                let mut out = self.out();
                out.i64_const(32).i64_shr_u().i64_const(2).i64_sub().i64_const(2).i64_lt_u();
                let result = self.word();
                self.out().local_set(result);
                self.discard(slot);
                self.push(Slot::Boolean(result));
            }
            "typeof_is_undefined" | "typeof_is_function" => {
                let slot = self.pop()?;
                self.context();
                self.raw(slot);
                self.out().i32_const(i32::from(one.name == "typeof_is_function"));
                self.helper(Helper::TypeofIs);
                let result = self.word();
                self.out().local_set(result);
                self.discard(slot);
                self.push(Slot::Boolean(result));
            }
            "typeof" => {
                let slot = self.pop()?;
                self.context();
                self.raw(slot);
                self.helper(Helper::Typeof);
                let made = self.wide();
                self.out().local_set(made);
                self.discard(slot);
                self.push(Slot::Own(made));
            }
            _ => return None,
        }
        Some(())
    }

    /// Address of a cell for a property, while there are any.
    fn cell(&mut self, atom: u32) -> Option<i32> {
        if atom == self.layout.atom_length || atom & ATOM_IS_INTEGER != 0 || self.cells.left == 0 {
            return None;
        }
        let at = self.cells.at;
        self.cells.at += self.layout.cell_size;
        self.cells.left -= 1;
        Some(at.cast_signed())
    }

    fn kinds_before(&self, one: &Instruction<'_>) -> Emitted<Vec<bool>> {
        // Places of handlers are constants until blocks meet, where they are what the flow says.
        let block =
            self.flow.blocks.iter().find(|block| {
                self.instructions[block.from].at <= one.at && one.at < self.instructions[block.to - 1].end
            })?;
        crate::flow::kinds(&self.instructions[block.from..block.to], &block.catches, one.at)
    }

    // Constants.

    fn constant(&self, index: u32) -> Emitted<u64> {
        if index >= self.function.pool_length {
            return None;
        }
        self.image.u64(self.function.pool_at + 8 * index).ok()
    }

    fn empty_string(&self) -> Emitted<u32> {
        self.numbers.get("atom:empty").map(|&atom| atom.cast_unsigned())
    }

    /// The string of an atom that is neither a number nor a symbol.
    fn atom_text(&self, atom: u32) -> Emitted<u64> {
        if atom & ATOM_IS_INTEGER != 0 {
            return None;
        }
        let address = self.image.u32(self.atoms_at + 4 * atom).ok()?;
        // JSString.atom_type, the upper two bits of its second word, is 1 for strings.
        (self.image.u32(address + 4).ok()? >> 30 == 1).then_some(u64::from(TAG_STRING) << 32 | u64::from(address))
    }

    // The stack.

    fn remove(&mut self, from_top: usize) -> Emitted<()> {
        let index = self.state.stack.len().checked_sub(from_top)?;
        let slot = self.state.stack.remove(index);
        self.discard(slot);
        Some(())
    }

    /// Pushes copies of values, each by its distance from the top at that time.
    fn copies(&mut self, distances: &[usize]) -> Emitted<()> {
        for distance in distances {
            let index = self.state.stack.len().checked_sub(1 + distance)?;
            let slot = self.copy(self.state.stack[index]);
            self.push(slot);
        }
        Some(())
    }

    fn insert(&mut self, below: usize) -> Emitted<()> {
        let slot = self.copy(*self.state.stack.last()?);
        let index = self.state.stack.len().checked_sub(below)?;
        self.state.stack.insert(index, slot);
        Some(())
    }

    fn stack_address(&mut self, index: usize) {
        let variables = self.frame_variables;
        let distance = i32::try_from(self.place(index).offset).unwrap_or(0);
        self.out().local_get(variables).i32_const(distance).i32_add();
    }

    /// Leaves after a helper that returned a negative number.
    fn failed(&mut self) {
        self.out().i32_const(0).i32_lt_s().if_(BlockType::Empty);
        self.leave(self.after, EXCEPTION);
        self.out().end();
    }

    fn return_top(&mut self) -> Emitted<()> {
        let value = self.pop()?;
        let value = self.own(value);
        while let Some(slot) = self.state.stack.pop() {
            self.discard(slot);
        }
        self.epilogue();
        self.raw(value);
        self.out().return_();
        self.release(value);
        Some(())
    }

    /// Ends the frame.
    fn epilogue(&mut self) {
        let (frame, size) = (self.frame, self.size.cast_signed());
        if self.function.references > 0 {
            self.context();
            self.out().local_get(frame);
            self.helper(Helper::CloseRefs);
        }
        for index in 0..self.variables.len() {
            self.end_variable(self.variables[index], self.frame_variables, index);
        }
        if !self.arguments.is_empty() {
            // Arguments belong to the caller unless they were copied.
            let arguments = self.frame_arguments;
            self.out().local_get(arguments).local_get(ARGV).i32_ne().if_(BlockType::Empty);
            for index in 0..self.arguments.len() {
                self.end_variable(None, arguments, index);
            }
            self.out().end();
        }
        let current = (self.runtime + self.layout.current_frame).cast_signed();
        let place = at(self.layout.prev_frame, 2);
        let mut out = self.out();
        out.i32_const(current).local_get(frame).i32_load(place).i32_store(at(0, 2));
        out.local_get(frame).i32_const(size).i32_add().global_set(0);
    }

    fn end_variable(&mut self, local: Option<u32>, base: u32, index: usize) {
        if let Some(local) = local {
            self.drop_local(local);
        } else {
            let value = self.wide();
            self.out().local_get(base).i64_load(at(8 * index as u64, 3)).local_set(value);
            self.drop_local(value);
            self.state.free.push(value);
        }
    }

    fn call(&mut self, count: usize, is_method: bool) -> Emitted<()> {
        let depth = self.state.stack.len();
        let from = depth.checked_sub(count)?;
        self.store(from, depth);
        for _ in 0..count {
            let slot = self.pop()?;
            self.release(slot);
        }
        let callee = *self.state.stack.last()?;
        let this = if is_method { self.state.stack[from.checked_sub(2)?] } else { Slot::Constant(UNDEFINED, false) };
        self.program_counter(self.after);
        self.context();
        self.raw(callee);
        self.raw(this);
        self.stack_address(from);
        self.out().i32_const(i32::try_from(count).ok()?);
        self.own_function(Local::Call);
        let made = self.wide();
        self.out().local_set(made);
        self.check(made);
        let callee = self.pop()?;
        self.discard(callee);
        if is_method {
            let this = self.pop()?;
            self.discard(this);
        }
        self.push(Slot::Own(made));
        Some(())
    }

    fn construct(&mut self, count: usize) -> Emitted<()> {
        let depth = self.state.stack.len();
        let from = depth.checked_sub(count)?;
        self.store(from, depth);
        for _ in 0..count {
            let slot = self.pop()?;
            self.release(slot);
        }
        let (callee, target) = (self.state.stack[from.checked_sub(2)?], self.state.stack[from - 1]);
        self.program_counter(self.after);
        self.context();
        self.raw(callee);
        self.raw(target);
        self.stack_address(from);
        self.out().i32_const(i32::try_from(count).ok()?);
        self.helper(Helper::Construct);
        let made = self.wide();
        self.out().local_set(made);
        self.check(made);
        for _ in 0..2 {
            let slot = self.pop()?;
            self.discard(slot);
        }
        self.push(Slot::Own(made));
        Some(())
    }

    /// An opcode that the engine executes on the frame's stack.
    fn step(&mut self, one: &Instruction<'a>, reads: usize) -> Emitted<()> {
        let depth = self.state.stack.len();
        let reads = match one.name {
            "for_of_next" => one.operand as usize + 3,
            "copy_data_properties" => {
                let mask = one.operand as usize;
                1 + (mask & 3).max(mask >> 2 & 7).max(mask >> 5 & 7)
            }
            _ => reads,
        };
        let from = depth.checked_sub(reads)?;
        self.store(from, depth);
        // Values that were held by others now have a count of their own in the frame.
        let taken: Vec<Slot> = self.state.stack.split_off(from);
        // Stacks have the last place that was noted, so only opcodes that note theirs in the interpreter do so here.
        let is_noted = !matches!(
            one.name,
            "regexp" | "get_super" | "set_name" | "set_name_computed" | "define_method" | "define_array_el"
        );
        if is_noted {
            self.program_counter(self.after);
        }
        if one.name == "define_method" {
            let (place, frame) = (at(self.layout.operand, 2), self.frame);
            self.out().local_get(frame).i32_const(one.second.cast_signed()).i32_store(place);
        }
        self.context();
        let frame = self.frame;
        self.out().local_get(frame);
        self.stack_address(depth);
        let number = *self.numbers.get(one.name)?;
        self.out().i32_const(number).i32_const(one.operand.cast_signed());
        self.helper(Helper::Step);
        let result = self.word();
        self.out().local_tee(result).if_(BlockType::Empty);
        self.store(0, from);
        self.leave_at(self.after, EXCEPTION, depth, Some(result));
        self.out().end();
        self.state.free_words.push(result);
        for slot in taken {
            self.release(slot);
        }
        let (pops, pushes) = match one.name {
            "for_of_next" => (0, 2),
            _ => (one.pops, one.pushes),
        };
        let after = depth - pops + pushes;
        let variables = self.frame_variables;
        for index in from..after {
            let local = self.wide();
            let place = self.place(index);
            self.out().local_get(variables).i64_load(place).local_set(local);
            self.push(Slot::Own(local));
        }
        self.state.stack.truncate(after);
        Some(())
    }

    // Variables.

    /// Gives values that the variable holds a count of their own, because it changes.
    fn detach(&mut self, local: u32) {
        for index in 0..self.state.stack.len() {
            if self.state.stack[index] == Slot::Held(local) {
                self.state.stack[index] = self.own(Slot::Held(local));
            }
        }
    }

    fn assign(&mut self, local: Option<u32>, base: u32, index: u32, keeps: bool) -> Emitted<()> {
        let place = at(8 * u64::from(index), 3);
        let mut value = self.pop()?;
        if local.is_some_and(|local| value == Slot::Held(local)) {
            // An assignment to itself.
            if keeps {
                self.push(value);
            }
            return Some(());
        }
        let kept = keeps.then(|| self.copy(value));
        if let Some(local) = local {
            self.detach(local);
        }
        value = self.own(value);
        let old = self.wide();
        match local {
            Some(local) => {
                self.out().local_get(local).local_set(old);
                self.raw(value);
                self.out().local_set(local);
                self.out().local_get(base).local_get(local).i64_store(place);
            }
            None => {
                self.out().local_get(base).i64_load(place).local_set(old);
                self.out().local_get(base);
                self.raw(value);
                self.out().i64_store(place);
            }
        }
        self.release(value);
        self.drop_local(old);
        self.state.free.push(old);
        if let Some(kept) = kept {
            self.push(kept);
        }
        Some(())
    }

    fn read(&mut self, local: Option<u32>, base: u32, index: u32) {
        match local {
            Some(local) => self.push(Slot::Held(local)),
            None => {
                let made = self.wide();
                self.out().local_get(base).i64_load(at(8 * u64::from(index), 3)).local_set(made);
                self.count(made);
                self.push(Slot::Own(made));
            }
        }
    }

    fn get_variable(&mut self, index: u32) -> Emitted<()> {
        let local = *self.variables.get(index as usize)?;
        self.read(local, self.frame_variables, index);
        Some(())
    }

    fn put_variable(&mut self, index: u32, keeps: bool) -> Emitted<()> {
        let local = *self.variables.get(index as usize)?;
        self.assign(local, self.frame_variables, index, keeps)
    }

    fn get_argument(&mut self, index: u32) -> Emitted<()> {
        let local = *self.arguments.get(index as usize)?;
        self.read(local, self.frame_arguments, index);
        Some(())
    }

    fn put_argument(&mut self, index: u32, keeps: bool) -> Emitted<()> {
        let local = *self.arguments.get(index as usize)?;
        self.assign(local, self.frame_arguments, index, keeps)
    }

    /// Leaves the instruction to the interpreter when the variable is initialized, or is not.
    fn guard_variable(&mut self, index: u32, must_be_initialized: bool, offset: usize) -> Emitted<()> {
        match *self.variables.get(index as usize)? {
            Some(local) => {
                self.out().local_get(local);
            }
            None => {
                let (base, place) = (self.frame_variables, at(8 * u64::from(index), 3));
                self.out().local_get(base).i64_load(place);
            }
        }
        self.guard(must_be_initialized, offset);
        Some(())
    }

    fn guard(&mut self, must_be_initialized: bool, offset: usize) {
        let wanted = (TAG_UNINITIALIZED << 32).cast_signed();
        let mut out = self.out();
        if must_be_initialized {
            out.i64_const(wanted).i64_eq();
        } else {
            out.i64_const(wanted).i64_ne();
        }
        out.if_(BlockType::Empty);
        self.leave(offset, CONTINUE);
        self.out().end();
    }

    fn closure_place(&mut self, index: u32) {
        let (closure, pvalue) = (self.closure, self.layout.pvalue);
        self.out().local_get(closure).i32_load(at(4 * u64::from(index), 2)).i32_load(at(pvalue, 2));
    }

    fn get_closure(&mut self, index: u32, one: &Instruction<'a>) -> Emitted<()> {
        self.closure_place(index);
        let made = self.wide();
        self.out().i64_load(at(0, 3)).local_set(made);
        if one.name == "get_var_ref_check" {
            self.out().local_get(made);
            self.guard(true, one.at);
        }
        self.count(made);
        self.push(Slot::Own(made));
        Some(())
    }

    fn put_closure(&mut self, index: u32, one: &Instruction<'a>) -> Emitted<()> {
        let address = self.word();
        self.closure_place(index);
        self.out().local_set(address);
        if one.name.contains("_check") {
            self.out().local_get(address).i64_load(at(0, 3));
            self.guard(!one.name.ends_with("_init"), one.at);
        }
        self.assign(None, address, 0, one.name == "set_var_ref")?;
        self.state.free_words.push(address);
        Some(())
    }

    // Numbers.

    /// Pushes whether all values are integers. Constants and integers need no test.
    fn are_integers(&mut self, slots: &[Slot]) {
        let mut is_first = true;
        for &slot in slots {
            if matches!(slot, Slot::Integer(_)) || matches!(slot, Slot::Constant(value, _) if value < INTEGERS) {
                continue;
            }
            self.raw(slot);
            if !is_first {
                self.out().i64_or();
            }
            is_first = false;
        }
        if is_first {
            self.out().i32_const(1);
        } else {
            self.out().i64_const(INTEGERS.cast_signed()).i64_lt_u();
        }
    }

    fn low(&mut self, slot: Slot) {
        match slot {
            Slot::Integer(local) => {
                self.out().local_get(local);
            }
            Slot::Constant(value, _) => {
                let low = u32::try_from(value & 0xffff_ffff).unwrap_or(0).cast_signed();
                self.out().i32_const(low);
            }
            _ => {
                self.raw(slot);
                self.out().i32_wrap_i64();
            }
        }
    }

    fn signed(&mut self, slot: Slot) {
        if let Slot::Constant(value, _) = slot {
            let low = u32::try_from(value & 0xffff_ffff).unwrap_or(0).cast_signed();
            self.out().i64_const(i64::from(low));
        } else {
            self.low(slot);
            self.out().i64_extend_i32_s();
        }
    }

    fn is_integer(slot: Slot) -> bool {
        matches!(slot, Slot::Integer(_)) || matches!(slot, Slot::Constant(value, _) if value < INTEGERS)
    }

    /// Calls a function on two values that it takes, and stores the result.
    fn slow(&mut self, name: &str, left: Slot, right: Slot, result: u32) -> Emitted<()> {
        self.program_counter(self.after);
        self.context();
        self.push_own(left);
        self.push_own(right);
        let number = *self.numbers.get(name)?;
        match name {
            "add" => self.own_function(Local::Add),
            "sub" => self.own_function(Local::Subtract),
            "mul" => self.own_function(Local::Multiply),
            "div" => self.own_function(Local::Divide),
            "mod" => self.own_function(Local::Remainder),
            "lt" | "lte" | "gt" | "gte" => {
                self.out().i32_const(number);
                self.own_function(Local::Compare);
            }
            _ => {
                self.out().i32_const(number);
                self.helper(Helper::Binary);
            }
        }
        self.out().local_set(result);
        self.check(result);
        Some(())
    }

    fn arithmetic(&mut self, name: &str) -> Emitted<()> {
        let right = self.pop()?;
        let left = self.pop()?;
        let result = self.wide();
        // A logical operation with an integer has an integer as its result, or throws.
        let is_logical = matches!(name, "shl" | "sar" | "and" | "or" | "xor");
        let (is_left, is_right) = (Self::is_integer(left), Self::is_integer(right));
        if matches!(name, "pow") {
            self.slow(name, left, right, result)?;
            self.release(left);
            self.release(right);
            self.push(Slot::Own(result));
            return Some(());
        }
        let word = self.word();
        if !(is_logical && is_left && is_right) {
            self.are_integers(&[left, right]);
            self.out().if_(BlockType::Empty);
        }
        match name {
            "add" | "sub" | "mul" => {
                self.signed(left);
                self.signed(right);
                let mut out = self.out();
                match name {
                    "add" => out.i64_add(),
                    "sub" => out.i64_sub(),
                    _ => out.i64_mul(),
                };
                out.local_tee(result).i64_extend32_s().local_get(result).i64_eq();
                if name == "mul" {
                    // A zero may be negative.
                    self.out().local_get(result).i64_eqz().i32_eqz().i32_and();
                }
                self.out().if_(BlockType::Empty);
                self.out().local_get(result).i64_const(0xffff_ffff).i64_and().local_set(result).else_();
                self.slow_number(name, left, right, result)?;
                self.out().end();
            }
            "div" => self.slow_number(name, left, right, result)?,
            "mod" => {
                self.low(left);
                self.out().i32_const(0).i32_ge_s();
                self.low(right);
                self.out().i32_const(0).i32_gt_s().i32_and().if_(BlockType::Empty);
                self.low(left);
                self.low(right);
                self.out().i32_rem_u().i64_extend_i32_u().local_set(result).else_();
                self.slow(name, left, right, result)?;
                self.out().end();
            }
            "shr" => {
                self.low(left);
                self.low(right);
                let mut out = self.out();
                out.i32_shr_u().local_tee(word).i64_extend_i32_u().local_set(result);
                out.local_get(word).i32_const(0).i32_lt_s().if_(BlockType::Empty);
                self.slow(name, left, right, result)?;
                self.out().end();
            }
            _ => {
                self.low(left);
                self.low(right);
                let mut out = self.out();
                match name {
                    "shl" => out.i32_shl(),
                    "sar" => out.i32_shr_s(),
                    "and" => out.i32_and(),
                    "or" => out.i32_or(),
                    _ => out.i32_xor(),
                };
                out.local_set(word);
                if !(is_left || is_right) {
                    self.out().local_get(word).i64_extend_i32_u().local_set(result);
                }
            }
        }
        if is_logical && is_left && is_right {
            self.release(left);
            self.release(right);
            self.state.free.push(result);
            self.push(Slot::Integer(word));
            return Some(());
        }
        self.out().else_();
        self.slow(name, left, right, result)?;
        if is_logical && (is_left || is_right) {
            self.out().local_get(result).i32_wrap_i64().local_set(word);
        }
        self.out().end();
        self.release(left);
        self.release(right);
        if is_logical && (is_left || is_right) {
            self.state.free.push(result);
            self.push(Slot::Integer(word));
        } else {
            self.state.free_words.push(word);
            self.push(Slot::Own(result));
        }
        Some(())
    }

    /// As [`Self::slow`], for integers, which need no counts and throw nothing.
    fn slow_number(&mut self, name: &str, left: Slot, right: Slot, result: u32) -> Emitted<()> {
        self.context();
        self.raw(left);
        self.raw(right);
        self.own_function(match name {
            "add" => Local::Add,
            "sub" => Local::Subtract,
            "mul" => Local::Multiply,
            "div" => Local::Divide,
            _ => return None,
        });
        self.out().local_set(result);
        Some(())
    }

    fn compare(&mut self, name: &str) -> Emitted<()> {
        let right = self.pop()?;
        let left = self.pop()?;
        let word = self.word();
        self.are_integers(&[left, right]);
        self.out().if_(BlockType::Empty);
        self.low(left);
        self.low(right);
        let mut out = self.out();
        match name {
            "lt" => out.i32_lt_s(),
            "lte" => out.i32_le_s(),
            "gt" => out.i32_gt_s(),
            "gte" => out.i32_ge_s(),
            "eq" => out.i32_eq(),
            _ => out.i32_ne(),
        };
        out.local_set(word).else_();
        let result = self.wide();
        self.slow(name, left, right, result)?;
        self.out().local_get(result).i32_wrap_i64().local_set(word).end();
        self.state.free.push(result);
        self.release(left);
        self.release(right);
        self.push(Slot::Boolean(word));
        Some(())
    }

    fn strictly_equal(&mut self, is_negated: bool) -> Emitted<()> {
        let right = self.pop()?;
        let left = self.pop()?;
        let word = self.word();
        // Values other than numbers, strings and large integers are equal when their bits are.
        let is_simple = |slot: Slot| match slot {
            Slot::Constant(value, false) => (INTEGERS..7 << 32).contains(&value),
            Slot::Boolean(_) => true,
            _ => false,
        };
        if is_simple(left) || is_simple(right) {
            self.raw(left);
            self.raw(right);
            self.out().i64_eq().local_set(word);
        } else {
            self.are_integers(&[left, right]);
            self.out().if_(BlockType::Empty);
            self.low(left);
            self.low(right);
            self.out().i32_eq().local_set(word).else_();
            self.context();
            self.raw(left);
            self.raw(right);
            self.own_function(Local::StrictEq);
            self.out().local_set(word).end();
        }
        if is_negated {
            self.out().local_get(word).i32_eqz().local_set(word);
        }
        self.discard(left);
        self.discard(right);
        self.push(Slot::Boolean(word));
        Some(())
    }

    /// Calls the engine with a value that it takes.
    fn slow_unary(&mut self, name: &str, slot: Slot, result: u32) -> Emitted<()> {
        self.program_counter(self.after);
        self.context();
        self.push_own(slot);
        let number = *self.numbers.get(name)?;
        self.out().i32_const(number);
        self.helper(Helper::Unary);
        self.out().local_set(result);
        Some(())
    }

    fn unary(&mut self, name: &str) -> Emitted<()> {
        let slot = self.pop()?;
        let result = self.wide();
        self.are_integers(&[slot]);
        match name {
            // The largest and the smallest are left out, and zero, whose negative is no integer.
            "inc" => {
                self.low(slot);
                self.out().i32_const(i32::MAX).i32_ne().i32_and();
            }
            "dec" => {
                self.low(slot);
                self.out().i32_const(i32::MIN).i32_ne().i32_and();
            }
            "neg" => {
                self.low(slot);
                self.out().i32_const(i32::MAX).i32_and().i32_const(0).i32_ne().i32_and();
            }
            _ => {}
        }
        self.out().if_(BlockType::Empty);
        match name {
            "inc" => {
                self.low(slot);
                self.out().i32_const(1).i32_add();
            }
            "dec" => {
                self.low(slot);
                self.out().i32_const(1).i32_sub();
            }
            "neg" => {
                self.out().i32_const(0);
                self.low(slot);
                self.out().i32_sub();
            }
            "not" => {
                self.low(slot);
                self.out().i32_const(-1).i32_xor();
            }
            _ => self.low(slot),
        }
        self.out().i64_extend_i32_u().local_set(result).else_();
        self.slow_unary(name, slot, result)?;
        self.check_replaced(result);
        self.out().end();
        self.release(slot);
        self.push(Slot::Own(result));
        Some(())
    }

    /// After an exception of a unary operation the stack has `undefined` in place of the value.
    fn check_replaced(&mut self, result: u32) {
        self.push(Slot::Constant(UNDEFINED, false));
        self.check(result);
        self.state.stack.pop();
    }

    fn after_step(&mut self, name: &str) -> Emitted<()> {
        let slot = *self.state.stack.last()?;
        let (limit, change) = if name == "post_inc" { (i32::MAX, 1) } else { (i32::MIN, -1) };
        let (old, new) = (self.wide(), self.wide());
        self.raw(slot);
        self.out().local_set(old);
        self.are_integers(&[slot]);
        self.low(slot);
        self.out().i32_const(limit).i32_ne().i32_and().if_(BlockType::Empty);
        self.low(slot);
        self.out().i32_const(change).i32_add().i64_extend_i32_u().local_set(new).else_();
        let depth = self.state.stack.len();
        self.store(depth - 1, depth);
        self.program_counter(self.after);
        self.context();
        let frame = self.frame;
        self.out().local_get(frame);
        self.stack_address(depth);
        let number = *self.numbers.get(name)?;
        self.out().i32_const(number).i32_const(0);
        self.helper(Helper::Step);
        self.out().if_(BlockType::Empty);
        self.store(0, depth - 1);
        self.leave_stored(self.after, EXCEPTION, depth);
        self.out().end();
        let (variables, below, above) = (self.frame_variables, self.place(depth - 1), self.place(depth));
        let mut out = self.out();
        out.local_get(variables).i64_load(below).local_set(old);
        out.local_get(variables).i64_load(above).local_set(new).end();
        // The old value is a number now; its count was taken where it was none.
        self.pop()?;
        self.release(slot);
        self.push(Slot::Own(old));
        self.push(Slot::Own(new));
        Some(())
    }

    fn step_variable(&mut self, index: u32, name: &str) -> Emitted<()> {
        let (limit, change, op) = if name == "inc_loc" { (i32::MAX, 1, "inc") } else { (i32::MIN, -1, "dec") };
        let local = *self.variables.get(index as usize)?;
        let (base, place) = (self.frame_variables, at(8 * u64::from(index), 3));
        let value = match local {
            Some(local) => {
                self.detach(local);
                local
            }
            None => {
                let made = self.wide();
                self.out().local_get(base).i64_load(place).local_set(made);
                made
            }
        };
        let mut out = self.out();
        out.local_get(value).i64_const(INTEGERS.cast_signed()).i64_lt_u();
        out.local_get(value).i32_wrap_i64().i32_const(limit).i32_ne().i32_and().if_(BlockType::Empty);
        out.local_get(value).i32_wrap_i64().i32_const(change).i32_add().i64_extend_i32_u().local_set(value);
        out.local_get(base).local_get(value).i64_store(place).else_();
        let result = self.wide();
        self.slow_unary(op, Slot::Held(value), result)?;
        self.check(result);
        if local.is_none() {
            // The conversion may have changed a captured variable.
            self.out().local_get(base).i64_load(place).local_set(value);
        }
        self.out().local_get(base).local_get(result).i64_store(place);
        self.drop_local(value);
        self.out().local_get(result).local_set(value).end();
        self.state.free.push(result);
        if local.is_none() {
            self.state.free.push(value);
        }
        Some(())
    }

    fn add_variable(&mut self, index: u32) -> Emitted<()> {
        let slot = self.pop()?;
        let local = *self.variables.get(index as usize)?;
        let (base, place) = (self.frame_variables, at(8 * u64::from(index), 3));
        let value = match local {
            Some(local) => {
                self.detach(local);
                local
            }
            None => {
                let made = self.wide();
                self.out().local_get(base).i64_load(place).local_set(made);
                made
            }
        };
        // Where the two are the same variable, `detach` has not seen the one that was taken from the stack.
        let slot = if slot == Slot::Held(value) { self.own(slot) } else { slot };
        let sum = self.wide();
        self.are_integers(&[Slot::Held(value), slot]);
        self.out().if_(BlockType::Empty);
        self.signed(Slot::Held(value));
        self.signed(slot);
        self.out().i64_add().local_tee(sum).i64_extend32_s().local_get(sum).i64_eq().if_(BlockType::Empty);
        self.out().local_get(sum).i64_const(0xffff_ffff).i64_and().local_set(sum).else_();
        self.slow_number("add", Slot::Held(value), slot, sum)?;
        self.out().end();
        let mut out = self.out();
        out.local_get(base).local_get(sum).i64_store(place).local_get(sum).local_set(value).else_();
        // Numbers, then everything else.
        self.out().local_get(value).i64_const(COUNTED.cast_signed()).i64_lt_u();
        self.raw(slot);
        self.out().i64_const(COUNTED.cast_signed()).i64_lt_u().i32_and().if_(BlockType::Empty);
        self.slow("add", Slot::Plain(value), slot, sum)?;
        let mut out = self.out();
        out.local_get(base).local_get(sum).i64_store(place).local_get(sum).local_set(value).else_();
        self.program_counter(self.after);
        self.context();
        let variables = self.frame_variables;
        let distance = i32::try_from(place.offset).ok()?;
        self.out().local_get(variables).i32_const(distance).i32_add();
        self.push_own(slot);
        self.helper(Helper::AddLoc);
        self.failed();
        self.out().local_get(base).i64_load(place).local_set(value).end().end();
        self.release(slot);
        self.state.free.push(sum);
        if local.is_none() {
            self.state.free.push(value);
        }
        Some(())
    }
}
