;; The headers of a call's response in one block. `taken.rs` has the reason.
(module
  (import "engine" "memory" (memory 0))
  (import "engine" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "sdk:core/calls@" "take" (func $take (param i32)))

  (func $free (param $at i32) (param $size i32) (param $alignment i32)
    (drop (call $realloc (local.get $at) (local.get $size) (local.get $alignment) (i32.const 0))))

  ;; The result has a number and a response. Any other result stays unchanged.
  (func (export "take") (param $result i32)
    (local $list i32) (local $texts i32) (local $index i32) (local $size i32)
    (local $block i32) (local $at i32) (local $text i32) (local $length i32)
    (call $take (local.get $result))
    (if (i32.eqz (i32.load8_u (local.get $result))) (then (return)))
    (if (i32.load8_u offset=8 (local.get $result)) (then (return)))
    (local.set $list (i32.load offset=16 (local.get $result)))
    ;; Each header is two texts: its name and its value.
    (local.set $texts (i32.shl (i32.load offset=20 (local.get $result)) (i32.const 1)))
    ;; The block begins with its size and the lengths of all texts.
    (local.set $size (i32.add (i32.const 4) (i32.shl (local.get $texts) (i32.const 2))))
    (local.set $at (local.get $size))
    (block $measured
      (loop $next
        (br_if $measured (i32.eq (local.get $index) (local.get $texts)))
        (local.set $size
          (i32.add
            (local.get $size)
            (i32.load offset=4 (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 3))))))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $next)))
    (local.set $block (call $realloc (i32.const 0) (i32.const 0) (i32.const 4) (local.get $size)))
    (if (i32.eqz (local.get $block)) (then (unreachable)))
    (i32.store (local.get $block) (local.get $size))
    (local.set $at (i32.add (local.get $block) (local.get $at)))
    (local.set $index (i32.const 0))
    (block $moved
      (loop $next
        (br_if $moved (i32.eq (local.get $index) (local.get $texts)))
        (local.set $text (i32.load (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 3)))))
        (local.set $length
          (i32.load offset=4 (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 3)))))
        (i32.store offset=4
          (i32.add (local.get $block) (i32.shl (local.get $index) (i32.const 2)))
          (local.get $length))
        (if (local.get $length)
          (then
            (memory.copy (local.get $at) (local.get $text) (local.get $length))
            (call $free (local.get $text) (local.get $length) (i32.const 1))))
        (local.set $at (i32.add (local.get $at) (local.get $length)))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $next)))
    (if (local.get $texts)
      (then (call $free (local.get $list) (i32.shl (local.get $texts) (i32.const 3)) (i32.const 4))))
    (i32.store offset=16 (local.get $result) (local.get $block))))
