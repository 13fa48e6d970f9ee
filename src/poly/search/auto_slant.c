/* SPDX-License-Identifier: MIT */
/* auto_slant.c - tiles of sweeps: nests whose outermost loop carries what the
 * loops in it need, as time does in a stencil that is iterated.
 *
 *   for t { for i { A[i] = A[i - 1] + A[i + 1] } }
 *
 * Every step goes over all of memory.  isl's scheduler is asked for functions
 * of the nest's statements along none of which a dependence runs backwards (t
 * and t + i): tiles of these may run one after the other, and what a tile needs
 * is used for several steps while it is near.  Loops are put around the nest by
 * these functions, rounded down (`enclose`); in a tile instances keep their
 * order, so that rows stay rows.  Nothing is asked of the nest's form:
 * statements between loops, such as borders, have functions like the others.
 *
 * Tiles whose sum of the first two functions is the same are independent: the
 * second loop over tiles leans on the first (`skew`), goes outside, and threads
 * share the other one. */
#include "glenside/target/machine.h"
#include "glenside/target/tuned.h"
#include "poly/loops/affine.h"
#include "poly/loops/storage.h"
#include "poly/schedule/schedule_edit.h"
#include "poly/search/chooser.h"
#include <isl/ilp.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <string.h>
#include <isl/val.h>

/* Statements of a nest that isl is asked about; members of a band. */
enum { MOST_STMTS = 40, MOST_MEMBERS = 6 };

/* How far points of a row lean on the row before; steps of which an array is
 * kept. */
enum { MOST_LEAN = 3, MOST_KEPT = 4 };

typedef struct band {
  uint32_t n;
  isl_aff *of[MOST_STMTS][MOST_MEMBERS]; /* by place in `stmts`; in the pool */
  bool coincident[MOST_MEMBERS];
  uint32_t stmts[MOST_STMTS], n_stmts;
  int64_t size[MOST_MEMBERS]; /* of tiles */
} band;

/* ---- which nests ---- */

static bool
uses_folds(const po_program *p, const po_stmt *s) {
  bool folded = po_is_folded(&p->arrays.data[s->array]);
  for (uint32_t k = 0; k < s->n_exprs; k++)
    folded |= (s->exprs[k].kind == PO_READ || s->exprs[k].kind == PO_GATHER) &&
              po_is_folded(&p->arrays.data[s->exprs[k].array]);
  return folded;
}

/* The statements of a nest that may be tiled; false where it is none. */
static bool
find_stmts(const po_program *p, uint32_t root, band *b) {
  uint32_t deepest = 0;
  for (uint32_t k = root; k != PO_NO_NODE; k = po_nest_next(p, k, root)) {
    const po_nest_node *n = po_node(p, k);
    if (n->kind == PO_SYNC || (n->kind == PO_LOOP && !po_is_plain(p, k)))
      return false;
    if (n->kind != PO_LEAF)
      continue;
    uint32_t depth = po_nest_depth(p, k);
    if (b->n_stmts == MOST_STMTS || uses_folds(p, &p->stmts.data[n->stmt]))
      return false;
    b->stmts[b->n_stmts++] = n->stmt;
    deepest = depth > deepest ? depth : deepest;
  }
  return deepest > 1;
}

/* The outermost loop carries what is more than the order of a sum, and there is
 * enough to do. */
static bool
is_sweep(po_program *p, uint32_t root) {
  int64_t min, count;
  return po_node(p, root)->kind == PO_LOOP && po_may_change(p, root) &&
         po_value_range(p, root, &min, &count) && count >= GS_SLANT_SWEEP &&
         po_threads_are_profitable(p, root) &&
         !po_loop_is_parallel(p, root, false, NULL);
}

/* ---- what isl's scheduler says ---- */

static __isl_give isl_union_set *
instances_of(const po_program *p, const band *b) {
  isl_union_set *all = isl_union_set_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t k = 0; k < b->n_stmts; k++)
    all = isl_union_set_add_set(
        all, isl_set_copy(p->stmts.data[b->stmts[k]].domain));
  return all;
}

static __isl_give isl_union_map *
among(__isl_keep isl_union_set *instances, __isl_keep isl_union_map *pairs) {
  isl_union_map *some = isl_union_map_copy(pairs);
  some = isl_union_map_intersect_domain(some, isl_union_set_copy(instances));
  return isl_union_map_intersect_range(some, isl_union_set_copy(instances));
}

/* Updates of a sum keep their order, so that it is the same to the last bit. */
static __isl_give isl_schedule_constraints *
constraints_of(const po_program *p, const band *b, const po_deps *deps) {
  isl_union_set *domain = instances_of(p, b);
  isl_union_map *all = isl_union_map_empty(isl_space_params_alloc(p->isl, 0));
  for (uint32_t kind = 0; kind < PO_DEP_KINDS; kind++)
    all = isl_union_map_union(all, among(domain, deps->of[kind]));
  isl_union_map *flow = among(domain, deps->of[PO_FLOW]);
  isl_schedule_constraints *sc = isl_schedule_constraints_on_domain(domain);
  sc = isl_schedule_constraints_set_coincidence(sc, isl_union_map_copy(all));
  sc = isl_schedule_constraints_set_validity(sc, all);
  return isl_schedule_constraints_set_proximity(sc, flow);
}

/* One band of all statements, as deep as may be. */
static __isl_give isl_schedule *
schedule_of(isl_ctx *isl, __isl_take isl_schedule_constraints *sc) {
  int whole = isl_options_get_schedule_whole_component(isl);
  int deep = isl_options_get_schedule_maximize_band_depth(isl);
  isl_options_set_schedule_whole_component(isl, 1);
  isl_options_set_schedule_maximize_band_depth(isl, 1);
  isl_schedule *schedule = isl_schedule_constraints_compute_schedule(sc);
  isl_options_set_schedule_whole_component(isl, whole);
  isl_options_set_schedule_maximize_band_depth(isl, deep);
  return schedule;
}

static bool
take_functions(po_program *p, __isl_keep isl_schedule_node *node, band *b) {
  isl_multi_union_pw_aff *all =
      isl_schedule_node_band_get_partial_schedule(node);
  bool ok = all;
  for (uint32_t k = 0; ok && k < b->n_stmts; k++)
    for (uint32_t d = 0; ok && d < b->n; d++) {
      isl_union_pw_aff *u =
          isl_multi_union_pw_aff_get_union_pw_aff(all, (int)d);
      isl_space *space = isl_set_get_space(p->stmts.data[b->stmts[k]].domain);
      space = isl_space_add_dims(isl_space_from_domain(space), isl_dim_out, 1);
      isl_aff *f = po_single(isl_union_pw_aff_extract_pw_aff(u, space));
      isl_union_pw_aff_free(u);
      ok = f;
      b->of[k][d] = f ? po_keep_aff(&p->pool, f) : NULL;
    }
  isl_multi_union_pw_aff_free(all);
  return ok;
}

/* The outermost band, of all statements, where tiles of it may be cut. */
static bool
take_band(po_program *p, __isl_keep isl_schedule *schedule, band *b) {
  isl_schedule_node *node = isl_schedule_get_root(schedule);
  node = isl_schedule_node_child(node, 0);
  bool ok = node && isl_schedule_node_get_type(node) == isl_schedule_node_band;
  isl_size n = ok ? isl_schedule_node_band_n_member(node) : 0;
  ok = n > 1 && n <= MOST_MEMBERS &&
       isl_schedule_node_band_get_permutable(node) == isl_bool_true;
  b->n = ok ? (uint32_t)n : 0;
  for (uint32_t d = 0; d < b->n; d++)
    b->coincident[d] = isl_schedule_node_band_member_get_coincident(
                           node, (int)d) == isl_bool_true;
  ok = ok && take_functions(p, node, b);
  isl_schedule_node_free(node);
  return ok;
}

static bool
find_band(po_program *p, band *b) {
  const po_deps *deps = po_dependences(p);
  if (!deps)
    return false;
  po_pool_reserve(&p->pool, b->n_stmts * MOST_MEMBERS);
  isl_schedule *schedule = schedule_of(p->isl, constraints_of(p, b, deps));
  bool ok = schedule && take_band(p, schedule, b);
  isl_schedule_free(schedule);
  return ok;
}

/* ---- sizes ---- */

/* What a member counts: steps of the sweep, places along memory, or others. */
typedef enum member { STEPS, PLACES, ROWS } member;

static member
kind_of(const po_program *p, const band *b, uint32_t d) {
  bool steps = true, places = false;
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    const po_stmt *s = &p->stmts.data[b->stmts[k]];
    for (uint32_t i = 0; i < s->n_iters; i++) {
      bool in = isl_aff_involves_dims(b->of[k][d], isl_dim_in, i, 1) > 0;
      steps = steps && (!in || i == 0);
      places = places || (in && i > 0 && i + 1 == s->n_iters);
    }
  }
  return steps ? STEPS : places ? PLACES : ROWS;
}

/* How far a member slants for each step, at most. */
static int64_t
slope_of(const po_program *p, const band *b, uint32_t d) {
  int64_t most = 0;
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    if (!p->stmts.data[b->stmts[k]].n_iters)
      continue;
    isl_val *v = isl_aff_get_coefficient_val(b->of[k][d], isl_dim_in, 0);
    int64_t by = po_int_or(isl_val_abs(v), 1);
    most = by > most && by < 64 ? by : most;
  }
  return most;
}

/* The index of what the nest writes of the array is a step's in this dimension,
 * in all of its statements. */
static bool
follows_steps(const po_program *p, const band *b, uint32_t array, uint32_t d) {
  bool any = false;
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    const po_stmt *s = &p->stmts.data[b->stmts[k]];
    if (s->array != array)
      continue;
    if (!s->n_iters)
      return false;
    isl_pw_aff *at = isl_pw_multi_aff_get_pw_aff(s->write, (int)d);
    bool steps = isl_pw_aff_involves_dims(at, isl_dim_in, 0, 1) > 0 &&
                 !isl_pw_aff_involves_dims(at, isl_dim_in, 1, s->n_iters - 1);
    isl_pw_aff_free(at);
    if (!steps)
      return false;
    any = true;
  }
  return any;
}

static bool
has_steps(const po_program *p, const band *b, uint32_t array) {
  for (uint32_t d = 0; d < p->arrays.data[array].rank; d++)
    if (follows_steps(p, b, array, d))
      return true;
  return false;
}

/* Bytes of an element of each array that the nest uses, twice where there is
 * one for each step: folds leave two or more of them. */
static int64_t
bytes_of_point(const po_program *p, const band *b) {
  int64_t sum = 0;
  for (uint32_t a = 0; a < p->arrays.len; a++) {
    bool used = false;
    for (uint32_t k = 0; k < b->n_stmts; k++)
      used |= po_stmt_accesses(&p->stmts.data[b->stmts[k]], a);
    int64_t bytes = gs_dtype_table[p->arrays.data[a].dtype].bytes;
    sum += used ? bytes * (has_steps(p, b, a) ? 2 : 1) : 0;
  }
  return sum > 0 ? sum : 1;
}

static int64_t
cores_of(const po_program *p) {
  return gs_cores(p->target);
}

/* Values that the last index of a statement takes, at most. */
static int64_t
longest_row(const po_program *p, const band *b) {
  int64_t most = 1;
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    const po_stmt *s = &p->stmts.data[b->stmts[k]];
    int64_t lo, hi, last = s->n_iters - 1;
    if (s->n_iters > 1 &&
        po_int(isl_set_dim_min_val(isl_set_copy(s->domain), (int)last), &lo) &&
        po_int(isl_set_dim_max_val(isl_set_copy(s->domain), (int)last), &hi))
      most = hi - lo + 1 > most ? hi - lo + 1 : most;
  }
  return most;
}

/* Rows as long as what a tile uses of all its steps stays in the second cache;
 * without rows, in half of the first one, and tiles for all cores. */
static int64_t
places_of_tile(const po_program *p, const band *b, const member *kinds,
               int64_t steps, int64_t rows) {
  int64_t bytes = bytes_of_point(p, b);
  bool flat = true;
  for (uint32_t d = 0; d < b->n; d++)
    if (kinds[d] == ROWS) {
      bytes *= rows + slope_of(p, b, d) * steps;
      flat = false;
    }
  int64_t room = flat ? po_bytes_of_cache(p, 1) / 2 : po_bytes_of_cache(p, 2);
  int64_t places = room / bytes;
  int64_t even = longest_row(p, b) / (GS_SLANT_TILES * cores_of(p));
  places = flat && even < places ? even : places;
  places = places / GS_SLANT_MULTIPLE * GS_SLANT_MULTIPLE;
  places = places < GS_SLANT_LEAST ? GS_SLANT_LEAST : places;
  bool whole = !flat && longest_row(p, b) < 2 * places;
  return whole || places > GS_SLANT_MOST ? GS_SLANT_MOST : places;
}

static void
choose_sizes(const po_chooser *c, band *b) {
  const po_auto_options *o = c->options;
  member kinds[MOST_MEMBERS];
  uint32_t n_rows = 0;
  for (uint32_t d = 0; d < b->n; d++) {
    kinds[d] = kind_of(po_now(c), b, d);
    n_rows += kinds[d] == ROWS;
  }
  int64_t steps = n_rows > 1 ? GS_SLANT_STEPS / 2 : GS_SLANT_STEPS;
  int64_t rows = n_rows > 1 ? GS_SLANT_ROWS / 2 : GS_SLANT_ROWS;
  int64_t places = places_of_tile(po_now(c), b, kinds, steps, rows);
  for (uint32_t d = 0; d < b->n; d++)
    b->size[d] =
        o->n_tiles
            ? o->tiles[d + o->n_tiles >= b->n ? d + o->n_tiles - b->n : 0]
        : kinds[d] == STEPS ? steps
        : kinds[d] == ROWS  ? rows
                            : places;
}

/* ---- the nest ---- */

/* { [i] -> floor(f / size) }, without the statement's name. */
static __isl_give isl_aff *
part_of(const po_stmt *s, __isl_keep isl_aff *f, int64_t size) {
  isl_ctx *isl = isl_aff_get_ctx(f);
  isl_aff *part = isl_aff_copy(f);
  part = isl_aff_scale_down_val(part, isl_val_int_from_si(isl, (long)size));
  isl_multi_aff *unnamed = po_identity(isl, s->n_iters);
  unnamed = isl_multi_aff_set_tuple_id(unnamed, isl_dim_out,
                                       isl_set_get_tuple_id(s->domain));
  return isl_aff_pullback_multi_aff(isl_aff_floor(part), unnamed);
}

/* "S[i0, i1] -> [(floor((i0)/16)), ...]" */
static bool
put_function(po_program *p, const band *b, uint32_t k, bs_text *out) {
  const po_stmt *s = &p->stmts.data[b->stmts[k]];
  po_pool_reserve(&p->pool, 1);
  isl_multi_aff *f = isl_multi_aff_zero(po_map_space(p->isl, s->n_iters, b->n));
  for (uint32_t d = 0; d < b->n; d++)
    f = isl_multi_aff_set_aff(f, (int)d, part_of(s, b->of[k][d], b->size[d]));
  char *text = isl_multi_aff_to_str(f);
  isl_multi_aff_free(f);
  text = text ? po_keep_str(&p->pool, text) : NULL;
  const char *lo = text ? strchr(text, '[') : NULL;
  const char *hi = text ? strrchr(text, ']') : NULL;
  bool ok = lo && hi;
  if (ok)
    bs_putf(out, "%s%s%.*s", k ? "; " : "", s->name, (int)(hi - lo) + 1, lo);
  return ok;
}

/* Loops over tiles around the nest; the node of the first. */
static bool
enclose(po_chooser *c, uint32_t root, const band *b, uint32_t *loops) {
  bs_text text;
  bs_text_init(&text, po_now(c)->ctx.heap);
  bool ok = true;
  for (uint32_t k = 0; ok && k < b->n_stmts; k++)
    ok = put_function(po_now(c), b, k, &text);
  po_step_call call = po_step("enclose");
  call.args[0] = (po_arg){.kind = PO_ARG_NODE, .node = root};
  call.args[1] = (po_arg){.kind = PO_ARG_TEXT, .word = bs_text_str(&text)};
  ok = ok && po_attempt(c, &call, NULL) && call.n_made == b->n;
  bs_text_done(&text);
  for (uint32_t d = 0; ok && d < b->n; d++)
    loops[d] = call.made[d];
  return ok;
}

/* Waves of tiles do enough for each of them to wake threads. */
static bool
waves_are_profitable(const po_program *p, uint32_t root, uint32_t wave) {
  int64_t min, count;
  return po_value_range(p, wave, &min, &count) &&
         po_work_in(p, root) >= (double)GS_THREAD_WAVE * (double)count;
}

/* Takes the program back where not all of it could be done. */
static bool
keep_or_take_back(po_chooser *c, bool keep, po_program *old) {
  if (keep) {
    po_free(old);
    return true;
  }
  po_restore(c, old);
  return false;
}

/* A loop leans on the one around it and changes places with it. */
static bool
lean_and_turn(po_chooser *c, uint32_t outer, uint32_t inner, int64_t by) {
  uint32_t order[2] = {inner, outer};
  po_step_call lean = po_step("skew"), turn = po_step("reorder");
  lean.args[0] = po_loop_arg(inner);
  lean.args[1] = po_loop_arg(outer);
  lean.args[2] = (po_arg){.kind = PO_ARG_INT, .number = by};
  turn.args[0] = po_loops_arg(order, 2);
  return po_attempt(c, &lean, NULL) && po_attempt(c, &turn, NULL);
}

/* The tiles of a wave are shared by threads. */
static void
run_in_waves(po_chooser *c, const uint32_t *loops) {
  po_program *old = po_copy(po_now(c));
  bool ok = lean_and_turn(c, loops[0], loops[1], 1) &&
            waves_are_profitable(po_now(c), loops[0], loops[0]) &&
            po_mark_parallel(c, po_node(po_now(c), loops[0])->first);
  keep_or_take_back(c, ok, old);
}

/* ---- in a tile ---- */

static bool
is_free(po_chooser *c, uint32_t loop) {
  po_moment m = po_be_quiet(c);
  bool ok = po_loop_is_parallel(po_now(c), loop, true, NULL);
  return po_speak_again(c, &m, ok);
}

/* Points of a row that wait for each other, one for the result of the one
 * before it, are run along slanted lines across rows instead, whose points
 * are free of each other: a core then works on several at a time. */
static void
lean_on_rows(po_chooser *c, uint32_t loop) {
  uint32_t around = po_node(po_now(c), loop)->parent;
  if (po_only_child(po_now(c), around) != loop || is_free(c, loop))
    return;
  for (int64_t by = 1; by <= MOST_LEAN && !c->stopped; by++) {
    po_program *old = po_copy(po_now(c));
    bool ok = lean_and_turn(c, around, loop, by) &&
              is_free(c, po_node(po_now(c), around)->first);
    if (keep_or_take_back(c, ok, old))
      return;
  }
}

static bool
has_loops(const po_program *p, uint32_t loop) {
  for (uint32_t k = po_node(p, loop)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next)
    if (po_node(p, k)->kind == PO_LOOP)
      return true;
  return false;
}

/* The innermost loops of the nest, which is in tiles now. */
static void
lean_on_all_rows(po_chooser *c, const band *b, uint32_t root) {
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    const po_program *p = po_now(c);
    uint32_t leaf = p->stmts.data[b->stmts[k]].leaf;
    uint32_t loop = po_node(p, leaf)->parent;
    if (loop != root && po_node(p, loop)->first == leaf && !has_loops(p, loop))
      lean_on_rows(c, loop);
  }
}

/* ---- arrays over time ---- */

static bool
fold(po_chooser *c, uint32_t array, uint32_t d, int64_t places) {
  po_step_call call = po_step("fold_storage");
  call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = array};
  call.args[1] = (po_arg){.kind = PO_ARG_INT, .number = d};
  call.args[2] = (po_arg){.kind = PO_ARG_INT, .number = places};
  return po_attempt(c, &call, NULL);
}

/* An array with a place for each step needs few of them at a time. */
static void
fold_steps(po_chooser *c, const band *b) {
  for (uint32_t a = 0; a < po_now(c)->arrays.len; a++)
    for (uint32_t d = 0; d < po_now(c)->arrays.data[a].rank; d++) {
      const po_array *array = &po_now(c)->arrays.data[a];
      if (array->role != PO_WORKSPACE || array->dim[d] < 4 ||
          !follows_steps(po_now(c), b, a, d))
        continue;
      for (int64_t n = 2; n <= MOST_KEPT && !fold(c, a, d, n);)
        n++;
    }
}

/* Functions along which nothing depends first: threads share them. */
static bool
put_free_first(band *b) {
  uint32_t d = 0;
  while (d < b->n && !b->coincident[d])
    d++;
  if (d == b->n)
    return false;
  for (uint32_t k = 0; k < b->n_stmts; k++) {
    isl_aff *f = b->of[k][d];
    b->of[k][d] = b->of[k][0];
    b->of[k][0] = f;
  }
  int64_t size = b->size[d];
  b->size[d] = b->size[0];
  b->size[0] = size;
  return true;
}

/* The functions of a nest that may be tiled by them. */
static bool
find_tiles(po_chooser *c, uint32_t root, band *b) {
  po_program *p = po_now(c);
  po_moment m = po_be_quiet(c);
  bool ok = is_sweep(p, root) && find_stmts(p, root, b) && find_band(p, b);
  return po_speak_again(c, &m, ok);
}

static void
slant(po_chooser *c, uint32_t root) {
  band b = {.n = 0};
  uint32_t loops[MOST_MEMBERS];
  if (!find_tiles(c, root, &b))
    return;
  choose_sizes(c, &b);
  bool free = put_free_first(&b);
  po_make_serial(c, root);
  if (!enclose(c, root, &b, loops))
    return;
  if (free)
    po_mark_parallel(c, loops[0]);
  else
    run_in_waves(c, loops);
  lean_on_all_rows(c, &b, root);
  fold_steps(c, &b);
}

void
po_slant_sweeps(po_chooser *c) {
  uint32_t after = PO_NO_NODE;
  for (;;) {
    uint32_t root = po_last_root(po_now(c), after);
    if (root == PO_NO_NODE || c->stopped)
      return;
    slant(c, root);
    after = po_last_root(po_now(c), after);
  }
}
