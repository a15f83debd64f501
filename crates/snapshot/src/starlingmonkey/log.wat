;; Log lines as bytes, without a stream of the host. `log.rs` has the reason.
(module
  (import "engine" "memory" (memory 0))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $fd_fdstat_get (param i32 i32) (result i32)))
  (import "sdk:core/log@" "write" (func $write (param i32 i32 i32)))

  ;; Returns whether a file is standard output or standard error.
  (func $is_log (param $file i32) (result i32)
    (i32.lt_u (i32.sub (local.get $file) (i32.const 1)) (i32.const 2)))

  ;; The C library asks once whether it writes to a terminal. The answer is a writable file of unknown type.
  (func (export "fd_fdstat_get") (param $file i32) (param $status i32) (result i32)
    (if (i32.eqz (call $is_log (local.get $file)))
      (then (return (call $fd_fdstat_get (local.get $file) (local.get $status)))))
    (memory.fill (local.get $status) (i32.const 0) (i32.const 24))
    (i64.store offset=8 (local.get $status) (i64.const 64))
    (i32.const 0))

  ;; The file, the text's pieces and their number, and the address for the number of bytes written.
  (func (export "fd_write") (param $file i32) (param $pieces i32) (param $count i32) (param $written i32) (result i32)
    (local $length i32) (local $total i32)
    (if (i32.eqz (call $is_log (local.get $file)))
      (then
        (return (call $fd_write (local.get $file) (local.get $pieces) (local.get $count) (local.get $written)))))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $length (i32.load offset=4 (local.get $pieces)))
        (if (local.get $length)
          (then
            (call $write
              (i32.sub (local.get $file) (i32.const 1))
              (i32.load (local.get $pieces))
              (local.get $length))))
        (local.set $total (i32.add (local.get $total) (local.get $length)))
        (local.set $pieces (i32.add (local.get $pieces) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next)))
    (i32.store (local.get $written) (local.get $total))
    (i32.const 0)))
