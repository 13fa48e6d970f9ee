/* SPDX-License-Identifier: MIT */
/* team.c - threads that run the iterations of loops.
 *
 * The outermost loop that is marked parallel gets a team of threads, together
 * with the parallel loops right below it while it is too short alone. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "codegen/build/build.h"
#include "codegen/pass/pass.h"
#include "poly/loops/loops_number.h"

typedef struct teams {
  cg_emitter *e;
  const cg_scope *scope;
  bool in_parallel;
  uint32_t team; /* loops to come that the same team of threads shares */
} teams;

static bool
declares_locals(const teams *t, const cg_node *n) {
  return n->loop != CG_NO_LOOP && cg_has_locals(t->e, t->scope->group, n->loop);
}

/* It has no loops in it, so that its iterations may be lanes of vectors, which
 * they are not where a team shares them. */
static bool
is_innermost(const cg_node *n) {
  for (const cg_node *at = n->first; at; at = at->next)
    if (at->kind == CG_MARK ? cg_is_loop(cg_below_marks(at->first))
                            : at->first != NULL)
      return false;
  return true;
}

/* There is some of it for each core. */
static bool
suffices(const teams *t, int64_t iterations) {
  return iterations >= gs_cores(t->e->p->target);
}

/* How many nested loops a team shares. */
static uint32_t
shared_loops(const teams *t, cg_node *outer) {
  uint32_t n = 0;
  int64_t total = 1;
  for (cg_node *at = outer;; at = cg_below_marks(at->first)) {
    if (!cg_is_parallel(t->e, at) || (n && !at->head.trips))
      break;
    n++;
    total *= at->head.trips ? at->head.trips : GS_THREAD_ITERATIONS;
    const cg_node *inner = cg_below_marks(at->first);
    if (!at->head.trips || total >= GS_THREAD_ITERATIONS ||
        declares_locals(t, at) || !cg_is_one(inner) || !cg_is_loop(inner) ||
        (is_innermost(inner) && suffices(t, total)))
      break;
  }
  return n;
}

/* A local in the workspace has room for a team of bounded size. */
static bool
has_parts_of_team(const teams *t) {
  for (uint32_t k = 0; k < t->scope->use->n_slots; k++) {
    uint32_t array = t->scope->use->slots[k].array;
    if (t->e->p->arrays.data[array].role == PO_LOCAL &&
        cg_has_own_name(t->e, array))
      return true;
  }
  return false;
}

/* About how many instances of statements there are below a loop. */
static gs_number
work_below(const teams *t, gs_sizes *s, const cg_node *n) {
  const po_program *p = t->e->p;
  gs_number work = 0;
  for (uint32_t k = 0; k < t->scope->group->n; k++) {
    const po_stmt *stmt = cg_stmt(t->e, t->scope->group, k);
    if (po_nest_is_below(p, stmt->leaf, n->loop))
      work = gs_sum(&s->over, work, po_box_number(p, s, stmt));
  }
  return work;
}

/* Lowering marks loops that are worth it at some sizes: whether they are at
 * those of the call is asked there. */
static const cg_expr *
pays_at_sizes(const teams *t, const cg_node *n) {
  bs_arena *arena = &t->e->arena;
  gs_sizes *s = po_numbers_of(t->e->p, arena);
  gs_number work = s ? work_below(t, s, n) : 0;
  if (!gs_is_sized(work))
    return NULL;
  return cg_infix(arena, CG_OP_AT_LEAST,
                  cg_make_polynomial(arena, s, work, "double"),
                  cg_number(arena, GS_THREAD_INSTANCES));
}

static void
share(teams *t, cg_node *n) {
  cg_for *head = &n->head;
  head->is_team = t->team > 0;
  if (t->e->options->openmp && !t->in_parallel && cg_is_parallel(t->e, n)) {
    head->collapse = shared_loops(t, n);
    head->is_bounded = has_parts_of_team(t);
    head->pays = pays_at_sizes(t, n);
    t->in_parallel = head->is_team = true;
    t->team = head->collapse;
  }
  head->is_team_last = t->team == 1;
  t->team -= t->team > 0;
}

static void
visit(const teams *around, cg_node *chain) {
  for (cg_node *n = chain; n; n = n->next) {
    teams t = *around;
    if (cg_is_loop(n) && !cg_is_for_vectors(t.e, n))
      share(&t, n);
    visit(&t, n->first);
    if (n->kind == CG_IF)
      visit(&t, n->test.otherwise);
  }
}

void
cg_share_loops(cg_pass_state *s) {
  visit(&(teams){.e = s->e, .scope = s->scope}, *s->body);
}
