/* SPDX-License-Identifier: MIT */
/* results.c - whole implementations as JSON: each strategy with all that its
 * program does.
 *
 * A result's groups are the nests of its program, in the order in which they
 * run.  A group that has loops is implemented by one step, or by two where a
 * reduction is cut among the cores, each an impl graph with its buffers; a
 * statement alone and a sum of products that runs as a kernel have none.  What
 * passes between groups are the arrays that one makes and others read. */
#include "poly/implgraph/hint.h"
#include "poly/kernel/contraction.h"
#include "poly/schedule/change.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <inttypes.h>
#include <string.h>

typedef struct teller {
  po_program *p; /* the result's, no loop given to cores */
  po_hints hints;
  po_graph_machine machine;
  bs_json *j;
} teller;

/* ---- what passes between groups ---- */

typedef enum use { READS, MAKES } use;

/* An update reads what it writes. */
static bool
does(const po_stmt *s, uint32_t array, use how) {
  return how == MAKES ? s->array == array
                      : po_stmt_reads(s, array) ||
                            (s->kind == PO_UPDATE && s->array == array);
}

static bool
uses(const po_program *p, uint32_t root, uint32_t array, use how) {
  for (uint32_t k = 0; k < p->stmts.len; k++)
    if (po_nest_root(p, p->stmts.data[k].leaf) == root &&
        does(&p->stmts.data[k], array, how))
      return true;
  return false;
}

static bool
is_own(const po_program *p, uint32_t root, uint32_t array) {
  assert(array < p->arrays.len);
  if (p->arrays.data[array].role != PO_LOCAL)
    return false;
  for (uint32_t k = po_node(p, 0)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next)
    if (k != root && (uses(p, k, array, READS) || uses(p, k, array, MAKES)))
      return false;
  return true;
}

static int64_t
bytes_of(const po_array *a) {
  int64_t bytes = gs_dtype_table[a->dtype].bytes;
  for (uint32_t d = 0; d < a->rank; d++)
    if (__builtin_mul_overflow(bytes, a->dim[d], &bytes))
      return INT64_MAX;
  return bytes;
}

/* The last group before this one that makes the array; -1: it comes from
 * outside, or from this group alone. */
static int64_t
maker_of(const po_program *p, uint32_t root, uint32_t array) {
  int64_t number = 0, found = -1;
  for (uint32_t k = po_node(p, 0)->first; k != root; k = po_node(p, k)->next) {
    if (uses(p, k, array, MAKES))
      found = number;
    number++;
  }
  return found;
}

static void
tell_readers(const teller *t, uint32_t root, uint32_t array) {
  int64_t number = 0;
  bool after = false;
  bs_json_array(t->j, "to");
  for (uint32_t k = po_node(t->p, 0)->first; k != PO_NO_NODE;
       k = po_node(t->p, k)->next) {
    if (after && uses(t->p, k, array, READS))
      bs_json_int(t->j, NULL, number);
    after |= k == root;
    number++;
  }
  bs_json_end(t->j);
}

static void
tell_array(const teller *t, uint32_t root, uint32_t array, use how) {
  assert(array < t->p->arrays.len);
  const po_array *a = &t->p->arrays.data[array];
  int64_t maker = maker_of(t->p, root, array);
  bs_json_object(t->j, NULL);
  bs_json_string(t->j, "array", a->name);
  bs_json_int(t->j, "bytes", bytes_of(a));
  if (how == MAKES) {
    bs_json_bool(t->j, "output", a->role == PO_OUTPUT);
    tell_readers(t, root, array);
  } else if (maker >= 0) {
    bs_json_int(t->j, "from", maker);
  } else {
    bs_json_null(t->j, "from");
  }
  bs_json_end(t->j);
}

static void
tell_arrays(const teller *t, uint32_t root, use how) {
  bs_json_array(t->j, how == READS ? "reads" : "makes");
  for (uint32_t a = 0; a < t->p->arrays.len; a++) {
    bool inside = how == READS && maker_of(t->p, root, a) < 0 &&
                  uses(t->p, root, a, MAKES);
    if (!inside && uses(t->p, root, a, how) && !is_own(t->p, root, a))
      tell_array(t, root, a, how);
  }
  bs_json_end(t->j);
}

/* ---- how a group is done ---- */

static bool
has_kernel(const po_program *p, uint32_t root) {
  for (uint32_t k = 0; k < p->contractions.len; k++)
    if (po_nest_root(p, p->stmts.data[p->contractions.data[k]->update].leaf) ==
        root)
      return true;
  return false;
}

static void
tell_steps(const teller *t, const po_impl_plan *plan) {
  uint32_t result = 0;
  int64_t rest = 0;
  bool found = po_key_result(plan, plan->chosen, &result, &rest);
  bs_json_array(t->j, "steps");
  for (uint32_t g = 0; found && g < plan->results.data[result].groups.len;
       g++) {
    const po_impl_result *r = &plan->results.data[result];
    bs_json_object(t->j, NULL);
    po_json_impl(&r->groups.data[g].impls.data[po_key_impl(r, rest, g)],
                 &t->machine, t->j);
    bs_json_end(t->j);
  }
  bs_json_end(t->j);
}

static void
tell_plan(const teller *t, const po_hint *h) {
  po_impl_plan plan;
  po_plan_graph(&plan, h, &t->machine, &t->p->arena);
  bs_json_int(t->j, "keys", po_count_keys(&plan));
  bs_json_int(t->j, "chosen", plan.chosen);
  tell_steps(t, &plan);
  po_impl_plan_done(&plan);
}

static const po_hint *
hint_of(const teller *t, uint32_t root) {
  for (uint32_t k = 0; k < t->hints.list.len; k++)
    if (t->hints.list.data[k]->root == root)
      return t->hints.list.data[k];
  return NULL;
}

static void
tell_stmts(const teller *t, uint32_t root) {
  bs_json_array(t->j, "statements");
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(t->p, k, root))
    if (po_node(t->p, k)->kind == PO_LEAF)
      bs_json_string(t->j, NULL, t->p->stmts.data[po_node(t->p, k)->stmt].name);
  bs_json_end(t->j);
}

static void
tell_group(const teller *t, uint32_t root) {
  const po_hint *h = hint_of(t, root);
  bool kernel = has_kernel(t->p, root);
  bs_json_object(t->j, NULL);
  bs_json_string(t->j, "kind", kernel ? "kernel" : h ? "graph" : "statements");
  tell_stmts(t, root);
  tell_arrays(t, root, READS);
  tell_arrays(t, root, MAKES);
  if (h && !kernel)
    tell_plan(t, h);
  bs_json_end(t->j);
}

/* ---- results ---- */

static void
tell_script(bs_json *j, const po_strategy *one, bs_arena *arena) {
  bs_json_array(j, "script");
  for (const char *at = one->script, *end; (end = strchr(at, '\n'));
       at = end + 1)
    bs_json_string(j, NULL,
                   bs_arena_printf(arena, "%.*s", (int)(end - at), at));
  bs_json_end(j);
}

static void
tell_groups(bs_json *j, const po_program *scheduled) {
  const gs_target *target = scheduled->target
                                ? scheduled->target
                                : gs_target_default(&scheduled->ctx);
  teller t = {.p = po_without_blocks(scheduled), .j = j};
  t.machine = po_machine_of(target);
  po_lay_out(t.p);
  po_make_hints(t.p, &t.hints);
  bs_json_array(j, "groups");
  for (uint32_t k = po_node(t.p, 0)->first; k != PO_NO_NODE;
       k = po_node(t.p, k)->next)
    tell_group(&t, k);
  bs_json_end(j);
  po_hints_done(t.p, &t.hints);
  po_free(t.p);
}

void
po_json_strategies(const po_strategies *s, bs_text *out) {
  bs_json j;
  bs_json_init(&j, out, 0);
  bs_json_array(&j, NULL);
  for (uint32_t k = 0; k < s->list.len; k++) {
    const po_strategy *one = &s->list.data[k];
    bs_json_object(&j, NULL);
    bs_json_int(&j, "result", k);
    bs_json_string(&j, "name", one->name);
    bs_json_real(&j, "cost", one->cost);
    bs_json_bool(&j, "chosen", k == s->cheapest);
    tell_script(&j, one, s->arena);
    tell_groups(&j, one->program);
    bs_json_end(&j);
  }
  bs_json_end(&j);
}
