/* SPDX-License-Identifier: MIT */
/* datalayout_apply.c - the layouts that a search chose, given to a program.
 *
 * By the commands that show.c writes, each of which may be refused.  An array
 * of the program's own, a constant, or an input that is the same for all calls
 * gets its layout without a copy in the kernel; of any other input each
 * statement that reads it reads a copy.  What runs as a contraction packs its
 * operands itself and is left alone. */
#include "poly/datalayout/datalayout.h"
#include "poly/search/chooser.h"

void
po_layout_leave_some(po_layout_model *m) {
  int64_t room = m->cache.line * m->cache.sets * m->cache.ways;
  for (uint32_t k = 0; k < m->arrays.len; k++) {
    po_layout_array *a = &m->arrays.data[k];
    a->movable = a->movable && gs_prod(a->dim, a->rank) > room / a->bytes;
  }
}

static po_arg
array_arg(const po_layout_array *a) {
  return (po_arg){.kind = PO_ARG_ARRAY, .array = a->program};
}

static po_arg
text_arg(po_arg_kind kind, const char *text) {
  return (po_arg){.kind = kind, .word = text};
}

static bool
transform(po_chooser *c, const po_layout_array *a, const char *map) {
  po_step_call call = po_step("transform_layout");
  call.args[0] = array_arg(a);
  call.args[1] = text_arg(PO_ARG_TEXT, map);
  return po_attempt(c, &call, NULL);
}

/* Copies are made by loops of their own, the last statement's. */
static void
share_copy(po_chooser *c) {
  const po_program *p = po_now(c);
  uint32_t root = po_root_of(p, p->stmts.len - 1);
  if (root == PO_NO_NODE || po_node(p, root)->kind != PO_LOOP ||
      !po_threads_are_profitable(p, root))
    return;
  po_step_call call = po_step("parallel");
  call.args[0] = po_loop_arg(root);
  po_attempt(c, &call, NULL);
}

static bool
pack(po_chooser *c, uint32_t stmt, const po_layout_array *a, const char *map) {
  uint32_t n = po_now(c)->stmts.len;
  po_step_call call = po_step("pack");
  call.args[0] =
      (po_arg){.kind = PO_ARG_STMT, .stmt = stmt, .array = PO_NO_NODE};
  call.args[1] = array_arg(a);
  call.args[2] = text_arg(PO_ARG_TEXT, map);
  call.args[3] = text_arg(PO_ARG_WORD, "global");
  if (!po_attempt(c, &call, NULL))
    return false;
  if (po_now(c)->stmts.len > n)
    share_copy(c);
  return true;
}

/* The statements that read the array now, by name: numbers change. */
static uint32_t
pack_for_all(po_chooser *c, const po_layout_array *a, const char *map) {
  uint32_t done = 0, n = po_now(c)->stmts.len;
  const char **names = bs_calloc(po_now(c)->ctx.heap, n, sizeof *names);
  bs_arena arena;
  bs_arena_init(&arena, po_now(c)->ctx.heap);
  for (uint32_t k = 0; k < n; k++)
    if (po_stmt_reads(&po_now(c)->stmts.data[k], a->program))
      names[k] = bs_arena_strdup(&arena, po_now(c)->stmts.data[k].name);
  for (uint32_t k = 0; k < n; k++)
    if (names[k])
      done += pack(c, po_stmt_named(po_now(c), names[k]), a, map);
  bs_arena_done(&arena);
  bs_free(po_now(c)->ctx.heap, names);
  return done;
}

uint32_t
po_layout_give(po_program **program, po_layout_model *m,
               const po_layout_search *s) {
  static const po_auto_options options = {.fuse = PO_FUSE_MIN};
  po_chooser c = {
      .program = program, .options = &options, .isl = (*program)->isl};
  uint32_t done = 0;
  for (uint32_t k = 0; k < m->arrays.len; k++) {
    const po_layout_array *a = &m->arrays.data[k];
    if (!s->layouts[k].n_steps)
      continue;
    bs_text map;
    bs_text_init(&map, (*program)->ctx.heap);
    po_layout_put_map(m, a, &s->layouts[k], &map);
    const char *text = bs_text_str(&map);
    done += a->own ? transform(&c, a, text) : pack_for_all(&c, a, text) > 0;
    bs_text_done(&map);
  }
  po_lay_out_now(&c);
  return done;
}
