;; Makes images smaller. A pixel is three bytes: red, green and blue.
(module
  ;; The caller puts the image at the start of the memory, and grows the memory to fit both images.
  (memory (export "memory") 1 1024)

  ;; Writes an image of another size. Each of its pixels is the average of the pixels that it covers.
  (func (export "resize")
    (param $from i32) (param $width i32) (param $height i32)
    (param $to i32) (param $new-width i32) (param $new-height i32)
    (local $x i32) (local $y i32) (local $left i32) (local $right i32) (local $top i32) (local $bottom i32)
    (loop $rows
      (local.set $top
        (i32.div_u (i32.mul (local.get $y) (local.get $height)) (local.get $new-height)))
      (local.set $bottom
        (call $beyond (local.get $top)
          (i32.div_u (i32.mul (i32.add (local.get $y) (i32.const 1)) (local.get $height)) (local.get $new-height))))
      (local.set $x (i32.const 0))
      (loop $columns
        (local.set $left
          (i32.div_u (i32.mul (local.get $x) (local.get $width)) (local.get $new-width)))
        (local.set $right
          (call $beyond (local.get $left)
            (i32.div_u (i32.mul (i32.add (local.get $x) (i32.const 1)) (local.get $width)) (local.get $new-width))))
        (call $average
          (local.get $from) (local.get $width) (local.get $to)
          (local.get $left) (local.get $right) (local.get $top) (local.get $bottom))
        (local.set $to (i32.add (local.get $to) (i32.const 3)))
        (local.set $x (i32.add (local.get $x) (i32.const 1)))
        (br_if $columns (i32.lt_u (local.get $x) (local.get $new-width))))
      (local.set $y (i32.add (local.get $y) (i32.const 1)))
      (br_if $rows (i32.lt_u (local.get $y) (local.get $new-height)))))

  ;; The end of a range that has at least one element.
  (func $beyond (param $start i32) (param $end i32) (result i32)
    (select
      (local.get $end)
      (i32.add (local.get $start) (i32.const 1))
      (i32.gt_u (local.get $end) (local.get $start))))

  ;; Writes the average of a part of an image as one pixel.
  (func $average
    (param $from i32) (param $width i32) (param $to i32)
    (param $left i32) (param $right i32) (param $top i32) (param $bottom i32)
    (local $y i32) (local $at i32) (local $end i32) (local $count i32)
    (local $red i32) (local $green i32) (local $blue i32)
    (local.set $y (local.get $top))
    (loop $rows
      (local.set $at (call $pixel (local.get $from) (local.get $width) (local.get $left) (local.get $y)))
      (local.set $end (call $pixel (local.get $from) (local.get $width) (local.get $right) (local.get $y)))
      (loop $columns
        (local.set $red (i32.add (local.get $red) (i32.load8_u (local.get $at))))
        (local.set $green (i32.add (local.get $green) (i32.load8_u offset=1 (local.get $at))))
        (local.set $blue (i32.add (local.get $blue) (i32.load8_u offset=2 (local.get $at))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (local.set $at (i32.add (local.get $at) (i32.const 3)))
        (br_if $columns (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $y (i32.add (local.get $y) (i32.const 1)))
      (br_if $rows (i32.lt_u (local.get $y) (local.get $bottom))))
    (i32.store8 (local.get $to) (i32.div_u (local.get $red) (local.get $count)))
    (i32.store8 offset=1 (local.get $to) (i32.div_u (local.get $green) (local.get $count)))
    (i32.store8 offset=2 (local.get $to) (i32.div_u (local.get $blue) (local.get $count))))

  ;; The address of a pixel.
  (func $pixel (param $from i32) (param $width i32) (param $x i32) (param $y i32) (result i32)
    (i32.add
      (local.get $from)
      (i32.mul (i32.const 3) (i32.add (local.get $x) (i32.mul (local.get $y) (local.get $width)))))))
