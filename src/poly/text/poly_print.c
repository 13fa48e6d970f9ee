/* SPDX-License-Identifier: MIT */
/* poly_print.c - a loop program as text that reads back (docs/LOOPS.md).
 *
 * Arrays first, then the nest.  A statement whose time is its indices is
 * written with the names of the loops around; another one names its indices
 * and ends with `at` and its time.  Bounds of loops are made from domains and
 * times; where they allow more than a statement's domain, its `where` says
 * what is missing. */
#include "glenside/array/tensor.h"
#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "glenside/type/sizes.h"
#include "poly/text/poly_text.h"
#include <assert.h>
#include <isl/printer.h>
#include <string.h>

/* Runs with a pool that a memory failure cannot lose. */
typedef struct protected_print {
  po_writer w;
  void (*body)(po_writer *);
} protected_print;

static void
print_job(void *arg) {
  protected_print *x = arg;
  x->body(&x->w);
}

static void
protect(const po_program *p, bs_text *out, bool origins,
        void (*body)(po_writer *)) {
  protected_print x = {.w = {.p = p, .out = out, .origins = origins},
                       .body = body};
  po_pool_init(&x.w.pool, p->ctx.heap);
  bs_arena_init(&x.w.arena, p->ctx.heap);
  bool ok = bs_protect(p->ctx.heap, print_job, &x);
  po_pool_done(&x.w.pool);
  if (!ok)
    bs_out_of_memory(p->ctx.heap);
  bs_arena_done(&x.w.arena);
}

/* ---- arrays ---- */

static const char *const role_names[] = {
    [PO_INPUT] = "input",         [PO_CONSTANT] = "constant",
    [PO_OUTPUT] = "output",       [PO_WORKSPACE] = "workspace",
    [PO_PREPACKED] = "prepacked", [PO_LOCAL] = "local",
    [PO_MEMORY] = "memory",
};

static const char *const scope_names[] = {
    [PO_STACK] = "", [PO_REGISTER] = " register", [PO_SHARED] = " shared"};

static void
put_elements(bs_text *out, const po_array *array) {
  int64_t n = gs_prod(array->dim, array->rank);
  gs_tensor view = gs_tensor_over(array->dtype, n, array->data);
  bs_put(out, " = {");
  for (int64_t i = 0; i < n; i++) {
    bs_put(out, !i ? "" : i % 8 ? ", " : ",\n  ");
    bs_put_real(out, gs_tensor_get(&view, i));
  }
  bs_putc(out, '}');
}

static void
put_size(bs_text *out, const po_size *size) {
  bs_putf(out, "size %s: %lld to %lld", size->name, (long long)size->least,
          (long long)size->most);
  if (size->multiple > 1)
    bs_putf(out, " multiple %lld", (long long)size->multiple);
  bs_putc(out, '\n');
}

void
po_put_extent(const po_program *p, const po_array *array, uint32_t d,
              bs_text *out) {
  assert(d < array->rank);
  const char *names[PO_MAX_SIZES];
  po_quasi q;
  if (!array->extent[d] || !po_quasi_make(p->ctx.arena, array->extent[d], &q)) {
    bs_putf(out, "%lld", (long long)array->dim[d]);
    return;
  }
  for (uint32_t k = 0; k < p->sizes.len; k++)
    names[k] = p->sizes.data[k].name;
  po_write_quasi(out, &q, names);
}

static void
put_array(const po_program *p, bs_text *out, const po_array *array) {
  bool placed = array->role == PO_MEMORY;
  bs_putf(out, "%s %s%s%s: %s[", role_names[array->role],
          placed ? gs_memory_name(p->target, array->memory) : "",
          placed ? " " : "", array->name, gs_dtype_table[array->dtype].name);
  for (uint32_t d = 0; d < array->rank; d++) {
    bs_put(out, d ? ", " : "");
    po_put_extent(p, array, d, out);
    if (array->fold[d])
      bs_putf(out, " fold %lld", (long long)array->fold[d]);
    if (array->pad[d])
      bs_putf(out, " pad %lld", (long long)array->pad[d]);
  }
  bs_putf(out, "]%s", scope_names[array->scope]);
  if (placed)
    bs_putf(out, " at %lld", (long long)array->offset);
  if (array->role == PO_CONSTANT)
    put_elements(out, array);
  bs_putc(out, '\n');
}

/* ---- the nest ---- */

typedef struct nest_print {
  po_writer *w;
  /* By node: what the bounds of the loop and of those around it say. */
  isl_set **bounds;
} nest_print;

static const char *const axis_names[] = {
    [PO_BLOCK_X] = "blockIdx.x",   [PO_BLOCK_Y] = "blockIdx.y",
    [PO_BLOCK_Z] = "blockIdx.z",   [PO_THREAD_X] = "threadIdx.x",
    [PO_THREAD_Y] = "threadIdx.y", [PO_THREAD_Z] = "threadIdx.z",
};

static void
put_indent(bs_text *out, uint32_t depth) {
  for (uint32_t k = 0; k < depth; k++)
    bs_put(out, "  ");
}

static void
put_mark(bs_text *out, const po_nest_node *loop) {
  bs_put(out, loop->separate ? "separate " : "");
  switch (loop->mark) {
  case PO_SERIAL:
    break;
  case PO_PARALLEL:
    bs_put(out, "parallel ");
    break;
  case PO_UNROLL:
    bs_put(out, "unroll ");
    break;
  case PO_VECTORIZE:
    bs_putf(out, "vectorize(%u%s) ", loop->lanes,
            loop->tail == PO_TAIL_MASK ? ", mask" : "");
    break;
  case PO_BIND:
    bs_putf(out, "bind(%s) ", axis_names[loop->bind]);
    break;
  }
}

static void
put_loop(nest_print *x, uint32_t loop, uint32_t depth) {
  assert(loop < x->w->p->nest.nodes.len);
  const po_nest_node *n = &x->w->p->nest.nodes.data[loop];
  put_indent(x->w->out, depth);
  put_mark(x->w->out, n);
  bs_putf(x->w->out, "for %s in ", n->name);
  x->bounds[loop] = po_write_bounds(x->w, loop, x->bounds[n->parent]);
  bs_put(x->w->out, " {\n");
}

static bool
is_identity(const po_stmt *stmt, uint32_t depth) {
  isl_size n = isl_multi_aff_dim(stmt->time, isl_dim_out);
  if (stmt->n_iters != depth || n != (isl_size)depth)
    return false;
  isl_ctx *isl = isl_multi_aff_get_ctx(stmt->time);
  isl_multi_aff *identity = isl_multi_aff_set_tuple_id(
      po_identity(isl, depth), isl_dim_in, isl_set_get_tuple_id(stmt->domain));
  identity =
      isl_multi_aff_align_params(identity, isl_multi_aff_get_space(stmt->time));
  bool is = isl_multi_aff_plain_is_equal(stmt->time, identity) == isl_bool_true;
  isl_multi_aff_free(identity);
  return is;
}

/* The instances that the loops around would run. */
static isl_set *
allowed(const nest_print *x, const po_stmt *stmt) {
  uint32_t loop = x->w->p->nest.nodes.data[stmt->leaf].parent;
  po_pool_reserve(&x->w->pool, 1);
  isl_set *set = isl_set_preimage_multi_aff(isl_set_copy(x->bounds[loop]),
                                            isl_multi_aff_copy(stmt->time));
  return po_keep_set(&x->w->pool, set);
}

static void
put_where(const nest_print *x, const po_stmt *stmt, __isl_keep isl_set *around,
          const char *const *names) {
  if (isl_set_is_subset(around, stmt->domain) == isl_bool_true)
    return;
  po_pool_reserve(&x->w->pool, 1);
  isl_set *rest =
      isl_set_gist(isl_set_copy(stmt->domain), isl_set_copy(around));
  rest = po_keep_set(&x->w->pool, isl_set_coalesce(rest));
  bs_put(x->w->out, " where ");
  po_write_set(x->w, rest, names);
}

static void
put_time(const nest_print *x, const po_stmt *stmt, uint32_t depth,
         const char *const *names) {
  bs_put(x->w->out, " at"); /* alone outside of loops */
  for (uint32_t k = 0; k < depth; k++) {
    po_pool_reserve(&x->w->pool, 1);
    isl_aff *aff =
        po_keep_aff(&x->w->pool, isl_multi_aff_get_aff(stmt->time, (int)k));
    bs_put(x->w->out, k ? ", " : " ");
    po_write_aff(x->w, aff, names);
  }
}

static bool
is_among(const char *name, const char *const *names, uint32_t n) {
  uint32_t k = 0;
  while (k < n && strcmp(name, names[k]))
    k++;
  return k < n;
}

/* A statement that was made of others may have indices of one name. */
static const char *const *
distinct(po_writer *w, const po_stmt *stmt) {
  const char **names = BS_NEWS(&w->arena, const char *, stmt->n_iters + 1);
  for (uint32_t k = 0; k < stmt->n_iters; k++) {
    names[k] = stmt->iters[k];
    for (uint32_t next = 1;
         is_among(names[k], names, k) ||
         (next > 1 && is_among(names[k], stmt->iters, stmt->n_iters));
         next++)
      names[k] = bs_arena_printf(&w->arena, "%s_%u", stmt->iters[k], next);
  }
  return names;
}

static const char *const *
names_around(po_writer *w, uint32_t leaf, uint32_t depth) {
  uint32_t loops[PO_MAX_DEPTH];
  const char **names = BS_NEWS(&w->arena, const char *, depth + 1);
  po_nest_loops(w->p, leaf, loops);
  for (uint32_t k = 0; k < depth; k++)
    names[k] = w->p->nest.nodes.data[loops[k]].name;
  return names;
}

static void
put_stmt(nest_print *x, const po_stmt *stmt, uint32_t depth) {
  po_writer *w = x->w;
  bool identity = is_identity(stmt, depth);
  const char *const *names =
      identity ? names_around(w, stmt->leaf, depth) : distinct(w, stmt);
  put_indent(w->out, depth);
  bs_put(w->out, stmt->name);
  for (uint32_t k = 0; !identity && k < stmt->n_iters; k++)
    bs_putf(w->out, "%s%s", k ? ", " : "[", names[k]);
  bs_put(w->out, identity ? ": " : stmt->n_iters ? "]: " : "[]: ");
  po_write_body(w, stmt, names);
  put_where(x, stmt, allowed(x, stmt), names);
  if (!identity)
    put_time(x, stmt, depth, names);
  bs_putc(w->out, '\n');
}

static void
put_comment(po_writer *w, uint32_t top) {
  const po_program *p = w->p;
  uint32_t k = top;
  while (k != PO_NO_NODE && p->nest.nodes.data[k].kind != PO_LEAF)
    k = po_nest_next(p, k, top);
  if (!w->origins || k == PO_NO_NODE)
    return;
  const po_stmt *stmt = &p->stmts.data[p->nest.nodes.data[k].stmt];
  if (!gs_term_ok(stmt->term))
    return;
  bs_put(w->out, "# ");
  po_put_origin(p, stmt->term, stmt->span, w->out);
  bs_putc(w->out, '\n');
}

/* Closes the loops that end between a node and the one after it. */
static void
close_loops(po_writer *w, uint32_t node, uint32_t next, uint32_t depth) {
  const po_nest_node *nodes = w->p->nest.nodes.data;
  if (nodes[node].kind == PO_LOOP) {
    if (nodes[node].first != PO_NO_NODE)
      return;
    put_indent(w->out, depth);
    bs_put(w->out, "}\n");
  }
  uint32_t parent = next == PO_NO_NODE ? 0 : nodes[next].parent;
  for (uint32_t up = nodes[node].parent; up != parent; up = nodes[up].parent) {
    put_indent(w->out, --depth);
    bs_put(w->out, "}\n");
  }
}

static void
put_nest(nest_print *x) {
  const po_program *p = x->w->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  uint32_t next;
  for (uint32_t k = po_nest_next(p, 0, 0); k != PO_NO_NODE; k = next) {
    uint32_t depth = po_nest_depth(p, k);
    next = po_nest_next(p, k, 0);
    if (nodes[k].parent == 0)
      put_comment(x->w, k);
    if (nodes[k].kind == PO_LOOP) {
      put_loop(x, k, depth);
    } else if (nodes[k].kind == PO_LEAF) {
      put_stmt(x, &p->stmts.data[nodes[k].stmt], depth);
    } else {
      put_indent(x->w->out, depth);
      bs_put(x->w->out, "sync\n");
    }
    close_loops(x->w, k, next, depth);
  }
}

static void
put_program(po_writer *w) {
  const po_program *p = w->p;
  bs_put(w->out, p->strict_fp ? "strict\n" : "");
  for (uint32_t k = 0; k < p->sizes.len; k++)
    put_size(w->out, &p->sizes.data[k]);
  for (uint32_t k = 0; k < p->arrays.len && !p->arrays.data[k].packed; k++)
    put_array(p, w->out, &p->arrays.data[k]);
  nest_print x = {.w = w,
                  .bounds = BS_NEWS(&w->arena, isl_set *, p->nest.nodes.len)};
  po_pool_reserve(&w->pool, 1);
  x.bounds[0] = po_keep_set(
      &w->pool, po_within_sizes(p, isl_set_universe(po_space(p->isl, 0))));
  bs_putc(w->out, '\n');
  put_nest(&x);
}

void
po_print(const po_program *p, bs_text *out) {
  protect(p, out, false, put_program);
}

void
po_print_with_origins(const po_program *p, bs_text *out) {
  protect(p, out, true, put_program);
}

void
po_put_origin(const po_program *p, gs_term term, bs_span span, bs_text *out) {
  const bs_values *values = p->ctx.values;
  bs_put_place(p->ctx.diags, span, out);
  if (!gs_term_ok(term))
    return;
  const gs_node *node = gs_at(p->source, term);
  gs_type type;
  gs_type_at(p->source, term, &type);
  bs_put(out, span.file ? ": " : "");
  bs_put(out, gs_op_table[node->op].name);
  if (node->op == GS_COMPUTE || node->op == GS_CALL) {
    bs_putc(out, ' ');
    bs_put_value(out, values, bs_item(values, node->attr, 0));
  }
  bs_put(out, ", ");
  gs_put_type_of(out, p->source->sizes, &type);
}

/* ---- schedule trees ---- */

static void
put_isl(po_writer *w, char *str) {
  uint32_t mark = po_pool_mark(&w->pool);
  str = po_keep_str(&w->pool, str);
  bs_put(w->out, str ? str : "?");
  po_pool_release(&w->pool, mark);
}

static char *
schedule_text(isl_ctx *isl, __isl_keep isl_schedule *schedule) {
  isl_printer *to = isl_printer_to_str(isl);
  to = isl_printer_set_yaml_style(to, ISL_YAML_STYLE_BLOCK);
  to = isl_printer_print_schedule(to, schedule);
  char *str = isl_printer_get_str(to);
  isl_printer_free(to);
  return str;
}

static void
put_trees(po_writer *w) {
  const po_program *p = w->p;
  const po_nest_node *nodes = p->nest.nodes.data;
  for (uint32_t k = nodes[0].first; k != PO_NO_NODE; k = nodes[k].next) {
    if (nodes[k].kind == PO_SYNC)
      continue;
    po_pool_reserve(&w->pool, 1);
    isl_schedule *tree = po_keep_schedule(&w->pool, po_nest_schedule(p, k));
    put_isl(w, tree ? schedule_text(p->isl, tree) : NULL);
  }
}

void
po_print_schedule_tree(const po_program *p, bs_text *out) {
  protect(p, out, false, put_trees);
}
