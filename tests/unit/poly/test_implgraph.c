/* SPDX-License-Identifier: MIT */
/* test_implgraph.c - calls, buffers and views of graphs under transforms. */
#include "poly/implgraph/buffers.h"
#include "base/random.h"
#include <criterion/criterion.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static po_graph graph;

static void
start(void) {
  bs_heap_init(&heap, NULL, 0);
  bs_arena_init(&arena, &heap);
  po_graph_init(&graph, &arena, "g");
}

static void
stop(void) {
  po_graph_done(&graph);
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

TestSuite(implgraph, .init = start, .fini = stop);

/* Axes z0, z1, ... and one node that writes a dense tensor over them. */
static void
dense(gs_dtype dtype, uint32_t n, const int64_t *sizes) {
  static const char *const names[] = {"z0", "z1", "z2", "z3"};
  uint32_t axes[4];
  int64_t strides[4], stride = 1;
  for (uint32_t k = 0; k < n; k++)
    axes[k] =
        po_axis_add(&graph.axes, names[k], NULL, sizes[k], PO_AXIS_PARALLEL);
  for (uint32_t k = n; k-- > 0; stride *= sizes[k])
    strides[k] = stride;
  po_graph_add_node(&graph, "S", axes, n);
  po_graph_add_tensor(&graph, 0, "Y", dtype, true, sizes, strides);
}

#define LIST(...)                                                              \
  (uint32_t[]){__VA_ARGS__},                                                   \
      sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define DENSE(dtype, ...)                                                      \
  dense(dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),             \
        (int64_t[]){__VA_ARGS__})

static const po_tensor *
tensor(void) {
  return &graph.nodes.data[0].tensors.data[0];
}

/* "z0:2x240 z1T:3x80" */
static const char *
dims(const po_dim *list, uint32_t n) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < n; k++)
    bs_putf(&out, "%s%s:%lldx%lld", k ? " " : "",
            po_axis_at(&graph.axes, list[k].axis)->name,
            (long long)list[k].repeat, (long long)list[k].stride);
  return bs_text_str(&out);
}

static const char *
view(void) {
  return dims(tensor()->view.data, tensor()->view.len);
}

static const char *
buffer(void) {
  return dims(tensor()->vectorized.data, tensor()->vectorized.len);
}

Test(implgraph, a_view_follows_splits_and_a_contiguous_merge) {
  DENSE(GS_F32, 2, 6, 8, 5);
  po_graph_tile_split(&graph, 1, 2);
  po_graph_tile_split(&graph, 2, 4);
  cr_assert_str_eq(view(),
                   "z0:2x240 z1T:3x80 z1t:2x40 z2T:2x20 z2t:4x5 z3:5x1");
  cr_assert_eq(po_graph_merge(&graph, LIST(5, 6)), 8);
  cr_assert_str_eq(view(), "z0:2x240 z1T:3x80 z1tz2T:4x20 z2t:4x5 z3:5x1");
}

Test(implgraph, a_view_keeps_axes_that_are_apart_in_memory) {
  DENSE(GS_F32, 2, 6, 8, 5);
  cr_assert(po_graph_reorder(&graph, LIST(0, 2, 1, 3)));
  cr_assert_str_eq(view(), "z0:2x240 z2:8x5 z1:6x40 z3:5x1");
  uint32_t merged = po_graph_merge(&graph, LIST(0, 2));
  cr_assert_eq(po_axis_at(&graph.axes, merged)->value, 16);
  cr_assert_str_eq(view(), "z0:2x240 z2:8x5 z1:6x40 z3:5x1");
  /* Its buffer still has all 16 along the merged axis. */
  cr_assert(po_graph_set_loop(&graph, 0, PO_NO_AXIS));
  cr_assert(po_graph_vectorize(&graph, 0, 0, LIST(merged, 1, 3), 0));
  cr_assert_str_eq(buffer(), "z0z2:16x30 z1:6x5 z3:5x1");
  /* Reordering puts kept axes where the merged one goes. */
  cr_assert(po_graph_reorder(&graph, LIST(1, merged, 3)));
  cr_assert_str_eq(view(), "z1:6x40 z0:2x240 z2:8x5 z3:5x1");
}

Test(implgraph, a_split_of_one_element_stays_one) {
  po_axis_add(&graph.axes, "i", NULL, 10, PO_AXIS_PARALLEL);
  po_graph_add_node(&graph, "S", LIST(0));
  po_graph_add_tensor(&graph, 0, "c", GS_F32, false, (int64_t[]){1},
                      (int64_t[]){0});
  po_graph_tile_split(&graph, 0, 4);
  cr_assert_str_eq(view(), "iT:1x0 it:1x0");
}

Test(implgraph, calls_and_the_buffer_of_an_output) {
  DENSE(GS_BF16, 2, 3, 4, 8);
  cr_assert(po_graph_set_loop(&graph, 0, 1));
  cr_assert(po_graph_vectorize(&graph, 0, 0, LIST(1, 2, 3), 0));
  cr_assert_eq(graph.nodes.data[0].calls, 6);
  cr_assert_eq(graph.nodes.data[0].api_elements, 32);
  cr_assert_str_eq(buffer(), "z1:3x32 z2:4x8 z3:8x1");
  cr_assert_eq(tensor()->elements, 96);
  cr_assert_eq(tensor()->bytes, 192);
  cr_assert_eq(tensor()->level, 0);
}

Test(implgraph, vectorized_axes_contain_a_call_in_order) {
  DENSE(GS_F32, 2, 3, 4, 8);
  cr_assert(po_graph_set_loop(&graph, 0, 1));
  cr_assert_not(po_graph_vectorize(&graph, 0, 0, LIST(1, 3), 0));
  cr_assert_str_eq(graph.axes.rule, "R6");
  cr_assert_not(po_graph_vectorize(&graph, 0, 0, LIST(3, 2), 0));
  cr_assert_not(po_graph_vectorize(&graph, 0, 0, LIST(2, 1, 3), 0));
  cr_assert_not(po_graph_set_loop(&graph, 0, 9));
  cr_assert_str_eq(graph.axes.rule, "R5");
}

Test(implgraph, a_whole_case) {
  DENSE(GS_F32, 64, 300, 128);
  po_graph_tile_split(&graph, 1, 50);
  cr_assert_eq(po_graph_merge(&graph, LIST(0, 3)), 5);
  po_graph_block_split(&graph, 5, 8);
  cr_assert(po_graph_reorder(&graph, LIST(6, 7, 4, 2)));
  cr_assert(po_graph_set_loop(&graph, 0, 7));
  cr_assert(po_graph_vectorize(&graph, 0, 0, LIST(4, 2), 0));
  bs_text out;
  bs_text_init(&out, &heap);
  po_graph_print(&graph, &out);
  cr_assert_str_eq(bs_text_str(&out),
                   "axis 0 z0 64 64 Original - -\n"
                   "axis 1 z1 300 300 Original - -\n"
                   "axis 2 z2 128 128 Original - -\n"
                   "axis 3 z1T Ceiling(300/z1t_size) 6 TileOuter {1} 4\n"
                   "axis 4 z1t z1t_size 50 TileInner {1} 3\n"
                   "axis 5 z0z1T 64*Ceiling(300/z1t_size) 384 Merged {0,3} -\n"
                   "axis 6 z0z1TB Ceiling(64*Ceiling(300/z1t_size)/"
                   "z0z1Tb_size) 48 BlockOuter {5} 7\n"
                   "axis 7 z0z1Tb z0z1Tb_size 8 BlockInner {5} 6\n"
                   "node S [z0z1TB, z0z1Tb, z1t, z2] z0z1Tb 384 6400\n"
                   "  output Y [z1t, z2] [128, 1] 6400 25600 z0z1Tb\n");
}

Test(implgraph, a_ragged_case) {
  DENSE(GS_F32, 64, 301, 128);
  po_graph_tile_split(&graph, 1, 50);
  cr_assert_eq(po_axis_at(&graph.axes, 3)->value, 7);
  cr_assert_eq(po_axis_at(&graph.axes, 4)->tail, 1);
  cr_assert_eq(
      po_axis_at(&graph.axes, po_graph_merge(&graph, LIST(0, 3)))->value, 448);
  cr_assert_eq(po_axis_block_size(&graph.axes, 5, 48), 10);
  po_graph copy;
  po_graph_copy(&copy, &graph, &arena);
  po_graph_block_split(&graph, 5, 8);
  cr_assert_eq(po_axis_at(&graph.axes, 6)->value, 56);
  po_graph_block_split(&copy, 5, 10);
  cr_assert_eq(po_axis_at(&copy.axes, 6)->value, 45);
  po_graph_done(&copy);
}

Test(implgraph, buffers_are_padded_to_whole_units) {
  static const struct {
    gs_dtype dtype;
    int64_t align;
    const char *buffer;
    int64_t elements, bytes;
  } cases[] = {{GS_F32, 32, "z0:4x16 z1:9x1", 64, 256},
               {GS_BF16, 32, "z0:4x16 z1:9x1", 64, 128},
               {GS_F32, 0, "z0:4x9 z1:9x1", 36, 144}};
  for (uint32_t k = 0; k < 3; k++) {
    po_graph_done(&graph);
    po_graph_init(&graph, &arena, "g");
    DENSE(cases[k].dtype, 4, 9);
    cr_assert(po_graph_set_loop(&graph, 0, PO_NO_AXIS));
    cr_assert(po_graph_vectorize(&graph, 0, 0, LIST(0, 1), cases[k].align));
    cr_assert_str_eq(buffer(), cases[k].buffer);
    cr_assert_eq(tensor()->elements, cases[k].elements);
    cr_assert_eq(tensor()->bytes, cases[k].bytes);
  }
}

Test(implgraph, a_serial_axis_is_a_loop) {
  po_axis_add(&graph.axes, "t", NULL, 10, PO_AXIS_SERIAL);
  po_axis_add(&graph.axes, "i", NULL, 20, PO_AXIS_PARALLEL);
  po_graph_add_node(&graph, "S", LIST(0, 1));
  cr_assert_not(po_graph_set_loop(&graph, 0, PO_NO_AXIS));
  cr_assert_str_eq(graph.axes.rule, "R8");
  cr_assert(po_graph_set_loop(&graph, 0, 0));
}

Test(implgraph, nodes_have_all_merged_axes_or_none) {
  po_axis_add(&graph.axes, "i", NULL, 10, PO_AXIS_PARALLEL);
  po_axis_add(&graph.axes, "k", NULL, 20, PO_AXIS_REDUCTION);
  po_graph_add_node(&graph, "init", LIST(0));
  po_graph_add_node(&graph, "update", LIST(0, 1));
  cr_assert_eq(po_graph_merge(&graph, LIST(0, 1)), PO_NO_AXIS);
  cr_assert(strstr(graph.axes.why, "init runs over only a part"));
  cr_assert_eq(graph.axes.list.len, 2);
}

/* ---- places of buffers ---- */

/* Nodes over one axis, each of which reads arrays of nodes before it, some kept
 * in the buffer alone, and writes one of its own. */
static void
chain(uint64_t *state, uint32_t n) {
  static const int64_t size[] = {12}, stride[] = {1};
  po_axis_add(&graph.axes, "i", NULL, 12, PO_AXIS_PARALLEL);
  for (uint32_t k = 0; k < n; k++) {
    po_graph_add_node(&graph, "S", LIST(0));
    cr_assert(po_graph_set_loop(&graph, k, 0));
    for (uint32_t j = 0; j < k; j++)
      if (j + 1 == k || bs_random_next(state) % 3 == 0)
        po_graph_add_tensor(&graph, k, bs_arena_printf(&arena, "t%u", j),
                            GS_F32, false, size, stride);
    po_graph_add_tensor(&graph, k, bs_arena_printf(&arena, "t%u", k), GS_F32,
                        true, size, stride);
  }
}

static void
give_bytes(uint64_t *state, uint32_t n) {
  int64_t bytes[8];
  bool local[8];
  for (uint32_t k = 0; k < n; k++) {
    bytes[k] = 32 * (int64_t)(1 + bs_random_next(state) % 4);
    local[k] = bs_random_next(state) % 3 != 0;
  }
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t j = 0; j < graph.nodes.data[k].tensors.len; j++) {
      po_tensor *t = &graph.nodes.data[k].tensors.data[j];
      uint32_t number = (uint32_t)(t->name[1] - '0');
      t->bytes = bytes[number];
      t->local = local[number];
    }
}

/* Whether node k finds in the buffer what it has there: it uses it, or others
 * do before and after it, or it is filled or emptied all the time. */
static bool
is_needed(const po_buffer *b, uint32_t k) {
  bool before = false, after = false;
  for (uint32_t i = 0; i < graph.nodes.len; i++)
    for (uint32_t j = 0; j < graph.nodes.data[i].tensors.len; j++)
      if (!strcmp(graph.nodes.data[i].tensors.data[j].name, b->name)) {
        before |= i <= k;
        after |= i >= k;
      }
  return b->kind != PO_TEMPORARY || (before && after);
}

static void
expect_apart(const po_buffers *b, uint64_t seed) {
  for (uint32_t k = 0; k < graph.nodes.len; k++)
    for (uint32_t i = 0; i < b->list.len; i++)
      for (uint32_t j = 0; j < i; j++) {
        const po_buffer *x = &b->list.data[i], *y = &b->list.data[j];
        cr_expect(!is_needed(x, k) || !is_needed(y, k) ||
                      x->offset + x->bytes * x->depth <= y->offset ||
                      y->offset + y->bytes * y->depth <= x->offset,
                  "seed %llu, node %u: %s and %s", (unsigned long long)seed, k,
                  x->name, y->name);
      }
}

Test(implgraph, buffers_that_are_needed_at_once_lie_apart) {
  uint32_t shared = 0, twice = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    uint64_t state = seed;
    po_graph_machine m = {.cores = 1,
                          .buffer_bytes = 300 + 40 * (int64_t)(seed % 9)};
    uint32_t n = 2 + (uint32_t)(seed % 5);
    po_buffers b;
    int64_t all = 0;
    po_graph_done(&graph);
    po_graph_init(&graph, &arena, "g");
    chain(&state, n);
    give_bytes(&state, n);
    po_place_buffers(&graph, &m, &b);
    expect_apart(&b, seed);
    for (uint32_t k = 0; k < b.list.len; k++) {
      all += b.list.data[k].bytes * b.list.data[k].depth;
      twice += b.list.data[k].depth == 2;
    }
    cr_expect_leq(b.bytes, all);
    shared += b.bytes < all;
    po_buffers_done(&heap, &b);
  }
  cr_expect(shared > 10 && twice > 10, "%u and %u", shared, twice);
}
