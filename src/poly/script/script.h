/* SPDX-License-Identifier: MIT */
/* script.h - a script while it is read and run (script*.c). */
#ifndef POLY_SCHEDULE_SCRIPT_H
#define POLY_SCHEDULE_SCRIPT_H

#include "poly/schedule/change.h"
#include "poly/script/token.h"
#include <assert.h>
#include <string.h>

typedef enum po_item_kind {
  PO_I_COMMAND,
  PO_I_ASSERT,
  PO_I_PRINT,
  PO_I_TRY,  /* jump: to behind the block, where `else` begins */
  PO_I_ELSE, /* reached when the block succeeded; jump: to behind the else block
              */
  PO_I_DONE  /* end of the try block without else, or of the else block */
} po_item_kind;

typedef struct po_item {
  po_item_kind kind;
  uint32_t lo, hi; /* tokens */
  uint32_t jump;   /* item */
} po_item;

/* A block that is being read or run. */
typedef struct po_script_block {
  uint32_t item;
  bool is_else;
  po_program *before; /* running: what to go back to */
  size_t printed;
  uint32_t diags, errors, warnings;
  bool dropped;
} po_script_block;

enum { PO_DEEPEST = 64 };

typedef struct po_script_run {
  po_program **program;
  bs_heap *heap;
  bs_arena *arena;
  bs_diags *diags;
  uint32_t source;
  bs_text *out;
  po_sched_tokens tokens;
  BS_VEC(po_item) items;
  po_script_block blocks[PO_DEEPEST];
  uint32_t depth;
  bool ok, explain;
} po_script_run;

static inline const po_sched_token *
po_tok(const po_script_run *s, uint32_t k) {
  assert(k < s->tokens.list.len);
  return &s->tokens.list.data[k];
}

static inline bool
po_is_mark(const po_sched_token *t, const char *mark) {
  return t->kind == PO_ST_MARK && !strcmp(t->word, mark);
}

static inline bool
po_is_name(const po_sched_token *t, const char *word) {
  return t->kind == PO_ST_WORD && !strcmp(t->word, word);
}

static inline bool
po_script_fault(po_script_run *s, uint32_t k, const char *what) {
  return bs_error(s->diags, po_tok(s, k)->span, "syntax", "%s", what);
}

/* script_read.c: the items of all tokens; false with a diagnostic. */
bool po_read_items(po_script_run *);
/* Behind `a, b =`; lo where no names stand in front. */
uint32_t po_behind_names(const po_script_run *, uint32_t lo, uint32_t hi);
/* script_args.c: what a command is given, by tokens [lo, hi) behind its name;
 * names are looked up in the program as it is now. */
bool po_read_args(po_script_run *, uint32_t lo, uint32_t hi, po_step_call *);

/* The table of axes, then every loop with its axis, then every statement's
 * axes. */
void po_print_loop_axes(const po_program *, bs_text *out);

#endif
