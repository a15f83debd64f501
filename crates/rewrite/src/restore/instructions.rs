//! The state that an instruction can change: an arm for each instruction of each proposal.
//!
//! An instruction is allowed here when all that it can change is reset: a memory, a global, or values that end with the call. A
//! new instruction of wasmparser has no arm, so this file does not compile until somebody has thought of it. Only a proposal
//! whose instructions cannot change anything else is allowed as a whole.

use wasmparser::{Operator, for_each_operator};

/// Checks one instruction.
///
/// # Errors
///
/// The changes of it that resetting leaves.
pub(super) fn check(operator: &Operator<'_>) -> Result<(), &'static str> {
    macro_rules! check {
        ($(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
            match operator {
                $(Operator::$op { .. } => left!($proposal $op),)*
                // Required, because a future version may have more.
                _ => Err("code has an unknown instruction"),
            }
        };
    }
    for_each_operator!(check)
}

const TABLE: Result<(), &str> = Err("code can change a table");
const DROPPED: Result<(), &str> = Err("code can drop data or elements");
const OBJECTS: Result<(), &str> = Err("code can make objects, which the collector keeps");
const THREADS: Result<(), &str> = Err("code is made for threads");
const STACKS: Result<(), &str> = Err("code can switch stacks");
const FOREIGN: Result<(), &str> = Err("code has instructions of a proposal that guests do not get");

/// The changes of an instruction that resetting leaves.
#[rustfmt::skip] // one line each
macro_rules! left {
    // These compute, and write to memories and globals. `memory.grow` is found where the memory is reset.
    (mvp $op:ident) => { Ok(()) };
    (sign_extension $op:ident) => { Ok(()) };
    (saturating_float_to_int $op:ident) => { Ok(()) };
    (simd $op:ident) => { Ok(()) };
    (relaxed_simd $op:ident) => { Ok(()) };
    (tail_call $op:ident) => { Ok(()) };

    (bulk_memory MemoryInit) => { Ok(()) };
    (bulk_memory MemoryCopy) => { Ok(()) };
    (bulk_memory MemoryFill) => { Ok(()) };
    (bulk_memory DataDrop) => { DROPPED };
    (bulk_memory ElemDrop) => { DROPPED };
    (bulk_memory TableInit) => { TABLE };
    (bulk_memory TableCopy) => { TABLE };

    (reference_types TypedSelect) => { Ok(()) };
    (reference_types TypedSelectMulti) => { Ok(()) };
    (reference_types RefNull) => { Ok(()) };
    (reference_types RefIsNull) => { Ok(()) };
    (reference_types RefFunc) => { Ok(()) };
    (reference_types TableGet) => { Ok(()) };
    (reference_types TableSize) => { Ok(()) };
    (reference_types TableSet) => { TABLE };
    (reference_types TableGrow) => { TABLE };
    (reference_types TableFill) => { TABLE };

    (exceptions TryTable) => { OBJECTS };
    (exceptions Throw) => { OBJECTS };
    (exceptions ThrowRef) => { OBJECTS };

    // Not in the language (`tenon-language`), so validation has refused them.
    (gc $op:ident) => { OBJECTS };
    (legacy_exceptions $op:ident) => { OBJECTS };
    (threads $op:ident) => { THREADS };
    (shared_everything_threads $op:ident) => { THREADS };
    (stack_switching $op:ident) => { STACKS };
    (custom_descriptors $op:ident) => { FOREIGN };
    (function_references $op:ident) => { FOREIGN };
    (memory_control $op:ident) => { FOREIGN };
    (wide_arithmetic $op:ident) => { FOREIGN };
}
use left;

/// Each instruction: its proposal, its name, and what [`check`] says of it.
#[cfg(test)]
pub(super) fn all() -> Vec<(&'static str, &'static str, Result<(), &'static str>)> {
    macro_rules! list {
        ($(@$proposal:ident $op:ident $({ $($arg:ident: $type:ty),* })? => $visit:ident ($($arity:tt)*))*) => {
            vec![$((stringify!($proposal), stringify!($op), left!($proposal $op)),)*]
        };
    }
    for_each_operator!(list)
}
