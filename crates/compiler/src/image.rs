//! Functions and constants, as they lie in the memory of an engine after its top level.

use crate::CompileError;

/// Memory of an engine, and addresses in it.
#[derive(Clone, Copy)]
pub(crate) struct Image<'a>(pub(crate) &'a [u8]);

impl<'a> Image<'a> {
    pub(crate) fn bytes(self, at: u32, length: usize) -> Result<&'a [u8], CompileError> {
        let at = at as usize;
        at.checked_add(length).and_then(|end| self.0.get(at..end)).ok_or(CompileError::Outside)
    }

    pub(crate) fn u32(self, at: u32) -> Result<u32, CompileError> {
        let bytes = self.bytes(at, 4)?;
        Ok(u32::from_le_bytes(bytes.try_into().map_err(|_| CompileError::Outside)?))
    }

    pub(crate) fn u64(self, at: u32) -> Result<u64, CompileError> {
        let bytes = self.bytes(at, 8)?;
        Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| CompileError::Outside)?))
    }
}

/// Offsets of fields, in the order of `js_compiler_layout`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) cur_func: u64,
    pub(crate) arg_buf: u64,
    pub(crate) var_buf: u64,
    pub(crate) cur_pc: u64,
    pub(crate) cur_sp: u64,
    pub(crate) this_obj: u64,
    pub(crate) new_target: u64,
    pub(crate) operand: u64,
    pub(crate) closure_refs: u64,
    pub(crate) pvalue: u64,
    pub(crate) interrupt_counter: u32,
    pub(crate) count_before: i32,
    pub(crate) class_id: u64,
    pub(crate) class_array: i32,
    pub(crate) array_values: u64,
    pub(crate) array_count: u64,
    pub(crate) compiled: u32,
    pub(crate) shape: u64,
    pub(crate) properties: u64,
    pub(crate) call_size: u32,
    pub(crate) prev_frame: u64,
    pub(crate) var_ref_count: u64,
    pub(crate) arg_count: u64,
    pub(crate) is_strict: u64,
    pub(crate) frame_refs: u64,
    pub(crate) current_frame: u32,
    pub(crate) deep_stack: u32,
    pub(crate) bytecode: u64,
    pub(crate) class_function: i32,
    pub(crate) argc: u64,
    pub(crate) argv: u64,
    pub(crate) cell_size: u32,
    pub(crate) cell_holder: u64,
    pub(crate) cell_holder_shape: u64,
    pub(crate) cell_offset: u64,
    pub(crate) cell_class: u64,
    pub(crate) class_proto: u64,
    pub(crate) class_string: u64,
    pub(crate) atom_length: u32,
}

/// Opcode: its name, length, effect on the stack, and format of its operand.
#[derive(Debug, Clone)]
pub(crate) struct Opcode {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) pops: usize,
    pub(crate) pushes: usize,
    pub(crate) format: String,
}

/// Function of the engine's bytecode.
#[derive(Debug, Clone)]
pub(crate) struct Function<'a> {
    pub(crate) address: u32,
    pub(crate) code_at: u32,
    pub(crate) code: &'a [u8],
    pub(crate) arguments: u32,
    pub(crate) variables: u32,
    pub(crate) stack: u32,
    /// Variables and arguments that closures capture.
    pub(crate) references: u32,
    pub(crate) pool_at: u32,
    pub(crate) pool_length: u32,
    pub(crate) is_strict: bool,
    /// Neither a generator nor asynchronous.
    pub(crate) is_plain: bool,
    pub(crate) realm: u32,
    /// For each argument and variable, 1 if closures capture it.
    pub(crate) captured: &'a [u8],
}

/// Description that `fn_list` writes.
pub(crate) struct Description<'a> {
    pub(crate) layout: Layout,
    pub(crate) opcodes: Vec<Opcode>,
    pub(crate) functions: Vec<Function<'a>>,
    pub(crate) atoms_at: u32,
    pub(crate) place: u32,
    pub(crate) runtime: u32,
    pub(crate) cells: Cells,
    /// Atom of the empty string.
    pub(crate) empty_string: u32,
}

/// Cells for properties that are left (`JSFieldCell`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cells {
    pub(crate) at: u32,
    pub(crate) left: u32,
}

const FIELDS: u32 = 14;
const HEADER: u32 = 11;
const LAYOUT_LENGTH: usize = 46;

pub(crate) fn describe(image: Image<'_>, at: u32) -> Result<Description<'_>, CompileError> {
    let header = |index: u32| image.u32(at + 4 * index);
    let names = image.bytes(header(1)?, header(2)? as usize)?;
    let names = str::from_utf8(names).map_err(|_| CompileError::Outside)?;
    let opcodes = names.lines().map(opcode).collect::<Option<Vec<_>>>().ok_or(CompileError::Version)?;
    let layout_at = header(3)?;
    if header(4)? as usize != LAYOUT_LENGTH {
        return Err(CompileError::Version);
    }
    let mut offsets = [0; LAYOUT_LENGTH];
    for (offset, index) in offsets.iter_mut().zip(0..) {
        *offset = image.u32(layout_at + 4 * index)?;
    }
    let mut functions = Vec::new();
    for index in 0..header(0)? {
        functions.push(function(image, at + 4 * (HEADER + FIELDS * index))?);
    }
    Ok(Description {
        layout: layout(&offsets),
        opcodes,
        functions,
        atoms_at: header(5)?,
        place: header(7)?,
        runtime: header(8)?,
        cells: Cells { at: header(9)?, left: header(10)? },
        empty_string: offsets[24],
    })
}

fn opcode(line: &str) -> Option<Opcode> {
    let mut words = line.split(' ');
    Some(Opcode {
        name: words.next()?.to_owned(),
        size: words.next()?.parse().ok()?,
        pops: words.next()?.parse().ok()?,
        pushes: words.next()?.parse().ok()?,
        format: words.next()?.to_owned(),
    })
}

fn layout(offsets: &[u32; LAYOUT_LENGTH]) -> Layout {
    let wide = offsets.map(u64::from);
    Layout {
        cur_func: wide[0],
        arg_buf: wide[1],
        var_buf: wide[2],
        cur_pc: wide[4],
        cur_sp: wide[5],
        this_obj: wide[6],
        new_target: wide[7],
        operand: wide[8],
        closure_refs: wide[9],
        pvalue: wide[10],
        interrupt_counter: offsets[11],
        count_before: offsets[12].cast_signed(),
        class_id: wide[13],
        class_array: offsets[14].cast_signed(),
        array_values: wide[15],
        array_count: wide[16],
        compiled: offsets[22],
        shape: wide[17],
        properties: wide[18],
        call_size: offsets[25],
        prev_frame: wide[26],
        var_ref_count: wide[27],
        arg_count: wide[28],
        is_strict: wide[29],
        frame_refs: wide[31],
        current_frame: offsets[32],
        deep_stack: offsets[33],
        bytecode: wide[34],
        class_function: offsets[35].cast_signed(),
        argc: wide[36],
        argv: wide[37],
        cell_size: offsets[38],
        cell_holder: wide[39],
        cell_holder_shape: wide[40],
        cell_offset: wide[41],
        cell_class: wide[42],
        class_proto: wide[43],
        class_string: wide[44],
        atom_length: offsets[45],
    }
}

fn function(image: Image<'_>, at: u32) -> Result<Function<'_>, CompileError> {
    let field = |index: u32| image.u32(at + 4 * index);
    let (arguments, variables, closures) = (field(3)?, field(4)?, field(7)?);
    let flags = field(10)?;
    Ok(Function {
        address: field(0)?,
        code_at: field(1)?,
        code: image.bytes(field(1)?, field(2)? as usize)?,
        arguments,
        variables,
        stack: field(5)?,
        references: field(6)?,
        pool_at: field(8)?,
        pool_length: field(9)?,
        is_strict: flags & 1 != 0,
        is_plain: (flags >> 1) & 3 == 0,
        realm: field(11)?,
        captured: image.bytes(field(12)?, (arguments + variables + closures) as usize)?,
    })
}
