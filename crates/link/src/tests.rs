//! Components with linked modules, run by wasmtime.

use wasmtime::component::{ComponentNamedList, Instance, Lift, Linker, Lower, TypedFunc};
use wasmtime::{Engine, Store};

use tenon_compose::Kind;

use super::*;

/// A component with QuickJS in a few lines, which is larger than any module of these tests. It asks the dispatcher, and reads
/// and writes its own memory.
const ENGINE: &str = r#"(component
  (core module $other (func (export "f")))
  (core instance (instantiate $other))
  (core module $engine
    (memory (export "memory") 1)
    (table (export "__indirect_function_table") 2 funcref)
    (data (i32.const 4096) "$PADDING")
    (func (export "ask") (param i32 i32 i32 i32 i32) (result i32)
      (call_indirect 0 (param i32 i32 i32 i32 i32) (result i32)
        (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (i32.const 1)))
    (global $next (mut i32) (i32.const 16384))
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
      (global.set $next (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.get $next)
      (global.set $next (i32.add (global.get $next) (local.get 3))))
    (func (export "peek") (param i32) (result i64) (i64.load (local.get 0)))
    (func (export "poke") (param i32 i64) (i64.store (local.get 0) (local.get 1))))
  (core instance $e (instantiate $engine))
  (func $ask (param "o" s32) (param "a" s32) (param "b" s32) (param "c" s32) (param "d" s32) (result s32)
    (canon lift (core func $e "ask")))
  (func $peek (param "at" s32) (result u64) (canon lift (core func $e "peek")))
  (func $poke (param "at" s32) (param "value" u64) (canon lift (core func $e "poke")))
  (instance $handler (export "ask" (func $ask)) (export "peek" (func $peek)) (export "poke" (func $poke)))
  (export "sdk:core/handler@0.1.0" (instance $handler)))"#;

const NUMBERS: &str = r#"(module
  (memory (export "memory") 1 3)
  (global (export "count") (mut i32) (i32.const 0))
  (data (i32.const 16) "module")
  (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "mixed") (param f64 i64 f32) (result f32 i64 f64) (local.get 2) (local.get 1) (local.get 0))
  (func (export "vector") (param v128))
  (func (export "trap") unreachable))"#;

const WITHOUT_MEMORY: &str = r#"(module (func (export "seven") (result i32) (i32.const 7)))"#;

/// Operations of the dispatcher.
const FIND: i32 = 0;
const CALL: i32 = 1;
const READ: i32 = 2;
const WRITE: i32 = 3;
const SIZE: i32 = 4;
const GROW: i32 = 5;

fn engine() -> Vec<u8> {
    wat::parse_str(ENGINE.replace("$PADDING", &"x".repeat(8_000))).unwrap()
}

/// A running component.
struct Running(Store<()>, Instance);

impl Running {
    fn of(component: &[u8]) -> Self {
        let engine = Engine::default();
        let component = wasmtime::component::Component::new(&engine, component).unwrap();
        let mut store = Store::new(&engine, ());
        let instance = Linker::new(&engine).instantiate(&mut store, &component).unwrap();
        Self(store, instance)
    }

    fn function<P, R>(&mut self, name: &str) -> TypedFunc<P, R>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let Self(store, instance) = self;
        let handler = instance.get_export_index(&mut *store, None, "sdk:core/handler@0.1.0").unwrap();
        let function = instance.get_export_index(&mut *store, Some(&handler), name).unwrap();
        instance.get_typed_func(&mut *store, function).unwrap()
    }

    fn ask(&mut self, operation: i32, a: i32, b: i32, c: i32, d: i32) -> wasmtime::Result<i32> {
        let ask = self.function::<(i32, i32, i32, i32, i32), (i32,)>("ask");
        Ok(ask.call(&mut self.0, (operation, a, b, c, d))?.0)
    }

    fn peek(&mut self, at: i32) -> u64 {
        let peek = self.function::<(i32,), (u64,)>("peek");
        peek.call(&mut self.0, (at,)).unwrap().0
    }

    fn poke(&mut self, at: i32, value: u64) {
        let poke = self.function::<(i32, u64), ()>("poke");
        poke.call(&mut self.0, (at, value)).unwrap();
    }

    /// The numbers of the first function and the first memory of a module.
    fn find(&mut self, id: u64) -> Option<(i32, i32)> {
        let [low, high] = [id, id >> 32].map(|half| (half as u32).cast_signed());
        let found = self.ask(FIND, low, high, 8, 0).unwrap() == 1;
        let both = self.peek(8);
        found.then_some(((both as u32).cast_signed(), ((both >> 32) as u32).cast_signed()))
    }
}

fn linked(modules: &[(u64, &str)]) -> Result<Vec<u8>, LinkError> {
    let bytes: Vec<_> = modules.iter().map(|(id, text)| (*id, wat::parse_str(text).unwrap())).collect();
    let linked: Vec<_> = bytes.iter().map(|(id, bytes)| Linked { id: *id, name: "m.wasm", bytes }).collect();
    link(&engine(), &linked)
}

/// Ids whose lower halves are equal.
const ONE: u64 = 0xffff_ffff_0000_0001;
const OTHER: u64 = 1;

#[test]
fn functions_take_and_return_numbers() {
    let mut running = Running::of(&linked(&[(ONE, NUMBERS), (OTHER, WITHOUT_MEMORY)]).unwrap());
    // The modules are in the order of their ids.
    assert_eq!(running.find(OTHER), Some((0, 0)));
    assert_eq!(running.find(ONE), Some((1, 0)));
    assert_eq!(running.find(2), None);
    assert_eq!(running.ask(CALL, 0, 64, 0, 0).unwrap(), 1);
    assert_eq!(running.peek(64) as u32, 7);
    running.poke(64, 40);
    running.poke(72, u64::from(u32::MAX));
    running.ask(CALL, 1, 64, 0, 0).unwrap();
    assert_eq!(running.peek(64) as u32, 39);
    let (float, double) = (1.5_f32.to_bits(), (-0.25_f64).to_bits());
    running.poke(64, double);
    running.poke(72, u64::MAX - 1);
    running.poke(80, u64::from(float));
    running.ask(CALL, 2, 64, 0, 0).unwrap();
    assert_eq!((running.peek(64) as u32, running.peek(72), running.peek(80)), (float, u64::MAX - 1, double));
}

#[test]
fn an_engine_without_a_place_for_modules_is_refused() {
    let text = ENGINE.replace("__indirect_function_table", "other").replace("$PADDING", &"x".repeat(8_000));
    let bytes = wat::parse_str(WITHOUT_MEMORY).unwrap();
    let modules = [Linked { id: ONE, name: "m.wasm", bytes: &bytes }];
    let refused = link(&wat::parse_str(&text).unwrap(), &modules).unwrap_err();
    assert!(refused.to_string().contains("no table for modules"));
}

#[test]
fn a_memory_is_read_written_and_grown_within_its_bounds() {
    let mut running = Running::of(&linked(&[(ONE, NUMBERS)]).unwrap());
    assert_eq!(running.ask(SIZE, 0, 0, 0, 0).unwrap(), 1);
    assert_eq!(running.ask(READ, 0, 16, 64, 6).unwrap(), 1);
    assert_eq!(running.peek(64).to_le_bytes(), *b"module\0\0");
    running.poke(128, 0x0807_0605_0403_0201);
    assert_eq!(running.ask(WRITE, 0, 65_528, 128, 8).unwrap(), 1);
    assert_eq!(running.ask(READ, 0, 65_528, 64, 8).unwrap(), 1);
    assert_eq!(running.peek(64), 0x0807_0605_0403_0201);
    for length in [0, 1, 31, 32, 33, 100] {
        for at in 0..16 {
            running.poke(1_024 + 8 * at, 0x0101_0101_0101_0101 * (at as u64 + 1));
            running.poke(2_048 + 8 * at, u64::MAX);
        }
        running.ask(WRITE, 0, 4_097, 1_025, length).unwrap();
        running.ask(READ, 0, 4_097, 2_051, length).unwrap();
        let byte = |running: &mut Running, at: i32| running.peek(at) as u8;
        for at in 0..length {
            assert_eq!(byte(&mut running, 2_051 + at), byte(&mut running, 1_025 + at), "{at} of {length}");
        }
        assert_eq!([2_050, 2_051 + length].map(|at| byte(&mut running, at)), [255, 255]);
    }
    for (offset, length) in [(65_529, 8), (65_537, 0), (-1, 1), (-8, 16), (0, -1)] {
        for operation in [READ, WRITE] {
            assert_eq!(running.ask(operation, 0, offset, 64, length).unwrap(), 0, "{offset} {length}");
        }
    }
    assert_eq!(running.ask(READ, 0, 65_536, 64, 0).unwrap(), 1);
    assert_eq!(running.ask(GROW, 0, 2, 0, 0).unwrap(), 1);
    assert_eq!(running.ask(GROW, 0, 1, 0, 0).unwrap(), -1);
    assert_eq!(running.ask(SIZE, 0, 0, 0, 0).unwrap(), 3);
}

#[test]
fn a_trap_and_a_number_that_nothing_has_end_the_call() {
    let running = || Running::of(&linked(&[(ONE, NUMBERS)]).unwrap());
    assert!(format!("{:?}", running().ask(CALL, 2, 64, 0, 0).unwrap_err()).contains("unreachable"));
    for (operation, number) in [(CALL, 3), (READ, 1), (SIZE, -1), (6, 0)] {
        assert!(running().ask(operation, number, 0, 0, 0).is_err());
    }
}

#[test]
fn modules_are_linked_to_an_engine_inside_another_component_and_in_any_order() {
    let modules = [(1, NUMBERS), (2, WITHOUT_MEMORY)];
    let one = linked(&modules).unwrap();
    assert_eq!(one, linked(&[modules[1], modules[0]]).unwrap());
    let mut outer = wasm_encoder::Component::new();
    outer.section(&RawSection { id: tenon_rewrite::section::COMPONENT, data: &engine() });
    let bytes = wat::parse_str(NUMBERS).unwrap();
    let nested = link(&outer.finish(), &[Linked { id: 1, name: "m.wasm", bytes: &bytes }]).unwrap();
    let alone = linked(&modules[..1]).unwrap();
    assert!(nested.windows(alone.len()).any(|bytes| bytes == alone));
    wasmparser::Validator::new().validate_all(&nested).unwrap();
}

#[test]
fn the_exports_of_a_module_are_told_apart() {
    let read = CoreModule::read(&wat::parse_str(NUMBERS).unwrap()).unwrap();
    let names: Vec<_> = read.functions.iter().map(|function| &*function.name).collect();
    assert_eq!((names, &*read.memories), (vec!["add", "mixed", "trap"], &["memory".to_owned()][..]));
    let others: Vec<_> = read.others.iter().map(|(name, _)| &**name).collect();
    assert_eq!(others, ["count", "vector"]);
    assert_eq!(read.functions[1].params, [ValType::F64, ValType::I64, ValType::F32]);
}

#[test]
fn a_module_that_cannot_be_linked_is_refused_with_the_reason() {
    let refusal = |bytes: &[u8]| CoreModule::read(bytes).unwrap_err().to_string();
    let of_text = |text: &str| refusal(&wat::parse_str(text).unwrap());
    assert!(refusal(b"no module").contains("is not WebAssembly"));
    assert!(refusal(b"").contains("is not WebAssembly"));
    assert!(refusal(b"\n(module)").contains("text format"));
    assert!(refusal(b"\0asm\x01\0\0\0\x01").contains("not valid"));
    assert!(of_text(r#"(module (import "env" "now" (func)))"#).contains("imports env.now"));
    assert!(of_text(r#"(module (import "wasi_snapshot_preview1" "fd_write" (func)))"#).contains("without WASI"));
    assert!(of_text(r#"(module (memory (export "m") i64 1))"#).contains("not valid"));
    assert!(of_text("(module (memory 1 1 shared))").contains("not valid"));
    assert!(of_text("(module (func (param externref)))").contains("not valid"));
    assert!(of_text("(module (tag) (func (throw 0)))").contains("not valid"));
    assert!(
        of_text(&format!(r#"(module (func (export "f") (param {})))"#, "i32 ".repeat(65))).contains("65 parameters")
    );
    assert!(refusal(&[b"\0asm", &[0; MAX_BYTES][..]].concat()).contains("4194308 bytes"));
    let many: Vec<_> = (0..9).map(|id| (id, WITHOUT_MEMORY)).collect();
    assert!(linked(&many).unwrap_err().to_string().contains("9 modules"));
    let memories = format!("(module {})", "(memory 1)".repeat(9));
    assert!(linked(&[(1, &memories)]).unwrap_err().to_string().contains("9 memories"));
    assert!(linked(&[(1, NUMBERS), (1, WITHOUT_MEMORY)]).is_err());
    assert!(link(b"\0asm\x0d\0\x01\0", &[]).is_err());
}

/// A component with a function of its own and an interface.
const GREETER: &str = r#"(component
  (core module $m
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $next)
      (global.set $next (i32.add (global.get $next) (local.get 3))))
    (func (export "sum") (param i32 i64 f64) (result f64)
      (f64.add (f64.convert_i32_u (local.get 0)) (f64.add (f64.convert_i64_u (local.get 1)) (local.get 2))))
    ;; Returns its argument.
    (func (export "echo") (param i32 i32 i32) (result i32)
      (i32.store (i32.const 8) (local.get 0))
      (i32.store (i32.const 12) (local.get 1))
      (i32.const 8)))
  (core instance $i (instantiate $m))
  (func $sum (param "a" u8) (param "b" u64) (param "c" f64) (result f64) (canon lift (core func $i "sum")))
  (type $size2 (enum "small" "large"))
  (func $echo (param "text" string) (param "size" $size2) (result string)
    (canon lift (core func $i "echo") (memory $i "memory") (realloc (func $i "realloc"))))
  (export "sum" (func $sum))
  (component $shim
    (type $e (enum "small" "large"))
    (import "size-type" (type $imported (eq $e)))
    (import "echo" (func $f (param "text" string) (param "size" $imported) (result string)))
    (export $size "size" (type $e))
    (export "echo" (func $f) (func (param "text" string) (param "size" $size) (result string))))
  (instance $echoes (instantiate $shim (with "size-type" (type $size2)) (with "echo" (func $echo))))
  (export "example:text/echoes@1.0.0" (instance $echoes)))"#;

#[test]
fn a_component_is_linked_beside_modules() {
    let mut running = Running::of(&linked(&[(3, GREETER), (1, NUMBERS), (2, WITHOUT_MEMORY)]).unwrap());
    assert_eq!(running.find(3), Some((4, 1)));
    running.poke(64, 1);
    running.poke(72, 20);
    running.poke(80, 0.5_f64.to_bits());
    running.ask(CALL, 4, 64, 0, 0).unwrap();
    assert_eq!(f64::from_bits(running.peek(64)), 21.5);
    running.poke(1_024, u64::from_le_bytes(*b"abcdefgh"));
    for (index, value) in [1_024, 8, 1, 2_048].into_iter().enumerate() {
        running.poke(64 + 8 * i32::try_from(index).unwrap(), value);
    }
    running.ask(CALL, 5, 64, 0, 0).unwrap();
    let [at, length] = [running.peek(2_048), running.peek(2_052)].map(|word| word as u32);
    assert_eq!((length, running.peek(at.cast_signed()).to_le_bytes()), (8, *b"abcdefgh"));
    // The one beside it is as before.
    running.ask(CALL, 0, 64, 0, 0).unwrap();
}

#[test]
fn the_functions_of_a_component_have_their_signatures_in_json() {
    let Imported::Component(read) = Imported::read(&wat::parse_str(GREETER).unwrap()).unwrap() else {
        panic!("it is a component");
    };
    let functions: Vec<_> = read
        .exports
        .iter()
        .flat_map(|export| {
            let interface = export.interface.map(|_| &*export.name);
            export.functions.iter().map(move |each| (interface, &*each.name, &*each.signature))
        })
        .collect();
    assert_eq!(
        functions,
        [
            (None, "sum", r#"{"params":[["a","u8"],["b","u64"],["c","f64"]],"result":"f64"}"#),
            (
                Some("example:text/echoes@1.0.0"),
                "echo",
                r#"{"params":[["text","string"],["size",{"enum":["small","large"]}]],"result":"string"}"#
            ),
        ]
    );
}

#[test]
fn a_component_that_cannot_be_linked_is_refused_with_the_reason() {
    let refusal = |text: &str| Imported::read(&wat::parse_str(text).unwrap()).unwrap_err().to_string();
    let resource = r#"(component
      (type $own (resource (rep i32)))
      (core module $m (func (export "f") (param i32)))
      (core instance $i (instantiate $m))
      (func $f (param "it" (own $own)) (canon lift (core func $i "f")))
      (component $shim
        (import "r" (type $r (sub resource)))
        (import "f" (func $f (param "it" (own $r))))
        (export $named "r" (type $r))
        (export "f" (func $f) (func (param "it" (own $named)))))
      (instance $made (instantiate $shim (with "r" (type $own)) (with "f" (func $f))))
      (export "example:text/resources@1.0.0" (instance $made)))"#;
    let error = refusal(resource);
    assert!(error.contains("exports f, which has or is a resource"), "{error}");
    assert!(refusal(r#"(component (import "f" (func)))"#).contains("imports f"));
    let lacking = r#"(component (import "example:text/echoes@0.2.0" (instance (export "f" (func)))))"#;
    assert!(refusal(lacking).contains("imports example:text/echoes@0.2.0, and nothing provides that"));
}

/// The engine itself, with what it calls: what is linked stays linked in all kinds of its components.
#[test]
fn modules_and_components_stay_linked_when_a_component_becomes_one_of_another_kind() {
    let wrapped = tenon_compose::wrap(include_bytes!("../../engine/engine.wasm"), Kind::Handler);
    let [numbers, greeter] = [NUMBERS, GREETER].map(|text| wat::parse_str(text).unwrap());
    let module = Linked { id: 1, name: "numbers.wasm", bytes: &numbers };
    let component = Linked { id: 2, name: "greeter.wasm", bytes: &greeter };
    for linked in [&[module][..], &[component], &[module, component, Linked { id: 3, ..component }]] {
        let handler = link(&wrapped, linked).unwrap();
        let kinds = [Kind::Bare, Kind::Handler, Kind::Composed];
        let made = kinds.map(|kind| tenon_compose::rewrap(&handler, kind).unwrap());
        for (kind, made) in kinds.iter().zip(&made) {
            wasmparser::Validator::new().validate_all(made).unwrap();
            let found = tenon_compose::interfaces(made).unwrap();
            let is_exported = |name: &str| found.exports.iter().any(|export| export.starts_with(name));
            assert!(is_exported("sdk:core/handler@"));
            assert_eq!(is_exported("wasi:http/incoming-handler@"), *kind == Kind::Composed);
            assert_eq!(found.imports.iter().any(|name| name.starts_with("sdk:core/calls@")), *kind == Kind::Bare);
        }
        // The order in which components beside the engine's are named may differ.
        assert_eq!(made[1].len(), handler.len());
        let bare = tenon_rewrite::inner_handler(&made[2]);
        assert_eq!(bare.len(), made[0].len());
        assert!(*bare == tenon_compose::rewrap(&made[2], Kind::Bare).unwrap());
        assert!(tenon_compose::compose(&handler, tenon_compose::BRIDGE).unwrap() == made[2]);
    }
}
