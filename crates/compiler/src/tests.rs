use wasmparser::{Validator, WasmFeatures};

use crate::{CompileError, compile};

/// Opcodes of these tests; the numbers are their positions.
const OPCODES: &str = "invalid 1 0 0 none\nget_arg0 1 0 1 none_arg\nget_arg1 1 0 1 none_arg\nadd 1 2 1 none\nreturn 1 1 0 none\n\
    push_1 1 0 1 none_int\nif_false8 2 1 0 label8\nget_loc0 1 0 1 none_loc\nput_loc0 1 1 0 none_loc\nlt 1 2 1 none\n\
    goto8 2 0 0 label8\ninc_loc 2 0 0 loc8\npush_0 1 0 1 none_int\nyield 1 1 2 none\nsub 1 2 1 none\nmul 1 2 1 none\n\
    div 1 2 1 none\nmod 1 2 1 none\nlte 1 2 1 none\ngt 1 2 1 none\nreturn_undef 1 0 0 none\ninc 1 1 1 none\n";

/// A memory with functions of two arguments and one variable, and the address of its description.
fn memory(codes: &[&[u8]]) -> (Vec<u8>, u32) {
    let mut memory = vec![0; 1024];
    let put = |memory: &mut Vec<u8>, bytes: &[u8]| {
        let at = u32::try_from(memory.len()).expect("a small memory");
        memory.extend_from_slice(bytes);
        memory.resize(memory.len().next_multiple_of(8), 0);
        at
    };
    let names = put(&mut memory, OPCODES.as_bytes());
    // Offsets without a meaning, but for sizes that fit.
    let layout: Vec<u8> = (0..46_u32).flat_map(|index| (8 * index).to_le_bytes()).collect();
    let layout = put(&mut memory, &layout);
    let captured = put(&mut memory, &[0; 8]);
    let length = u32::try_from(OPCODES.len()).expect("a short text");
    let mut words = vec![u32::try_from(codes.len()).expect("few"), names, length, layout, 46, 0, 0, 127, 512, 768, 4];
    for code in codes {
        let at = put(&mut memory, code);
        words.extend([2048, at, u32::try_from(code.len()).expect("short"), 2, 1, 4, 0, 0, 0, 0, 1, 256, captured, 0]);
    }
    let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let description = put(&mut memory, &bytes);
    (memory, description)
}

fn validated(codes: &[&[u8]]) -> (usize, usize) {
    let (memory, description) = memory(codes);
    let output = compile(&memory, description).expect("a description");
    Validator::new_with_features(WasmFeatures::default()).validate_all(&output.module).expect("a valid module");
    (output.compiled.len(), output.skipped)
}

#[test]
fn compiles_a_sum() {
    assert_eq!(validated(&[&[1, 2, 3, 4]]), (1, 0));
}

#[test]
fn compiles_a_loop() {
    // v = 0; while (v < a) v++; return v;
    assert_eq!(validated(&[&[12, 8, 7, 1, 9, 6, 5, 11, 0, 10, 0xf8, 7, 4]]), (1, 0));
}

#[test]
fn leaves_an_unknown_instruction_to_the_interpreter() {
    assert_eq!(validated(&[&[5, 13, 4]]), (1, 0));
}

#[test]
fn keeps_functions_that_are_damaged() {
    // A jump between instructions, a jump out of the code, an empty stack, a cut instruction.
    for code in [&[10, 2, 11, 0, 20][..], &[10, 100], &[3, 4], &[11]] {
        assert_eq!(validated(&[code, &[20]]), (1, 1), "{code:?}");
    }
}

#[test]
fn refuses_other_engines() {
    let (mut memory, description) = memory(&[]);
    let at = description as usize + 16;
    memory[at] = 45;
    assert_eq!(compile(&memory, description).expect_err("another layout"), CompileError::Version);
    assert_eq!(compile(&memory, 1 << 30).expect_err("outside"), CompileError::Outside);
}

#[test]
fn survives_any_code() {
    let mut seed = 1_u64;
    for _ in 0..3000 {
        let mut code = [0; 12];
        for byte in &mut code {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = u8::try_from(seed >> 40 & 0xff).expect("a byte") % 24;
        }
        validated(&[&code]);
    }
}
