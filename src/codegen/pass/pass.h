/* SPDX-License-Identifier: MIT */
/* pass.h - passes over the code tree of a kernel, in their order.
 *
 *   team.c    threads that run loops marked parallel
 *   pass_reach.c  loops that end where data says
 *   pass_join.c  sums over rows that follow one another
 *   stream.c  loops over rows of arrays larger than the caches; pass_rows.c
 *   simd.c    loops whose iterations may run in lanes
 *   pass_jam.c  sums of several rows side by side
 *   sums.c    long sums as several side by side
 *   vector.c  loops that are marked for vectors, as those and what fills none
 *   pass_local.c  declarations of locals; what is not used
 *   pass_once.c  elements that loops of lanes would read again and again
 *   fence.c   fences after stores past the caches
 *
 * pass_run.c runs them, and the checker of the tree after each; pass_copy.c has
 * what those share that do several sums side by side. */
#ifndef CODEGEN_PASS_PASS_H
#define CODEGEN_PASS_PASS_H

#include "codegen/unit/emit.h"
#include <assert.h>

/* What passes work on. */
typedef struct cg_pass_state {
  cg_emitter *e;
  const cg_scope *scope;
  cg_node **body;
  bool fenced; /* something was stored past the caches */
} cg_pass_state;

typedef struct cg_pass {
  const char *name;
  void (*run)(cg_pass_state *);
  bool completes; /* from here on, trees are complete: see tree/tree_check.h */
} cg_pass;

/* One, and the checker; all of them. */
void cg_run_pass(const cg_pass *, cg_pass_state *);
void cg_run_passes(cg_emitter *, const cg_scope *, cg_node **body);

void cg_share_loops(cg_pass_state *);
void cg_end_loops(cg_pass_state *);
void cg_join_rows(cg_pass_state *);
void cg_stream_loops(cg_pass_state *);
void cg_find_lanes(cg_pass_state *);
void cg_jam_rows(cg_pass_state *);
void cg_split_sums(cg_pass_state *);
void cg_split_vectors(cg_pass_state *);
void cg_declare_locals(cg_pass_state *);
void cg_read_once(cg_pass_state *);
void cg_put_fences(cg_pass_state *);
void cg_quiet_parameters(cg_pass_state *);

/* What a pass knows of a loop that isl made: not one iteration, nor a loop
 * over parts that another pass made. */
static inline bool
cg_is_loop(const cg_node *n) {
  return n->kind == CG_FOR && !n->head.once;
}

/* The first value of a loop and how often it runs, where these are numbers. */
static inline bool
cg_fixed_range(const cg_for *head, int64_t *first, int64_t *trips) {
  int64_t last;
  if (!head->first || !head->last || !cg_is_number(head->first, first) ||
      !cg_is_number(head->last, &last) || head->also || head->beside)
    return false;
  *trips = last - head->last_excluded - *first + 1;
  return true;
}

/* The loop is marked for vectors, which can begin at any of its values. */
static inline bool
cg_is_for_vectors(const cg_emitter *e, const cg_node *n) {
  return cg_is_loop(n) && n->iteration != CG_NO_LOOP &&
         e->p->nest.nodes.data[n->iteration].mark == PO_VECTORIZE &&
         n->head.step == 1 && n->head.last;
}

/* The loop is marked parallel: its iterations depend on nothing of one another.
 */
static inline bool
cg_is_parallel(const cg_emitter *e, const cg_node *n) {
  assert(n->loop == CG_NO_LOOP || n->loop < e->p->nest.nodes.len);
  return n->loop != CG_NO_LOOP &&
         e->p->nest.nodes.data[n->loop].mark == PO_PARALLEL;
}

/* pass_copy.c: the name of the k-th of several variables that stand for one,
 * NAME_KIND1 and so on, the first of which keeps the name; whether no array has
 * one of n of these; the reductions of a loop whose body has n of each. */
const char *cg_copy_name(cg_emitter *, const char *name, const char *kind,
                         int64_t k);
bool cg_can_copy_name(cg_emitter *, const char *name, const char *kind,
                      int64_t n);
void cg_copy_reductions(cg_emitter *, const cg_for *from, const char *kind,
                        int64_t n, cg_for *to);
/* Puts the list that `make` gives in the place of a node; where it gives NULL,
 * the node stays, and those below it are looked at. */
void cg_replace_nodes(cg_emitter *, cg_node **body,
                      cg_node *(*make)(cg_emitter *, cg_node *));

/* simd.c: NULL where all iterations of a loop may run at once in lanes; else
 * why they may not, or why that is not seen. */
const char *cg_why_not_simd(cg_emitter *, const cg_node *loop);
/* For a loop that a schedule wants in vectors: a note where that may be in
 * vain. */
bool cg_explain_lanes(cg_emitter *, const cg_node *loop);

#endif
