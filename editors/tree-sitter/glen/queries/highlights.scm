; SPDX-License-Identifier: MIT
(comment) @comment
(string) @string
(escape) @string.escape
(number) @number
(boolean) @boolean
(keyword) @property
["(" ")"] @punctuation.bracket

; A list's head is what is done, but for forms.
(list head: (symbol) @keyword
  (#any-of? @keyword "tensor" "const" "let" "output" "define"))
(list head: (symbol) @function
  (#not-any-of? @function "tensor" "const" "let" "output" "define" "compute"))
(list . (symbol) @keyword . (symbol) @variable
  (#any-of? @keyword "tensor" "const" "let" "output" "define"))
(list head: (symbol) @function.builtin
  (#eq? @function.builtin "compute"))
(list . (symbol) @_compute . (symbol) @function
  (#eq? @_compute "compute"))

(list (symbol) @type.builtin
  (#any-of? @type.builtin "f16" "f32" "f64" "bf16" "i8" "u8" "i16" "u16"
   "i32" "bool"))
