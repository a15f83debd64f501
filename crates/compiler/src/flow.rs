//! Decoded instructions, basic blocks and their order.

use crate::image::{Function, Opcode};

/// Most blocks of a compiled function. The interpreter keeps larger ones.
const MOST_BLOCKS: usize = 2_000;

/// Decoded instruction; short forms have the name and operand of the long one.
#[derive(Debug, Clone)]
pub(crate) struct Instruction<'a> {
    pub(crate) at: usize,
    /// Offset of the next instruction.
    pub(crate) end: usize,
    pub(crate) name: &'a str,
    pub(crate) operand: u32,
    pub(crate) second: u32,
    pub(crate) target: usize,
    pub(crate) pops: usize,
    pub(crate) pushes: usize,
}

fn word(code: &[u8], at: usize, length: usize) -> Option<u32> {
    let mut bytes = [0; 4];
    bytes.get_mut(..length)?.copy_from_slice(code.get(at..at + length)?);
    Some(u32::from_le_bytes(bytes))
}

fn offset(base: usize, distance: i32) -> Option<usize> {
    usize::try_from(i64::try_from(base).ok()? + i64::from(distance)).ok()
}

/// Returns nothing when an instruction is unknown or cut off.
pub(crate) fn decode<'a>(function: &Function<'_>, opcodes: &'a [Opcode]) -> Option<Vec<Instruction<'a>>> {
    let code = function.code;
    let mut at = 0;
    let mut made = Vec::new();
    while at < code.len() {
        let opcode = opcodes.get(usize::from(code[at]))?;
        let end = at + opcode.size;
        if end > code.len() {
            return None;
        }
        let mut one = Instruction {
            at,
            end,
            name: &opcode.name,
            operand: 0,
            second: 0,
            target: 0,
            pops: opcode.pops,
            pushes: opcode.pushes,
        };
        let first = at + 1;
        let strip = |name: &'a str| name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        match opcode.format.as_str() {
            "none" => {}
            "none_int" => {
                one.name = "push_i32";
                one.operand = opcode.name.strip_prefix("push_")?.parse().unwrap_or(u32::MAX);
            }
            "none_loc" | "none_arg" | "none_var_ref" if opcode.name != "get_loc0_loc1" => {
                one.name = strip(&opcode.name);
                one.operand = opcode.name[one.name.len()..].parse().ok()?;
            }
            "none_loc" => {}
            "npopx" => {
                one.name = "call";
                one.operand = opcode.name.strip_prefix("call")?.parse().ok()?;
                one.pops += one.operand as usize;
            }
            "u8" => one.operand = word(code, first, 1)?,
            "loc8" | "const8" => {
                one.operand = word(code, first, 1)?;
                one.name = match opcode.name.as_str() {
                    "get_loc8" => "get_loc",
                    "put_loc8" => "put_loc",
                    "set_loc8" => "set_loc",
                    "push_const8" => "push_const",
                    "fclosure8" => "fclosure",
                    name => name,
                };
            }
            "i8" => {
                one.name = "push_i32";
                one.operand = i32::from(code[first].cast_signed()).cast_unsigned();
            }
            "i16" => {
                one.name = "push_i32";
                one.operand = i32::from(u16::try_from(word(code, first, 2)?).ok()?.cast_signed()).cast_unsigned();
            }
            "u16" | "loc" | "arg" | "var_ref" => one.operand = word(code, first, 2)?,
            "npop" | "npop_u16" => {
                one.operand = word(code, first, 2)?;
                one.pops += one.operand as usize;
            }
            "i32" | "const" | "atom" | "u32" => one.operand = word(code, first, 4)?,
            "atom_u8" => {
                one.operand = word(code, first, 4)?;
                one.second = word(code, first + 4, 1)?;
            }
            "label" => one.target = offset(first, word(code, first, 4)?.cast_signed())?,
            "label8" => {
                one.name = opcode.name.strip_suffix('8')?;
                one.target = offset(first, i32::from(code[first].cast_signed()))?;
            }
            "label16" => {
                one.name = "goto";
                one.target = offset(first, i32::from(u16::try_from(word(code, first, 2)?).ok()?.cast_signed()))?;
            }
            // Opcodes of these formats are left to the interpreter.
            "atom_u16" | "atom_label_u8" | "label_u16" => {}
            _ => return None,
        }
        made.push(one);
        at = end;
    }
    Some(made)
}

/// End of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Returns, or leaves the rest to the interpreter.
    Leaves,
    Goes(usize),
    /// Two blocks: the one for a true value, and the other.
    Branches(usize, usize),
}

/// Instructions without a jump into them or out of them.
#[derive(Debug)]
pub(crate) struct Block {
    /// Indexes of instructions; that of a jump is the last.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) exit: Exit,
    /// For each value of the stack at the beginning, whether it is the place of a handler.
    pub(crate) catches: Vec<bool>,
}

/// Blocks that are reached, in reverse postorder.
pub(crate) struct Flow {
    pub(crate) blocks: Vec<Block>,
    pub(crate) dominators: Vec<usize>,
    /// True for a block that several others go on with, without those of its loop.
    pub(crate) is_merge: Vec<bool>,
    pub(crate) is_loop: Vec<bool>,
}

/// Effect of an instruction on the kinds of the stack. Returns nothing when the stack is too short.
fn step(one: &Instruction<'_>, stack: &mut Vec<bool>) -> Option<()> {
    let keep = match one.name {
        "for_of_next" | "iterator_next" | "iterator_call" => 3,
        _ => 0,
    };
    if one.name == "nip_catch" {
        stack.pop()?;
        while !stack.pop()? {}
        stack.push(false);
        return Some(());
    }
    if one.pops > stack.len() {
        return None;
    }
    let removed = one.pops - keep.min(one.pops);
    stack.truncate(stack.len() - removed);
    stack.extend(std::iter::repeat_n(false, one.pushes - keep.min(one.pops)));
    if matches!(one.name, "catch" | "for_of_start" | "for_await_of_start") {
        *stack.last_mut()? = true;
    }
    Some(())
}

/// Finds the blocks. Returns nothing for code that has no order of nested loops, or that the engine would not make.
pub(crate) fn flow(code: &[Instruction<'_>], is_left: impl Fn(&Instruction<'_>) -> bool) -> Option<Flow> {
    let index_of = |offset: usize| code.binary_search_by_key(&offset, |one| one.at).ok();
    let mut starts = vec![false; code.len() + 1];
    *starts.first_mut()? = true;
    for (index, one) in code.iter().enumerate() {
        match one.name {
            "goto" | "if_true" | "if_false" => {
                starts[index_of(one.target)?] = true;
                starts[index + 1] = true;
            }
            "return" | "return_undef" | "tail_call" | "tail_call_method" => starts[index + 1] = true,
            _ if is_left(one) => starts[index + 1] = true,
            _ => {}
        }
    }
    let block_at = |index: usize| {
        let to = (index + 1..code.len()).find(|&next| starts[next]).unwrap_or(code.len());
        let last = &code[to - 1];
        let exit = match last.name {
            "goto" => Exit::Goes(index_of(last.target)?),
            "if_true" => Exit::Branches(index_of(last.target)?, to),
            "if_false" => Exit::Branches(to, index_of(last.target)?),
            "return" | "return_undef" | "tail_call" | "tail_call_method" => Exit::Leaves,
            _ if is_left(last) => Exit::Leaves,
            _ => Exit::Goes(to),
        };
        Some((to, exit))
    };
    // Blocks by the index of their first instruction, in postorder.
    let mut catches: Vec<Option<Vec<bool>>> = vec![None; code.len() + 1];
    let mut ends = vec![None; code.len() + 1];
    let mut postorder = Vec::new();
    let mut stack = vec![(0, 0)];
    catches[0] = Some(Vec::new());
    while let Some((index, next)) = stack.pop() {
        if index >= code.len() {
            return None;
        }
        if next == 0 {
            let (to, exit) = block_at(index)?;
            ends[index] = Some((to, exit));
            let mut kinds = catches[index].clone()?;
            for one in &code[index..to] {
                if is_left(one) {
                    break;
                }
                step(one, &mut kinds)?;
            }
            for target in successors(exit) {
                match catches.get(target)? {
                    Some(known) if *known != kinds => return None,
                    Some(_) => {}
                    None => catches[target] = Some(kinds.clone()),
                }
            }
        }
        let exit = ends[index]?.1;
        if let Some(target) = successors(exit).nth(next) {
            stack.push((index, next + 1));
            if ends.get(target)?.is_none() {
                stack.push((target, 0));
            }
        } else {
            postorder.push(index);
        }
    }
    // The emitter recurses into blocks, so their number bounds its stack.
    (postorder.len() <= MOST_BLOCKS).then_some(())?;
    order(postorder, &ends, catches)
}

pub(crate) fn successors(exit: Exit) -> impl Iterator<Item = usize> {
    let (first, second) = match exit {
        Exit::Leaves => (None, None),
        Exit::Goes(to) => (Some(to), None),
        Exit::Branches(yes, no) => (Some(yes), Some(no)),
    };
    first.into_iter().chain(second)
}

fn order(
    mut postorder: Vec<usize>,
    ends: &[Option<(usize, Exit)>],
    mut catches: Vec<Option<Vec<bool>>>,
) -> Option<Flow> {
    postorder.reverse();
    let mut number = vec![usize::MAX; ends.len()];
    for (position, &index) in postorder.iter().enumerate() {
        number[index] = position;
    }
    let mut blocks = Vec::new();
    for &index in &postorder {
        let (to, exit) = ends[index]?;
        let exit = match exit {
            Exit::Leaves => Exit::Leaves,
            Exit::Goes(target) => Exit::Goes(number[target]),
            Exit::Branches(yes, no) => Exit::Branches(number[yes], number[no]),
        };
        blocks.push(Block { from: index, to, exit, catches: catches[index].take()? });
    }
    let count = blocks.len();
    let mut before = vec![Vec::new(); count];
    for (position, block) in blocks.iter().enumerate() {
        for target in successors(block.exit) {
            before[target].push(position);
        }
    }
    let mut dominators = vec![usize::MAX; count];
    dominators[0] = 0;
    loop {
        let mut is_changed = false;
        for position in 1..count {
            let mut found = usize::MAX;
            for &each in &before[position] {
                if dominators[each] == usize::MAX {
                    continue;
                }
                found = if found == usize::MAX { each } else { meet(&dominators, found, each) };
            }
            is_changed |= dominators[position] != found;
            dominators[position] = found;
        }
        if !is_changed {
            break;
        }
    }
    let mut is_merge = vec![false; count];
    let mut is_loop = vec![false; count];
    for position in 0..count {
        is_merge[position] = before[position].iter().filter(|&&each| each < position).count() > 1;
        for &each in before[position].iter().filter(|&&each| each >= position) {
            is_loop[position] = true;
            // A loop with two entries has no nesting.
            let mut up = each;
            while up > position {
                up = dominators[up];
            }
            if up != position {
                return None;
            }
        }
    }
    Some(Flow { blocks, dominators, is_merge, is_loop })
}

fn meet(dominators: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        while one > other {
            one = dominators[one];
        }
        while other > one {
            other = dominators[other];
        }
    }
    one
}

/// Kinds of the stack's values before the instruction at an offset.
pub(crate) fn kinds(code: &[Instruction<'_>], catches: &[bool], before: usize) -> Option<Vec<bool>> {
    let mut kinds = catches.to_vec();
    for one in code.iter().take_while(|one| one.at < before) {
        step(one, &mut kinds)?;
    }
    Some(kinds)
}
