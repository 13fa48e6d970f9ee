; SPDX-License-Identifier: MIT
; Written by scripts/make-highlights.
(comment) @comment
(string) @string
(escape) @string.escape
(number) @number
(boolean) @boolean
(keyword) @property
["(" ")"] @punctuation.bracket

; The head of a list says what is done, except in forms.
(list head: (symbol) @keyword
  (#any-of? @keyword "target" "instr" "mac" "set" "default" "include" "prelude-file"
    "params" "operands" "result" "semantics" "where" "layout" "cost"
    "queue" "memory" "emit"))
(list head: (symbol) @function
  (#not-any-of? @function "target" "instr" "mac" "set" "default" "include" "prelude-file"
    "params" "operands" "result" "semantics" "where" "layout" "cost"
    "queue" "memory" "emit" "compute"))
(list . (symbol) @keyword . (symbol) @variable
  (#any-of? @keyword "target" "instr" "mac" "memory" "set" "default"))
(list head: (symbol) @function.builtin
  (#eq? @function.builtin "compute"))
(list . (symbol) @_compute . (symbol) @function
  (#eq? @_compute "compute"))

(list (symbol) @type.builtin
  (#any-of? @type.builtin "f16" "f32" "f64" "bf16" "i8" "u8" "i16" "u16" "i32" "u32" "i64"
    "bool"))
(parameter) @constant
