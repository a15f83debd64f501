;; Waiting without resources of the host. `poll.rs` has the reason.
;;
;; A handle from $FIRST on is a timer: the index of its deadline in the table. $ENDED is the timer that stands for the
;; end of any call. All others are the host's.
(module
  (import "engine" "memory" (memory 0))
  (import "engine" "cabi_realloc" (func $realloc (param i32 i32 i32 i32) (result i32)))
  (import "wasi:clocks/monotonic-clock@" "now" (func $now (result i64)))
  (import "wasi:clocks/monotonic-clock@" "subscribe-instant" (func $host_subscribe (param i64) (result i32)))
  (import "wasi:io/poll@" "poll" (func $host_poll (param i32 i32 i32)))
  (import "wasi:io/poll@" "[resource-drop]pollable" (func $host_drop (param i32)))
  (import "sdk:core/calls@" "wait" (func $wait (param i32) (result i32)))

  ;; Deadlines of timers in nanoseconds; 0 is a free entry. $hint is a lower bound of the free entries.
  (global $table (mut i32) (i32.const 0))
  (global $capacity (mut i32) (i32.const 0))
  (global $hint (mut i32) (i32.const 0))

  (func $allocate (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (call $realloc (i32.const 0) (i32.const 0) (i32.const 8) (local.get $size)))
    (if (i32.eqz (local.get $at)) (then (unreachable)))
    (local.get $at))

  (func $free (param $at i32)
    (drop (call $realloc (local.get $at) (i32.const 8) (i32.const 8) (i32.const 0))))

  (func $deadline_at (param $place i32) (result i32)
    (i32.add (global.get $table) (i32.shl (local.get $place) (i32.const 3))))

  ;; Doubles the table, which first gets 16 entries.
  (func $grow
    (local $size i32) (local $table i32)
    (local.set $size (i32.shl (global.get $capacity) (i32.const 3)))
    (local.set $table (call $allocate (select (i32.shl (local.get $size) (i32.const 1)) (i32.const 128) (local.get $size))))
    (memory.copy (local.get $table) (global.get $table) (local.get $size))
    (memory.fill (i32.add (local.get $table) (local.get $size)) (i32.const 0)
      (select (local.get $size) (i32.const 128) (local.get $size)))
    (if (local.get $size) (then (call $free (global.get $table))))
    (global.set $table (local.get $table))
    (global.set $capacity (select (i32.shl (global.get $capacity) (i32.const 1)) (i32.const 16) (local.get $size))))

  (func $subscribe (export "subscribe-instant") (param $when i64) (result i32)
    (local $place i32)
    ;; Longer than any timer of a handler (own-timers.ts): the timer of glue.ts.
    (if (i64.ge_s (i64.sub (local.get $when) (call $now)) (i64.const 2147482647000000))
      (then (return (i32.const 0x5fffffff))))
    (local.set $place (global.get $hint))
    (block $found
      (loop $next
        (if (i32.eq (local.get $place) (global.get $capacity)) (then (call $grow)))
        (br_if $found (i64.eqz (i64.load (call $deadline_at (local.get $place)))))
        (local.set $place (i32.add (local.get $place) (i32.const 1)))
        (br $next)))
    (i64.store (call $deadline_at (local.get $place))
      (select (local.get $when) (i64.const 1) (i64.ne (local.get $when) (i64.const 0))))
    (global.set $hint (i32.add (local.get $place) (i32.const 1)))
    (i32.add (i32.const 0x60000000) (local.get $place)))

  (func (export "subscribe-duration") (param $duration i64) (result i32)
    (call $subscribe (i64.add (call $now) (local.get $duration))))

  (func (export "drop") (param $handle i32)
    (local $place i32)
    (if (i32.eq (local.get $handle) (i32.const 0x5fffffff)) (then (return)))
    (local.set $place (i32.sub (local.get $handle) (i32.const 0x60000000)))
    (if (i32.lt_u (local.get $place) (global.get $capacity))
      (then
        (i64.store (call $deadline_at (local.get $place)) (i64.const 0))
        (if (i32.lt_u (local.get $place) (global.get $hint)) (then (global.set $hint (local.get $place)))))
      (else (call $host_drop (local.get $handle)))))

  (func $handle_at (param $list i32) (param $index i32) (result i32)
    (i32.load (i32.add (local.get $list) (i32.shl (local.get $index) (i32.const 2)))))

  ;; Writes the result of `poll`: a list with one index, which the engine frees.
  (func $answer (param $result i32) (param $index i32)
    (local $list i32)
    (local.set $list (call $allocate (i32.const 4)))
    (i32.store (local.get $list) (local.get $index))
    (i32.store (local.get $result) (local.get $list))
    (i32.store offset=4 (local.get $result) (i32.const 1)))

  ;; Returns the lowest index that is ready, because the engine takes one at a time.
  (func (export "poll") (param $list i32) (param $count i32) (param $result i32)
    (local $index i32) (local $place i32) (local $when i64) (local $now i64) (local $deadline i64)
    (local $expired i32) (local $ended i32) (local $real i32) (local $timeout i32)
    (loop $again
      (local.set $now (call $now))
      (local.set $deadline (i64.const -1))
      (local.set $expired (i32.const -1))
      (local.set $ended (i32.const -1))
      (local.set $real (i32.const 0))
      (local.set $index (i32.const 0))
      (block $read
        (loop $next
          (br_if $read (i32.eq (local.get $index) (local.get $count)))
          (local.set $place
            (i32.sub (call $handle_at (local.get $list) (local.get $index)) (i32.const 0x60000000)))
          (if (i32.eq (local.get $place) (i32.const -1))
            (then (local.set $ended (local.get $index)))
            (else
              (if (i32.lt_u (local.get $place) (global.get $capacity))
                (then
                  (local.set $when (i64.load (call $deadline_at (local.get $place))))
                  (if (i64.lt_u (local.get $when) (local.get $deadline)) (then (local.set $deadline (local.get $when))))
                  (if (i32.and (i32.lt_s (local.get $expired) (i32.const 0)) (i64.le_u (local.get $when) (local.get $now)))
                    (then (local.set $expired (local.get $index)))))
                (else (local.set $real (i32.add (local.get $real) (i32.const 1)))))))
          (local.set $index (i32.add (local.get $index) (i32.const 1)))
          (br $next)))
      ;; A call may have ended before a timer with a higher index. `lt_u` also holds for -1, which means none.
      (if (i32.and (i32.ge_s (local.get $ended) (i32.const 0)) (i32.lt_u (local.get $ended) (local.get $expired)))
        (then
          (if (i32.or (local.get $real) (i32.ge_s (local.get $expired) (i32.const 0)))
            (then
              (if (call $wait (i32.const 0)) (then (local.set $expired (local.get $ended))))))))
      (if (local.get $real)
        (then
          (local.set $index
            (call $among_real (local.get $list) (local.get $count) (local.get $real) (local.get $expired)
              (if (result i64) (i32.lt_s (local.get $ended) (i32.const 0))
                (then (local.get $deadline))
                (else
                  ;; The host's handles do not show that a call ended, so running calls are checked each millisecond.
                  (select (local.get $deadline) (i64.add (local.get $now) (i64.const 1000000))
                    (i64.lt_u (local.get $deadline) (i64.add (local.get $now) (i64.const 1000000))))))))
          (br_if $again (i32.lt_s (local.get $index) (i32.const 0)))
          (call $answer (local.get $result) (local.get $index))
          (return)))
      (if (i32.ge_s (local.get $expired) (i32.const 0))
        (then
          (call $answer (local.get $result) (local.get $expired))
          (return)))
      ;; Microseconds, rounded up; all ones means no limit.
      (local.set $timeout
        (if (result i32) (i64.eq (local.get $deadline) (i64.const -1))
          (then (i32.const -1))
          (else
            (local.set $when
              (i64.div_u (i64.add (i64.sub (local.get $deadline) (local.get $now)) (i64.const 999)) (i64.const 1000)))
            (select (i32.wrap_i64 (local.get $when)) (i32.const -2) (i64.lt_u (local.get $when) (i64.const 0xfffffffe))))))
      (if (i32.lt_s (local.get $ended) (i32.const 0))
        (then
          ;; With nothing to wait for, it would wait forever.
          (if (i32.eq (local.get $timeout) (i32.const -1)) (then (unreachable)))
          ;; A call that has ended and that no one waits for must not make this spin.
          (if (call $wait (local.get $timeout)) (then (call $sleep (local.get $deadline)))))
        (else
          (if (i32.or (call $wait (local.get $timeout)) (i32.eq (local.get $timeout) (i32.const -1)))
            (then
              (call $answer (local.get $result) (local.get $ended))
              (return)))))
      (br $again)))

  ;; Waits until an instant with a timer of the host.
  (func $sleep (param $deadline i64)
    (local $list i32)
    (local.set $list (call $allocate (i32.const 16)))
    (i32.store offset=8 (local.get $list) (call $host_subscribe (local.get $deadline)))
    (call $host_poll (i32.add (local.get $list) (i32.const 8)) (i32.const 1) (local.get $list))
    (call $host_drop (i32.load offset=8 (local.get $list)))
    (call $free (i32.load (local.get $list)))
    (call $free (local.get $list)))

  ;; Polls the host's handles in a list, until a deadline at most. Only checks them when an index is ready already.
  ;; Returns the lowest ready index, or -1 for none.
  (func $among_real (param $list i32) (param $count i32) (param $real i32) (param $ready i32) (param $deadline i64) (result i32)
    (local $scratch i32) (local $index i32) (local $next i32) (local $handle i32) (local $polled i32) (local $lowest i32)
    ;; Memory for the host's result, the handles, and the timer after them.
    (local.set $scratch (call $allocate (i32.add (i32.const 12) (i32.shl (local.get $real) (i32.const 2)))))
    (local.set $next (i32.add (local.get $scratch) (i32.const 8)))
    (block $copied
      (loop $each
        (br_if $copied (i32.eq (local.get $index) (local.get $count)))
        (local.set $handle (call $handle_at (local.get $list) (local.get $index)))
        (if (call $is_real (local.get $handle))
          (then
            (i32.store (local.get $next) (local.get $handle))
            (local.set $next (i32.add (local.get $next) (i32.const 4)))))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $each)))
    (local.set $polled (local.get $real))
    (if (i32.or (i32.ge_s (local.get $ready) (i32.const 0)) (i64.ne (local.get $deadline) (i64.const -1)))
      (then
        (i32.store (local.get $next)
          (call $host_subscribe
            (select (i64.const 0) (local.get $deadline) (i32.ge_s (local.get $ready) (i32.const 0)))))
        (local.set $polled (i32.add (local.get $real) (i32.const 1)))))
    (call $host_poll (i32.add (local.get $scratch) (i32.const 8)) (local.get $polled) (local.get $scratch))
    (if (i32.ne (local.get $polled) (local.get $real)) (then (call $host_drop (i32.load (local.get $next)))))
    ;; The lowest of the host's indices, then its index in the list.
    (local.set $lowest (i32.const -1))
    (local.set $next (i32.load (local.get $scratch)))
    (local.set $index (i32.load offset=4 (local.get $scratch)))
    (block $found
      (loop $each
        (br_if $found (i32.eqz (local.get $index)))
        (if (i32.lt_u (i32.load (local.get $next)) (local.get $lowest))
          (then (local.set $lowest (i32.load (local.get $next)))))
        (local.set $next (i32.add (local.get $next) (i32.const 4)))
        (local.set $index (i32.sub (local.get $index) (i32.const 1)))
        (br $each)))
    (call $free (i32.load (local.get $scratch)))
    (call $free (local.get $scratch))
    (if (i32.ge_u (local.get $lowest) (local.get $real)) (then (return (local.get $ready))))
    (local.set $index (i32.const -1))
    (loop $each
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $each (i32.eqz (call $is_real (call $handle_at (local.get $list) (local.get $index)))))
      (local.set $lowest (i32.sub (local.get $lowest) (i32.const 1)))
      (br_if $each (i32.ge_s (local.get $lowest) (i32.const 0))))
    ;; As an unsigned number, -1 is the largest.
    (select (local.get $index) (local.get $ready) (i32.lt_u (local.get $index) (local.get $ready))))

  (func $is_real (param $handle i32) (result i32)
    (i32.and
      (i32.ne (local.get $handle) (i32.const 0x5fffffff))
      (i32.ge_u (i32.sub (local.get $handle) (i32.const 0x60000000)) (global.get $capacity)))))
