/* SPDX-License-Identifier: MIT */
/* test_threads.c - blocks, threads and barriers, by enumeration.
 *
 * Loops of lengths on both sides of every limit are bound to each pair of axes,
 * inside each other and side by side; loops whose bounds follow from a thread
 * have a barrier in them.  What must be accepted is told from CUDA's limits and
 * from the iterations of each thread, one by one. */
#include "fixture.h"
#include "poly/schedule/primitive.h"
#include "tests/unit/sanitized.h"

enum { AXES = 6, THREAD = 3, BLOCK_THREADS = 1024, STEP = SANITIZED ? 7 : 1 };

static const char *const axes[AXES] = {"blockIdx.x",  "blockIdx.y",
                                       "blockIdx.z",  "threadIdx.x",
                                       "threadIdx.y", "threadIdx.z"};
static const int64_t most[AXES] = {INT32_MAX, 65535, 65535, 1024, 1024, 64};

/* Whether the script is carried out on the loops. */
static bool
accepts(const char *loops, const char *script) {
  fixture_start();
  uint32_t source = bs_source_add(&diags, "t.loops", loops, strlen(loops));
  po_program *p = po_read_loops(&ctx, gs_target_default(&ctx), source, NULL, 0);
  cr_assert(p, "%s\n%s", loops, faults());
  source = bs_source_add(&diags, "t.sched", script, strlen(script));
  bs_text out;
  bs_text_init(&out, &heap);
  bool ok = po_run_script(&p, source, &out);
  po_free(p);
  fixture_stop();
  return ok;
}

static void
expect(bool should, const char *loops, const char *script) {
  cr_assert_eq(accepts(loops, script), should, "%s, of\n%s%s",
               should ? "refused" : "accepted", loops, script);
}

/* ---- one loop, and two inside each other ---- */

Test(threads, no_axis_is_longer_than_it_may_be) {
  char loops[200], script[100];
  for (int a = 0; a < AXES; a++)
    for (int64_t n = most[a] - 1; n <= most[a] + 1; n++) {
      snprintf(loops, sizeof loops,
               "output C: i8[%lld]\nfor i in 0..%lld {\n  S: C[i] = 1\n}\n",
               (long long)n, (long long)n);
      snprintf(script, sizeof script, "bind i %s", axes[a]);
      expect(n <= most[a], loops, script);
    }
}

static bool
may_be_inside(int outer, int inner, int64_t n, int64_t m) {
  if (n > most[outer] || m > most[inner] || outer == inner ||
      (outer >= THREAD && inner < THREAD))
    return false;
  return outer < THREAD || n * m <= BLOCK_THREADS;
}

static const int64_t lengths[] = {1, 2, 16, 31, 32, 33, 64, 65, 512, 513, 1024};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void
expect_pair(const char *loops, int a, int b, bool should) {
  char script[100];
  snprintf(script, sizeof script, "bind i %s; bind j %s", axes[a], axes[b]);
  expect(should, loops, script);
}

Test(threads, axes_inside_each_other) {
  char loops[300];
  for (int k = 0; k < AXES * AXES * LENGTHS * LENGTHS; k += 7 * STEP) {
    int a = k % AXES, b = k / AXES % AXES;
    int64_t n = lengths[k / AXES / AXES % LENGTHS];
    int64_t m = lengths[k / AXES / AXES / LENGTHS];
    snprintf(loops, sizeof loops,
             "output C: i8[%lld, %lld]\nfor i in 0..%lld {\n"
             "  for j in 0..%lld {\n    S: C[i, j] = 1\n  }\n}\n",
             (long long)n, (long long)m, (long long)n, (long long)m);
    expect_pair(loops, a, b, may_be_inside(a, b, n, m));
  }
}

/* A block is as wide along an axis as the longest loop there. */
Test(threads, axes_side_by_side) {
  char loops[400];
  for (int k = 0; k < 9 * LENGTHS * LENGTHS; k += 3 * STEP) {
    int a = THREAD + k % 3, b = THREAD + k / 3 % 3;
    int64_t n = lengths[k / 9 % LENGTHS], m = lengths[k / 9 / LENGTHS];
    int64_t width = a != b ? n * m : n > m ? n : m;
    snprintf(loops, sizeof loops,
             "output C: i8[2, %lld]\noutput D: i8[2, %lld]\n"
             "bind(blockIdx.x) for b in 0..2 {\n"
             "  for i in 0..%lld {\n    S: C[b, i] = 1\n  }\n"
             "  for j in 0..%lld {\n    T: D[b, j] = 1\n  }\n}\n",
             (long long)n, (long long)m, (long long)n, (long long)m);
    expect_pair(loops, a, b,
                n <= most[a] && m <= most[b] && width <= BLOCK_THREADS);
  }
}

Test(threads, three_axes_of_threads) {
  static const int64_t of[] = {1, 2, 5, 8, 16, 32, 64, 128};
  char loops[400];
  for (int k = 0; k < 512; k += 2 * STEP + 1) {
    int64_t x = of[k % 8], y = of[k / 8 % 8], z = of[k / 64];
    snprintf(loops, sizeof loops,
             "output C: i8[%lld, %lld, %lld]\nfor k in 0..%lld {\n"
             "  for j in 0..%lld {\n    for i in 0..%lld {\n"
             "      S: C[k, j, i] = 1\n    }\n  }\n}\n",
             (long long)z, (long long)y, (long long)x, (long long)z,
             (long long)y, (long long)x);
    expect(z <= most[5] && x * y * z <= BLOCK_THREADS, loops,
           "bind k threadIdx.z; bind j threadIdx.y; bind i threadIdx.x");
  }
}

/* ---- barriers ---- */

enum { TEAM = 5 };

/* The loop over j of thread t: from max(0, a t + b) to below min(4, c t + d).
 */
typedef struct team {
  int a, b, c, d;
} team;

static int
first_of(const team *x, int t) {
  int n = x->a * t + x->b;
  return n > 0 ? n : 0;
}

static int
end_of(const team *x, int t) {
  int n = x->c * t + x->d;
  return n < 4 ? n : 4;
}

static bool
is_idle(const team *x, int t) {
  return first_of(x, t) >= end_of(x, t);
}

/* A block has the threads from the first one that does something to the last:
 * all of them run the same iterations. */
static bool
all_meet(const team *x) {
  int first = 0, last = TEAM - 1;
  while (first < TEAM && is_idle(x, first))
    first++;
  while (last > first && is_idle(x, last))
    last--;
  for (int t = first; t <= last; t++)
    if (first_of(x, t) != first_of(x, first) ||
        end_of(x, t) != end_of(x, first))
      return false;
  return true;
}

static bool
runs(const team *x) {
  bool any = false;
  for (int t = 0; t < TEAM; t++)
    any |= !is_idle(x, t);
  return any;
}

Test(threads, all_come_to_a_barrier_or_none_does) {
  char loops[400];
  int met = 0, missed = 0;
  for (int k = 0; k < 5 * 11 * 5 * 12; k += 4 * STEP + 1) {
    team x = {k % 5 - 2, k / 5 % 11 - 4, k / 55 % 5 - 2, k / 275 - 2};
    if (!runs(&x))
      continue;
    snprintf(loops, sizeof loops,
             "output C: i32[2, %d, 4]\nbind(blockIdx.x) for b in 0..2 {\n"
             "  for t in 0..%d {\n"
             "    for j in max(0, %d * t + %d)..min(4, %d * t + %d) {\n"
             "      S: C[b, t, j] = 1\n    }\n  }\n}\n",
             TEAM, TEAM, x.a, x.b, x.c, x.d);
    bool same = all_meet(&x);
    met += same;
    missed += !same;
    expect(same, loops, "bind t threadIdx.x; sync_threads S");
    expect(same, loops, "sync_threads S; bind t threadIdx.x");
    expect(true, loops, "bind t threadIdx.x; sync_threads j");
  }
  cr_assert(met > 5 / STEP && missed > 50 / STEP, "%d and %d", met, missed);
}
