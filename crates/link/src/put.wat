;; Writes into a memory for a module that has another one.
(module
  (import "module" "$MEMORY" (memory 0))
  (func (export "put") (param $at i32) (param i64 i64 i64 i64)
    (i64.store align=1 (local.get $at) (local.get 1))
    (i64.store offset=8 align=1 (local.get $at) (local.get 2))
    (i64.store offset=16 align=1 (local.get $at) (local.get 3))
    (i64.store offset=24 align=1 (local.get $at) (local.get 4)))
  (func (export "put-byte") (param $at i32) (param $byte i32)
    (i32.store8 (local.get $at) (local.get $byte)))
  (func (export "pages") (result i32) (memory.size))
  (func (export "grow") (param $pages i32) (result i32) (memory.grow (local.get $pages))))
