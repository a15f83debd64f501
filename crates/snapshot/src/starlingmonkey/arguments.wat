;; The arguments of a call in one block. `arguments.rs` has the reason.
;;
;; The block has 16,384 bytes. Its first word is 1 when an argument did not fit, and the first piece is at 8.
(module
  (import "engine" "memory" (memory 0))
  (import "engine" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "engine" "cabi_post_sdk:core/handler@0.1.0#handle" (func $post (param i32)))

  ;; Address of the block; 0 until the first use.
  (global $block (mut i32) (i32.const 0))
  ;; First free byte of the block.
  (global $free (mut i32) (i32.const 0))
  ;; 1 when no call is running. Allocations are arguments then. During a call they may be results of imports, which the
  ;; engine frees.
  (global $between (mut i32) (i32.const 1))

  ;; Marks the whole block as free, and everything as fitting.
  (func $empty
    (global.set $free (i32.add (global.get $block) (i32.const 8)))
    (i32.store (global.get $block) (i32.const 0)))

  ;; Begins a call.
  (func (export "begin")
    (global.set $between (i32.const 0)))

  ;; Ends a call, and frees its response.
  (func (export "end") (param $response i32)
    (call $post (local.get $response))
    (global.set $between (i32.const 1))
    (if (global.get $block) (then (call $empty))))

  (func (export "realloc") (param $old i32) (param $old_size i32) (param $alignment i32) (param $size i32) (result i32)
    (local $piece i32)
    (if (global.get $between)
      (then
        (if (i32.eqz (global.get $block))
          (then
            (global.set $block (call $realloc (i32.const 0) (i32.const 0) (i32.const 8) (i32.const 16384)))
            (if (i32.eqz (global.get $block)) (then (unreachable)))
            (call $empty)))
        ;; A new allocation, or a piece of the block.
        (if (i32.or
              (i32.eqz (local.get $old))
              (i32.lt_u (i32.sub (local.get $old) (global.get $block)) (i32.const 16384)))
          (then
            (local.set $piece
              (i32.and
                (i32.sub (i32.add (global.get $free) (local.get $alignment)) (i32.const 1))
                (i32.sub (i32.const 0) (local.get $alignment))))
            ;; Signed comparison: sizes beyond 2 GiB are negative and never fit.
            (if (i32.and
                  (i32.ge_s
                    (i32.sub (i32.add (global.get $block) (i32.const 16384)) (local.get $piece))
                    (local.get $size))
                  (i32.ge_s (local.get $size) (i32.const 0)))
              (then
                (global.set $free (i32.add (local.get $piece) (local.get $size))))
              (else
                (i32.store (global.get $block) (i32.const 1))
                (global.set $free (i32.add (global.get $block) (i32.const 16384)))
                (local.set $piece
                  (call $realloc (i32.const 0) (i32.const 0) (local.get $alignment) (local.get $size)))))
            ;; A resized piece keeps its content.
            (if (local.get $old)
              (then
                (memory.copy (local.get $piece) (local.get $old)
                  (select (local.get $old_size) (local.get $size)
                    (i32.lt_u (local.get $old_size) (local.get $size))))))
            (return (local.get $piece))))))
    (call $realloc (local.get $old) (local.get $old_size) (local.get $alignment) (local.get $size))))
