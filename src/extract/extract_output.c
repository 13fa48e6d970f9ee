/* SPDX-License-Identifier: MIT */
/* extract_output.c - a solution as text or JSON, terms before those that use
 * them. */
#include "extract/internal.h"
#include "base/json.h"
#include <assert.h>

static void
put_name(bs_text *out, const char *const *names, uint32_t index) {
  if (names)
    bs_put(out, names[index]);
  else
    bs_putf(out, "%u", index);
}

static void
put_text(const ex_problem *p, const ex_solution *s, const uint32_t *order,
         uint32_t n, bs_text *out) {
  bs_put(out, "dag cost ");
  bs_put_real(out, s->dag_cost);
  bs_put(out, ", tree cost ");
  bs_put_real(out, s->tree_cost);
  if (s->optimal) {
    bs_put(out, ", optimal\n");
  } else {
    bs_put(out, ", bound ");
    bs_put_real(out, s->bound);
    bs_putc(out, '\n');
  }
  for (uint32_t i = 0; i < n; i++) {
    uint32_t node = s->choice[order[i]];
    put_name(out, p->class_names, order[i]);
    bs_put(out, " = ");
    put_name(out, p->node_names, node);
    bs_put(out, "  ; ");
    bs_put_real(out, p->cost[node]);
    bs_putc(out, '\n');
  }
}

static const char *
name_in(bs_text *scratch, const char *const *names, uint32_t index) {
  bs_text_clear(scratch);
  put_name(scratch, names, index);
  return bs_text_str(scratch);
}

static void
put_json(const ex_problem *p, const ex_solution *s, const uint32_t *order,
         uint32_t n, bs_text *out) {
  bs_json j;
  bs_text class, node;
  bs_text_init(&class, p->heap);
  bs_text_init(&node, p->heap);
  bs_json_init(&j, out, 2);
  bs_json_object(&j, NULL);
  bs_json_int(&j, "schema", 1);
  bs_json_bool(&j, "feasible", s->feasible);
  bs_json_bool(&j, "optimal", s->optimal);
  bs_json_real(&j, "dag_cost", s->dag_cost);
  bs_json_real(&j, "tree_cost", s->tree_cost);
  bs_json_real(&j, "bound", s->bound);
  bs_json_object(&j, "choices");
  for (uint32_t i = 0; i < n; i++)
    bs_json_string(&j, name_in(&class, p->class_names, order[i]),
                   name_in(&node, p->node_names, s->choice[order[i]]));
  bs_json_end(&j);
  bs_json_end(&j);
  bs_putc(out, '\n');
  bs_text_done(&node);
  bs_text_done(&class);
}

void
ex_put_solution(const ex_problem *p, const ex_solution *s, bool json,
                bs_text *out) {
  assert(s->choice);
  uint32_t *order = EX_NEW(p->heap, uint32_t, p->n_classes);
  uint32_t n = s->feasible ? ex_order(p, s->choice, order) : 0;
  if (json)
    put_json(p, s, order, n, out);
  else if (s->feasible)
    put_text(p, s, order, n, out);
  else
    bs_put(out, "no finite, acyclic term\n");
  bs_free(p->heap, order);
}
