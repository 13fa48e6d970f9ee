/* SPDX-License-Identifier: MIT */
/* gpu.c - loops bound to the blocks and threads of a GPU.
 *
 * Of every nest the loops from the outside in, as long as each is the only one
 * and its iterations are independent, are the grid: the last two are cut into
 * tiles, whose loops are blocks and whose points are threads; what is outside
 * of them becomes one loop over blocks.  Where tiling and fusion left several
 * nests below the tile loops, the tile loops are the blocks, each nest below
 * is spread over the same threads, arrays of the tile are shared, and barriers
 * stand between nests that hand values on.
 *
 * All of it is primitives, tried one by one: a nest for which the first bind
 * is refused runs on one thread, as it would without this. */
#include "glenside/target/tuned.h"
#include "poly/search/chooser.h"
#include "poly/strategy/strategy.h"
#include <assert.h>
#include <string.h>

static po_arg
loops_arg(const uint32_t *nodes, uint32_t n) {
  assert(nodes || !n);
  return (po_arg){.kind = PO_ARG_LOOPS, .nodes = nodes, .n = n};
}

static bool
step(po_chooser *c, po_step_call *call) {
  return po_attempt(c, call, NULL);
}

static bool
bind(po_chooser *c, uint32_t loop, po_bind_axis axis) {
  po_step_call call = po_step("bind");
  call.args[0] = po_loop_arg(loop);
  call.args[1] = (po_arg){.kind = PO_ARG_WORD, .word = po_bind_names[axis]};
  return step(c, &call);
}

static void
make_serial(po_chooser *c, uint32_t root) {
  uint32_t next;
  for (uint32_t k = root; k != PO_NO_NODE; k = next) {
    next = po_nest_next(po_now(c), k, root);
    const po_nest_node *n = po_node(po_now(c), k);
    if (n->kind != PO_LOOP || n->mark == PO_SERIAL)
      continue;
    po_step_call call = po_step("serial");
    call.args[0] = po_loop_arg(k);
    step(c, &call);
  }
}

/* Loops from a node down while each is an only child and parallel. */
static uint32_t
parallel_chain(po_chooser *c, uint32_t top, uint32_t *loops) {
  uint32_t n = 0;
  po_program *p = po_now(c);
  for (uint32_t k = top;
       k != PO_NO_NODE && n < PO_MAX_DEPTH && po_node(p, k)->kind == PO_LOOP &&
       po_loop_is_parallel(p, k, true, NULL);
       k = po_only_child(p, k))
    loops[n++] = k;
  return n;
}

static int64_t
values_of(const po_program *p, uint32_t loop) {
  int64_t min, count;
  return po_value_range(p, loop, &min, &count) ? count : -1;
}

/* Two loops of one, the inner one of at most `most` iterations; *outer is
 * PO_NO_NODE where there are no more than that. */
static bool
cut(po_chooser *c, uint32_t loop, int64_t most, uint32_t *outer,
    uint32_t *inner) {
  assert(most >= 1);
  int64_t factors[2] = {-1, most};
  *outer = PO_NO_NODE;
  *inner = loop;
  int64_t n = values_of(po_now(c), loop);
  if (n >= 0 && n <= most)
    return true;
  po_step_call call = po_step("split");
  call.args[0] = po_loop_arg(loop);
  call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = factors, .n = 2};
  if (!step(c, &call) || call.n_made != 2)
    return false;
  *outer = call.made[0];
  *inner = call.made[1];
  return true;
}

/* ---- one nest, points as threads ---- */

static void
bind_line(po_chooser *c, uint32_t loop) {
  uint32_t block, thread;
  if (!cut(c, loop, GS_DEVICE_THREADS, &block, &thread))
    return;
  if (block != PO_NO_NODE)
    bind(c, block, PO_BLOCK_X);
  bind(c, thread, PO_THREAD_X);
}

/* loops: the last two are tiled. */
static void
bind_plane(po_chooser *c, uint32_t *loops, uint32_t n) {
  int64_t sizes[2] = {GS_DEVICE_THREADS_Y, GS_DEVICE_THREADS_X};
  if (n > 3) {
    po_step_call fuse = po_step("fuse");
    fuse.args[0] = loops_arg(loops, n - 2);
    if (!step(c, &fuse) || !fuse.n_made)
      return;
    loops[0] = fuse.made[0];
    loops[1] = loops[n - 2];
    loops[2] = loops[n - 1];
    n = 3;
  }
  po_step_call call = po_step("tile");
  call.args[0] = loops_arg(loops + n - 2, 2);
  call.args[1] = (po_arg){.kind = PO_ARG_INTS, .numbers = sizes, .n = 2};
  if (!step(c, &call) || call.n_made != 4)
    return;
  if (n == 3)
    bind(c, loops[0], PO_BLOCK_Z);
  bind(c, call.made[0], PO_BLOCK_Y);
  bind(c, call.made[1], PO_BLOCK_X);
  bind(c, call.made[2], PO_THREAD_Y);
  bind(c, call.made[3], PO_THREAD_X);
}

/* ---- tiles of several nests, tiles as blocks ---- */

/* Some array lives below the loop, in the way of threads of their own. */
static bool
has_locals(const po_program *p, uint32_t top, int64_t *bytes) {
  bool found = false;
  *bytes = 0;
  for (uint32_t a = 0; a < p->arrays.len; a++) {
    const po_array *array = &p->arrays.data[a];
    int64_t size = gs_dtype_table[array->dtype].bytes;
    bool here = false;
    for (uint32_t k = 0; k < p->stmts.len; k++)
      here |= p->stmts.data[k].array == a &&
              po_nest_is_below(p, p->stmts.data[k].leaf, top);
    if (array->role != PO_LOCAL || !here)
      continue;
    for (uint32_t d = 0; d < array->rank; d++)
      size *= array->fold[d] ? array->fold[d] : array->dim[d];
    found |= size > 8;
    *bytes += size;
  }
  return found;
}

static uint32_t
count_children(const po_program *p, uint32_t node) {
  uint32_t n = 0;
  for (uint32_t k = po_node(p, node)->first; k != PO_NO_NODE;
       k = po_node(p, k)->next)
    n += po_node(p, k)->kind == PO_LOOP;
  return n;
}

/* The names of the children of a node that are loops. */
static uint32_t
children_of(const po_program *p, uint32_t node, uint32_t *out, uint32_t room) {
  uint32_t n = 0;
  for (uint32_t k = po_node(p, node)->first; k != PO_NO_NODE && n < room;
       k = po_node(p, k)->next)
    if (po_node(p, k)->kind == PO_LOOP)
      out[n++] = k;
  return n;
}

static void
share_locals(po_chooser *c, uint32_t top) {
  for (uint32_t a = 0; a < po_now(c)->arrays.len; a++) {
    const po_array *array = &po_now(c)->arrays.data[a];
    po_arg writers = po_writers_arg(po_now(c), a);
    int64_t elements = 1;
    for (uint32_t d = 0; d < array->rank; d++)
      elements *= array->fold[d] ? array->fold[d] : array->dim[d];
    if (array->role != PO_LOCAL || elements < 2 ||
        po_now(c)->stmts.data[writers.stmt].array != a ||
        !po_nest_is_below(po_now(c), po_now(c)->stmts.data[writers.stmt].leaf,
                          top))
      continue;
    po_step_call call = po_step("set_buffer");
    call.args[0] = (po_arg){.kind = PO_ARG_ARRAY, .array = a};
    call.args[1] = (po_arg){.kind = PO_ARG_WORD, .word = "shared"};
    step(c, &call);
  }
}

/* The points of a nest below the tile loops: the last two parallel loops. */
static void
spread(po_chooser *c, uint32_t top) {
  uint32_t loops[PO_MAX_DEPTH], n = parallel_chain(c, top, loops), outer, inner;
  if (!n)
    return;
  uint32_t y = n > 1 ? loops[n - 2] : PO_NO_NODE;
  if (cut(c, loops[n - 1], GS_DEVICE_THREADS_X, &outer, &inner))
    bind(c, inner, PO_THREAD_X);
  if (y != PO_NO_NODE && cut(c, y, GS_DEVICE_THREADS_Y, &outer, &inner))
    bind(c, inner, PO_THREAD_Y);
}

static void
bar(po_chooser *c, uint32_t node) {
  po_step_call call = po_step("sync_threads");
  call.args[0] =
      (po_arg){.kind = PO_ARG_NODE, .node = node, .array = PO_NO_NODE};
  step(c, &call);
}

/* The nests below the tile loop, however many, with barriers between them. */
static void
spread_nests(po_chooser *c, uint32_t tile) {
  bs_heap *heap = po_now(c)->ctx.heap;
  uint32_t m = count_children(po_now(c), tile);
  uint32_t *children = bs_calloc(heap, m + 1, sizeof *children);
  children_of(po_now(c), tile, children, m);
  for (uint32_t k = 0; k < m; k++)
    spread(c, children[k]);
  for (uint32_t k = 0; k + 1 < m; k++)
    bar(c, children[k]);
  bs_free(heap, children);
}

static void
bind_tiles(po_chooser *c, const uint32_t *loops, uint32_t n) {
  assert(loops && n);
  static const po_bind_axis axes[] = {PO_BLOCK_X, PO_BLOCK_Y, PO_BLOCK_Z};
  uint32_t last = loops[n - 1];
  for (uint32_t k = 0; k < n && k < 3; k++)
    if (!bind(c, loops[n - 1 - k], axes[k]))
      return;
  share_locals(c, last);
  spread_nests(c, last);
}

/* ---- all nests ---- */

static void
bind_nest(po_chooser *c, uint32_t root) {
  uint32_t loops[PO_MAX_DEPTH], children[2];
  int64_t bytes;
  make_serial(c, root);
  uint32_t n = parallel_chain(c, root, loops);
  if (!n)
    return;
  if (children_of(po_now(c), loops[n - 1], children, 2) == 2 &&
      has_locals(po_now(c), loops[n - 1], &bytes)) {
    if (bytes <= GS_DEVICE_SHARED)
      bind_tiles(c, loops, n);
    else
      bind_line(c, loops[0]);
    return;
  }
  if (n == 1)
    bind_line(c, loops[0]);
  else
    bind_plane(c, loops, n);
}

static bool
is_bound(const po_program *p) {
  for (uint32_t k = 1; k < p->nest.nodes.len; k++)
    if (po_node(p, k)->kind == PO_LOOP && po_node(p, k)->mark == PO_BIND)
      return true;
  return false;
}

void
po_bind_automatically(po_program **program) {
  static const po_auto_options none;
  po_chooser c = {.program = program, .options = &none, .isl = (*program)->isl};
  if (is_bound(*program))
    return;
  for (uint32_t k = po_node(po_now(&c), 0)->last; k != PO_NO_NODE;
       k = po_node(po_now(&c), k)->prev)
    if (po_node(po_now(&c), k)->kind == PO_LOOP)
      bind_nest(&c, k);
  po_lay_out(po_now(&c));
}
