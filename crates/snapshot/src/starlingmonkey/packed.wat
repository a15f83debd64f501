;; Texts that the host passes, in one block. `packed.rs` has the reason.
(module
  (import "engine" "memory" (memory 0))
  (import "engine" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "sdk:core/calls@" "take" (func $take (param i32)))
  (import "wasi:cli/environment@" "get-environment" (func $get_environment (param i32)))

  (func $free (param $at i32) (param $size i32) (param $alignment i32)
    (drop (call $realloc (local.get $at) (local.get $size) (local.get $alignment) (i32.const 0))))

  ;; Moves the texts of a list of pairs into a block, and frees them and the list. Returns the block. It has some empty
  ;; bytes after its size.
  (func $pack (param $list i32) (param $pairs i32) (param $empty i32) (result i32)
    (local $texts i32) (local $index i32) (local $size i32)
    (local $block i32) (local $at i32) (local $text i32) (local $length i32)
    ;; Each pair is two texts: a name and a value.
    (local.set $texts (i32.shl (local.get $pairs) (i32.const 1)))
    ;; Before the texts are the size, the empty bytes and the lengths of all texts.
    (local.set $size
      (i32.add (i32.add (local.get $empty) (i32.const 4)) (i32.shl (local.get $texts) (i32.const 2))))
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
    (memory.fill (i32.add (local.get $block) (i32.const 4)) (i32.const 0) (local.get $empty))
    (local.set $at (i32.add (local.get $block) (local.get $at)))
    (local.set $index (i32.const 0))
    (block $moved
      (loop $next
        (br_if $moved (i32.eq (local.get $index) (local.get $texts)))
        (local.set $text (i32.load (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 3)))))
        (local.set $length
          (i32.load offset=4 (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 3)))))
        (i32.store offset=4
          (i32.add
            (i32.add (local.get $block) (local.get $empty))
            (i32.shl (local.get $index) (i32.const 2)))
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
    (local.get $block))

  ;; The result has a number and a response. Any other result stays unchanged.
  (func (export "take") (param $result i32)
    (call $take (local.get $result))
    (if (i32.eqz (i32.load8_u (local.get $result))) (then (return)))
    (if (i32.load8_u offset=8 (local.get $result)) (then (return)))
    (i32.store offset=16 (local.get $result)
      (call $pack (i32.load offset=16 (local.get $result)) (i32.load offset=20 (local.get $result))
        (i32.const 0))))

  ;; Returns whether a text is `TENON_REQUEST_SCHEME`.
  (func $is_scheme (param $text i32) (param $length i32) (result i32)
    (if (i32.ne (local.get $length) (i32.const 20)) (then (return (i32.const 0))))
    (if (i64.ne (i64.load (local.get $text)) (i64.const 0x45525f4e4f4e4554)) (then (return (i32.const 0))))
    (if (i64.ne (i64.load offset=8 (local.get $text)) (i64.const 0x43535f5453455551)) (then (return (i32.const 0))))
    (i32.eq (i32.load offset=16 (local.get $text)) (i32.const 0x454d4548)))

  ;; Returns whether a text is `TENON_REQUEST_HOST`.
  (func $is_host (param $text i32) (param $length i32) (result i32)
    (if (i32.ne (local.get $length) (i32.const 18)) (then (return (i32.const 0))))
    (if (i64.ne (i64.load (local.get $text)) (i64.const 0x45525f4e4f4e4554)) (then (return (i32.const 0))))
    (if (i64.ne (i64.load offset=8 (local.get $text)) (i64.const 0x4f485f5453455551)) (then (return (i32.const 0))))
    (i32.eq (i32.load16_u offset=16 (local.get $text)) (i32.const 0x5453)))

  ;; The empty bytes become the addresses and lengths of the scheme and the host of the request; 0 when there is none.
  (func (export "get-environment") (param $result i32)
    (local $pairs i32) (local $block i32) (local $place i32) (local $name i32) (local $value i32)
    (call $get_environment (local.get $result))
    (local.set $pairs (i32.load offset=4 (local.get $result)))
    (local.set $block (call $pack (i32.load (local.get $result)) (local.get $pairs) (i32.const 16)))
    (i32.store (local.get $result) (local.get $block))
    (local.set $place (i32.add (local.get $block) (i32.const 20)))
    (local.set $name (i32.add (local.get $place) (i32.shl (local.get $pairs) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $pairs)))
        (local.set $value (i32.add (local.get $name) (i32.load (local.get $place))))
        ;; Of several with one name, the first counts.
        (if (i32.eqz (i32.load offset=4 (local.get $block)))
          (then
            (if (call $is_scheme (local.get $name) (i32.load (local.get $place)))
              (then
                (i32.store offset=4 (local.get $block) (local.get $value))
                (i32.store offset=8 (local.get $block) (i32.load offset=4 (local.get $place)))))))
        (if (i32.eqz (i32.load offset=12 (local.get $block)))
          (then
            (if (call $is_host (local.get $name) (i32.load (local.get $place)))
              (then
                (i32.store offset=12 (local.get $block) (local.get $value))
                (i32.store offset=16 (local.get $block) (i32.load offset=4 (local.get $place)))))))
        (local.set $name (i32.add (local.get $value) (i32.load offset=4 (local.get $place))))
        (local.set $place (i32.add (local.get $place) (i32.const 8)))
        (local.set $pairs (i32.sub (local.get $pairs) (i32.const 1)))
        (br $next)))))
