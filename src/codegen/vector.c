/* SPDX-License-Identifier: MIT */
/* vector.c - loops that are marked for vectors.
 *
 * Vectors begin at multiples of their length, as their legality was asked: what
 * comes before the first one is done one by one, and what does not fill one at
 * the end, too, or under a mask.  Where bounds are numbers the parts are plain
 * loops between numbers.  Where they are not, it still matters how many vectors
 * there can be: gcc follows an array's size to how often a loop may run, and
 * what it makes of a vector that never runs it takes for a fault
 * (-Waggressive-loop-optimizations).  So there is no loop over vectors where
 * at most one fits, and none at all where none does. */
#include "codegen/simd.h"
#include "poly/loops/affine.h"

/* Of isl, for a question. */
enum { OPERATIONS = 200000 };

typedef struct vectors {
  const cg_loop *loop;
  const po_nest_node *n;
  const char *i;
  int64_t lanes;
  bool first_known, last_known;
  int64_t first, last; /* where known */
  int64_t start;       /* of the first vector, where `first` is known */
  int64_t most;        /* whole vectors that there can be */
} vectors;

/* ---- how many ---- */

static int64_t
multiple_from(int64_t value, int64_t of) {
  int64_t rest = value % of;
  return rest > 0 ? value + of - rest : value - rest;
}

/* Whole vectors from a value to another one. */
static int64_t
vectors_in(int64_t first, int64_t last, int64_t lanes) {
  int64_t room = last + 1 - multiple_from(first, lanes);
  return room > 0 ? room / lanes : 0;
}

static bool
known_index(__isl_keep isl_ast_expr *expr, int64_t *out) {
  return cg_constant_index(expr, out) && *out > INT32_MIN && *out < INT32_MAX;
}

/* In no iteration of the loops around there are so many whole vectors, isl
 * says, of which no more is asked than of two accesses (simd.c). */
static bool
are_never(const cg_emitter *e, const vectors *v, int64_t many) {
  isl_ctx *isl = e->p->isl;
  cg_limit(e, OPERATIONS);
  isl_aff *lane = isl_aff_mod_val(po_index(isl, 1, 0, 1, 0),
                                  isl_val_int_from_si(isl, (long)v->lanes));
  isl_map *to_last = isl_map_from_aff(
      po_index(isl, 1, 0, 1, many * v->lanes - 1)); /* from the first lane */
  to_last = isl_map_intersect_domain(
      to_last, isl_set_from_basic_set(isl_aff_zero_basic_set(lane)));
  isl_map *all = po_without_gaps(po_nest_range_in(e->p, v->loop->node));
  isl_map *last = isl_map_apply_range(isl_map_copy(all), to_last);
  last = isl_map_intersect(last, all);
  bool never = isl_map_is_empty(last) == isl_bool_true;
  isl_map_free(last);
  isl_ctx_reset_error(isl);
  cg_limit(e, CG_OPERATIONS);
  return never;
}

/* What is not known of a bound follows from all values of the loop. */
static void
count_vectors(const cg_emitter *e, vectors *v) {
  int64_t lo, hi;
  bool bounded = cg_range(e->p, v->loop->node, &lo, &hi);
  v->first_known = known_index(v->loop->first, &v->first);
  v->last_known = known_index(v->loop->last, &v->last);
  v->last -= v->loop->last_excluded;
  v->start = v->first_known ? multiple_from(v->first, v->lanes) : 0;
  v->most = INT64_MAX;
  if ((v->first_known || bounded) && (v->last_known || bounded))
    v->most = vectors_in(v->first_known ? v->first : lo,
                         v->last_known ? v->last : hi, v->lanes);
  if (v->first_known && v->last_known)
    return;
  if (v->most > 1 && are_never(e, v, 2))
    v->most = 1;
  if (v->most == 1 && are_never(e, v, 1))
    v->most = 0;
}

/* ---- parts ---- */

/* Nothing but statements is below. */
static bool
has_no_loops(cg_emitter *e, __isl_keep isl_ast_node *node) {
  if (isl_ast_node_get_type(node) != isl_ast_node_block)
    return isl_ast_node_get_type(node) == isl_ast_node_user;
  isl_ast_node_list *kids = isl_ast_node_block_get_children(node);
  bool none = true;
  for (int k = 0; k < isl_ast_node_list_n_ast_node(kids); k++) {
    isl_ast_node *kid = isl_ast_node_list_get_ast_node(kids, k);
    none &= isl_ast_node_get_type(kid) == isl_ast_node_user;
    isl_ast_node_free(kid);
  }
  isl_ast_node_list_free(kids);
  return none && !e->failed;
}

static void
put_last(cg_emitter *e, const vectors *v) {
  bs_put(&e->body, v->loop->last_excluded ? " < " : " <= ");
  cg_put_index(e, v->loop->last);
}

/* Iterations, in braces: `for (...) {` stands before. */
static void
put_iterations(cg_emitter *e, const cg_scope *scope, const vectors *v,
               bool masked, uint32_t indent) {
  cg_scope own = *scope;
  if (masked) {
    cg_indent(&e->body, indent + 1);
    bs_putf(&e->body, "if (%s", v->i);
    put_last(e, v);
    bs_put(&e->body, ") {\n");
  }
  cg_put_body(e, &own, v->loop->node, v->loop->body, indent + 1 + masked);
  if (masked) {
    cg_indent(&e->body, indent + 1);
    bs_put(&e->body, "}\n");
  }
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

/* One by one between numbers. */
static void
put_numbers(cg_emitter *e, const cg_scope *scope, const vectors *v,
            int64_t from, int64_t last, uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "for (%s %s = %lld; %s <= %lld; %s++) {\n", e->index, v->i,
          (long long)from, v->i, (long long)last, v->i);
  put_iterations(e, scope, v, false, indent);
}

static void
put_pragma(cg_emitter *e, const vectors *v) {
  bool seen = cg_explain_lanes(e, v->loop);
  if (e->options->openmp && (seen || has_no_loops(e, v->loop->inner)))
    bs_put(&e->body, CG_IF_SIMD "#pragma omp simd\n#endif\n");
}

/* One iteration for each lane of a vector. */
static void
put_lanes(cg_emitter *e, const cg_scope *scope, const vectors *v,
          const char *at, bool masked, uint32_t indent) {
  put_pragma(e, v);
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "for (%s %s = %s; %s < %s + %lld; %s++) {\n", e->index,
          v->i, at, v->i, at, (long long)v->lanes, v->i);
  put_iterations(e, scope, v, masked, indent);
}

/* ---- bounds that are numbers ---- */

static void
put_known(cg_emitter *e, const cg_scope *scope, const vectors *v,
          uint32_t indent) {
  int64_t end = v->start + v->most * v->lanes;
  bool parts = v->start > v->first || end <= v->last;
  const char *at = bs_arena_printf(&e->arena, "glen_%s", v->i);
  if (parts) { /* a loop around may have no braces */
    cg_indent(&e->body, indent++);
    bs_put(&e->body, "{\n");
  }
  if (v->start > v->first)
    put_numbers(e, scope, v, v->first, v->start - 1, indent);
  if (v->most == 1) {
    put_pragma(e, v);
    put_numbers(e, scope, v, v->start, end - 1, indent);
  } else {
    cg_indent(&e->body, indent);
    bs_putf(&e->body, "for (%s %s = %lld; %s < %lld; %s += %lld)\n", e->index,
            at, (long long)v->start, at, (long long)end, at,
            (long long)v->lanes);
    put_lanes(e, scope, v, at, false, indent + 1);
  }
  if (end <= v->last)
    put_numbers(e, scope, v, end, v->last, indent);
  if (parts) {
    cg_indent(&e->body, --indent);
    bs_put(&e->body, "}\n");
  }
}

/* ---- others ---- */

/* What comes before the first vector. */
static void
put_head(cg_emitter *e, const cg_scope *scope, const vectors *v,
         uint32_t indent) {
  const char *i = v->i;
  if (v->first_known && v->start == v->first)
    return;
  cg_indent(&e->body, indent);
  if (v->first_known)
    bs_putf(&e->body, "for (%s %s = %lld; %s < %lld && %s", e->index, i,
            (long long)v->first, i, (long long)v->start, i);
  else
    bs_putf(&e->body, "for (%s %s = glen_%s; %s", e->index, i, i, i);
  put_last(e, v);
  if (!v->first_known)
    bs_putf(&e->body, " && %s %% %lld; %s++, glen_%s++) {\n", i,
            (long long)v->lanes, i, i);
  else
    bs_putf(&e->body, "; %s++) {\n", i);
  put_iterations(e, scope, v, false, indent);
}

/* The only vector that may be whole. */
static void
put_one(cg_emitter *e, const cg_scope *scope, const vectors *v, const char *at,
        uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "if (%s + %lld", at, (long long)v->lanes - 1);
  put_last(e, v);
  bs_put(&e->body, ") {\n");
  put_lanes(e, scope, v, at, false, indent + 1);
  cg_indent(&e->body, indent + 1);
  bs_putf(&e->body, "%s += %lld;\n", at, (long long)v->lanes);
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

/* Whole vectors, or with a mask all of them. */
static void
put_some(cg_emitter *e, const cg_scope *scope, const vectors *v, const char *at,
         bool masked, uint32_t indent) {
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "for (; %s", at);
  if (!masked)
    bs_putf(&e->body, " + %lld", (long long)v->lanes - 1);
  put_last(e, v);
  bs_putf(&e->body, "; %s += %lld)\n", at, (long long)v->lanes);
  put_lanes(e, scope, v, at, masked, indent + 1);
}

/* glen_I is where the next vector begins. */
static void
put_unknown(cg_emitter *e, const cg_scope *scope, const vectors *v,
            uint32_t indent) {
  bool masked = v->n->tail == PO_TAIL_MASK;
  const char *at = bs_arena_printf(&e->arena, "glen_%s", v->i);
  cg_indent(&e->body, indent);
  bs_put(&e->body, "{\n");
  cg_indent(&e->body, indent + 1);
  bs_putf(&e->body, "%s %s = ", e->index, at);
  if (v->first_known)
    bs_putf(&e->body, "%lld", (long long)v->start);
  else
    cg_put_index(e, v->loop->first);
  bs_put(&e->body, ";\n");
  put_head(e, scope, v, indent + 1);
  if (masked || v->most > 1)
    put_some(e, scope, v, at, masked, indent + 1);
  else
    put_one(e, scope, v, at, indent + 1);
  if (!masked) {
    cg_indent(&e->body, indent + 1);
    bs_putf(&e->body, "for (%s %s = %s; %s", e->index, v->i, at, v->i);
    put_last(e, v);
    bs_putf(&e->body, "; %s++) {\n", v->i);
    put_iterations(e, scope, v, false, indent + 1);
  }
  cg_indent(&e->body, indent);
  bs_put(&e->body, "}\n");
}

/* No vector is ever whole; of a part of a loop that says nothing to anybody. */
static void
put_none(cg_emitter *e, const cg_scope *scope, const vectors *v,
         uint32_t indent) {
  if (are_never(e, v, 1))
    bs_note(e->p->ctx.diags, BS_NOWHERE,
            "loop %s never has the %lld iterations of a vector", v->n->name,
            (long long)v->lanes);
  cg_indent(&e->body, indent);
  bs_putf(&e->body, "for (%s %s = ", e->index, v->i);
  cg_put_index(e, v->loop->first);
  bs_putf(&e->body, "; %s", v->i);
  put_last(e, v);
  bs_putf(&e->body, "; %s++) {\n", v->i);
  put_iterations(e, scope, v, false, indent);
}

bool
cg_put_vector_loop(cg_emitter *e, const cg_scope *scope, const cg_loop *loop,
                   uint32_t indent) {
  const po_nest_node *n =
      loop->node == PO_NO_NODE ? NULL : &e->p->nest.nodes.data[loop->node];
  if (!n || n->mark != PO_VECTORIZE || loop->step != 1 || !loop->last)
    return false;
  vectors v = {
      .loop = loop, .n = n, .i = loop->iterator, .lanes = (int64_t)n->lanes};
  count_vectors(e, &v);
  bool known = v.first_known && v.last_known;
  bool exact =
      known && v.start == v.first && (v.last + 1 - v.start) % v.lanes == 0;
  if (n->tail == PO_TAIL_PEEL && !v.most)
    put_none(e, scope, &v, indent);
  else if (known && (n->tail == PO_TAIL_PEEL || exact) && v.most)
    put_known(e, scope, &v, indent);
  else
    put_unknown(e, scope, &v, indent);
  return true;
}
