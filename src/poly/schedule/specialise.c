/* SPDX-License-Identifier: MIT */
/* specialise.c - specialise: what runs in some iterations of the loops around
 * gets code of its own.
 *
 *   for i { for j { A } }
 *   for i { if (i >= 8) for j { A }  else for j_1 { A } }
 *
 * The condition speaks of the loops around a node, and of sizes, so that one of
 * the two copies runs in an iteration and the other one has nothing to do
 * there: no instance changes its place.  Each may then be scheduled by itself:
 * one in vectors, say, and the other not. */
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/schedule/schedule_edit.h"
#include <string.h>

enum { LONGEST_CONDITION = 400, MOST_NESTED = 16 };

static bool
refuse_condition(const po_program *p, const po_step_call *call) {
  po_refuse(p, call, "condition",
            "\"%.60s\" is not a condition on the loops around",
            call->args[1].word);
  bs_hint(p->ctx.diags, "like \"i >= 8 and (i + j) mod 2 = 0\", of loops "
                        "around the node, not of itself");
  return false;
}

/* Only what isl's syntax of a condition needs, not nested deeply. */
static bool
is_plain(const char *text) {
  uint32_t depth = 0;
  if (strlen(text) > LONGEST_CONDITION || strstr(text, "->"))
    return false;
  for (; *text; text++) {
    if (strchr("{}[]:;\"", *text))
      return false;
    depth += *text == '(';
    depth -= *text == ')' && depth > 0;
    if (depth > MOST_NESTED)
      return false;
  }
  return true;
}

/* { [t0, ..., t(n-1)] } where it holds; NULL where it is none. */
static __isl_give isl_set *
read_condition(const po_program *p, const char *condition,
               const uint32_t *loops, uint32_t n) {
  bs_text text;
  if (!is_plain(condition))
    return NULL;
  bs_text_init(&text, p->ctx.heap);
  bs_put(&text, "[");
  for (uint32_t k = 0; k < p->sizes.len; k++)
    bs_putf(&text, "%s%s", k ? ", " : "", p->sizes.data[k].name);
  bs_put(&text, "] -> { [");
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&text, "%s%s", k ? ", " : "", po_node(p, loops[k])->name);
  bs_putf(&text, "] : %s }", condition);
  isl_set *set = isl_set_read_from_str(p->isl, bs_text_str(&text));
  isl_ctx_reset_error(p->isl);
  bs_text_done(&text);
  return set;
}

/* Whether anything below the node runs with these values of the loops. */
static bool
runs_at(const po_program *p, uint32_t node, uint32_t n,
        __isl_keep isl_set *values) {
  for (uint32_t k = po_nest_first_leaf(p, node); k != PO_NO_NODE;
       k = po_nest_next_leaf(p, k, node)) {
    isl_map *time = po_prefix(&p->stmts.data[po_node(p, k)->stmt], n);
    time = isl_map_intersect_range(time, isl_set_copy(values));
    bool none = isl_map_is_empty(time) == isl_bool_true;
    isl_map_free(time);
    if (!none)
      return true;
  }
  return false;
}

static bool
divides(const po_program *p, const po_step_call *call, uint32_t node,
        uint32_t n, __isl_keep isl_set *holds, __isl_keep isl_set *fails) {
  bool some = runs_at(p, node, n, holds);
  if (some && runs_at(p, node, n, fails))
    return true;
  return po_refuse(p, call, "condition", "\"%.60s\" %s", call->args[1].word,
                   some ? "always holds" : "never holds");
}

static bool
find_names(po_program *p, po_step_call *call, uint32_t node,
           const char **names) {
  names[0] = names[1] = NULL;
  if (po_node(p, node)->kind != PO_LOOP)
    return !call->n_results ||
           po_refuse(p, call, "results", "copies of a statement are not loops");
  const char *wish = po_node(p, node)->name;
  po_give_up_name(p, node);
  names[0] = po_result_name(p, call, 0, wish);
  if (!names[0])
    return false;
  po_name_loop(p, node, names[0]);
  names[1] =
      po_result_name(p, call, 1, bs_arena_printf(&p->arena, "%s_1", wish));
  return names[1] != NULL;
}

bool
po_apply_specialise(po_program *p, po_step_call *call) {
  uint32_t node = call->args[0].kind == PO_ARG_STMT
                      ? p->stmts.data[call->args[0].stmt].leaf
                      : call->args[0].node;
  uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, node, loops);
  const char *names[2];
  isl_set *holds = read_condition(p, call->args[1].word, loops, n);
  if (!holds)
    return refuse_condition(p, call);
  po_pool_reserve(&p->pool, 2);
  holds = po_keep_set(&p->pool, holds);
  isl_set *fails =
      po_keep_set(&p->pool, isl_set_complement(isl_set_copy(holds)));
  if (!po_may_copy(p, call, node) || !divides(p, call, node, n, holds, fails) ||
      !find_names(p, call, node, names))
    return false;
  uint32_t copy =
      po_copy_part(p, node, po_node(p, node)->next, names[1], n, fails);
  po_keep_part(p, node, n, holds);
  if (names[0]) {
    po_made(call, node);
    po_made(call, copy);
  }
  po_forget_dependences(p);
  return true;
}
