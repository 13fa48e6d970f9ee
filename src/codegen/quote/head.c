/* SPDX-License-Identifier: MIT */
/* head.c - heads of loops. */
#include "codegen/quote/reader.h"
#include <string.h>

/* `int k = 0`, and what is declared beside it; or `k = 0`. */
static void
read_first(cg_reader *r, cg_for *head) {
  if (!cg_begins_type(cg_read_space(r))) {
    head->iterator = cg_read_word(r);
    cg_expect(r, "=");
    head->first = cg_read_expr(r);
    cg_expect(r, ";");
    return;
  }
  cg_node *n = cg_read_declaration(r);
  head->type = n->let.type;
  head->iterator = n->let.name;
  head->first = n->let.value;
  if (n->next)
    head->beside = n->next->let.name;
}

/* k++ or k += 2, and t++ besides; or nothing: the body does it. */
static void
read_step(cg_reader *r, cg_for *head) {
  if (cg_take(r, ")"))
    return;
  const char *name = cg_read_word(r);
  head->iterator = name;
  if (cg_take(r, "++")) {
    head->step = 1;
  } else {
    cg_expect(r, "+=");
    const cg_expr *by = cg_read_expr(r);
    if (by->kind == CG_NUMBER && by->number > 1)
      head->step = by->number;
    else
      head->by = by;
  }
  if (cg_take(r, ",")) {
    head->also = cg_read_word(r);
    cg_expect(r, "++");
  }
  cg_expect(r, ")");
}

cg_node *
cg_read_for(cg_reader *r) {
  cg_node *n = cg_node_new(r->arena, CG_FOR);
  cg_expect(r, "(");
  if (!cg_take(r, ";"))
    read_first(r, &n->head);
  n->head.condition = cg_read_expr(r);
  cg_expect(r, ";");
  read_step(r, &n->head);
  return n;
}
