" SPDX-License-Identifier: MIT
" Colours without a tree-sitter parser.
if exists("b:current_syntax")
  finish
endif
syntax iskeyword 33-39,42-58,60-126,192-255
syntax match glenHead "(\@1<=[^ \t()\";:?$]\+"
syntax keyword glenType f16 f32 f64 bf16 i8 u8 i16 u16 i32 u32 i64 bool
syntax match glenNumber "\v[( \t]@1<=-?(\d+(\.\d*)?([eE][-+]?\d+)?|inf|nan)\ze[ \t()]"
syntax match glenVariable "[?$][^ \t()\";]\+"
syntax match glenClause "[( \t]\@1<=:[^ \t()\";]\+"
syntax match glenArrow "\v\s@1<=\<?\=\>\ze\s"
syntax region glenString start=+"+ skip=+\\.+ end=+"+
syntax match glenComment ";.*$"
highlight default link glenHead Function
highlight default link glenType Type
highlight default link glenNumber Number
highlight default link glenVariable Identifier
highlight default link glenClause Keyword
highlight default link glenArrow Operator
highlight default link glenString String
highlight default link glenComment Comment
let b:current_syntax = "glen_target"
