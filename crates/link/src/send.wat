;; Copies from a memory into another one, 32 bytes at a time.
(module
  (import "module" "$MEMORY" (memory 0))
  (import "to" "put" (func $put (param i32 i64 i64 i64 i64)))
  (import "to" "put-byte" (func $put_byte (param i32 i32)))
  (func (export "send") (param $from i32) (param $to i32) (param $length i32)
    (block $short
      (loop $next
        (br_if $short (i32.lt_u (local.get $length) (i32.const 32)))
        (call $put (local.get $to)
          (i64.load align=1 (local.get $from))
          (i64.load offset=8 align=1 (local.get $from))
          (i64.load offset=16 align=1 (local.get $from))
          (i64.load offset=24 align=1 (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 32)))
        (local.set $to (i32.add (local.get $to) (i32.const 32)))
        (local.set $length (i32.sub (local.get $length) (i32.const 32)))
        (br $next)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $length)))
        (call $put_byte (local.get $to) (i32.load8_u (local.get $from)))
        (local.set $from (i32.add (local.get $from) (i32.const 1)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $length (i32.sub (local.get $length) (i32.const 1)))
        (br $next)))))
