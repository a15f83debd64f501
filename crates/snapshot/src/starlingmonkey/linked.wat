;; Calls to WebAssembly modules that the handler imports. `linked.rs` has the reason.
(module
  (import "engine" "tenon-modules" (table $modules 1 funcref))
  (import "sdk:core/calls@" "start"
    (func $start (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))

  (func (export "start") (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
    ;; No method is that long.
    (if (i32.eq (local.get 1) (i32.const -1))
      (then
        (call_indirect $modules (param i32 i32 i32 i32 i32) (result i32 i32)
          (local.get 0) (local.get 2) (local.get 3) (local.get 4) (local.get 5)
          (i32.const 0))
        drop
        return))
    (call $start
      (local.get 0) (local.get 1) (local.get 2) (local.get 3) (local.get 4) (local.get 5)
      (local.get 6) (local.get 7) (local.get 8) (local.get 9) (local.get 10))))
