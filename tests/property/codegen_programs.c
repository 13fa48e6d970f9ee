/* SPDX-License-Identifier: MIT */
/* codegen_programs.c - generated C equals the interpreter on random programs.
 *
 *   codegen_programs [first-seed [programs [batch [sanitize]]]]
 *
 * Programs are well-typed by construction: random operators are tried until
 * one has a type, for machines of several vector widths, their loops as written
 * or scheduled in any of the automatic ways; one in five is a pipeline of
 * stages over an image, long enough for rows in turn.  They are kept as a list
 * of steps, so that a failing one is shrunk: the schedule goes, outputs are
 * dropped, steps become inputs, outputs move to their operands, as long as it
 * still fails. Many programs are compiled together.
 *
 * Integers must agree exactly.  For floats the tolerance is relative to the
 * largest value anywhere in the program; operators that are not continuous, or
 * steep, are applied only to values that both sides have exactly. */
#include "codegen/run/run_build.h"
#include "tests/property/programs/plan.h"
#include "tests/unit/sanitized.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trial {
  plan plan;
  gs_program *program;
  po_program *loops;
  gs_tensor *in, *expected, *found;
} trial;

/* Programs of which a schedule keeps some rows of an array. */
static uint32_t n_folded;

static void
note_folded(const po_program *p) {
  for (uint32_t k = 0; k < p->arrays.len; k++)
    for (uint32_t d = 0; d < p->arrays.data[k].rank; d++)
      if (p->arrays.data[k].fold[d] > 1 &&
          p->arrays.data[k].fold[d] < p->arrays.data[k].dim[d]) {
        n_folded++;
        return;
      }
}

static void
schedule(trial *t) {
  const plan *p = &t->plan;
  po_auto_options options = {.fuse = (po_fuse)(p->way - 1),
                             .n_tiles = p->n_tiles};
  for (uint32_t k = 0; k < p->n_tiles; k++)
    options.tiles[k] = p->tiles[k];
  po_schedule_automatically(&t->loops, &options);
  note_folded(t->loops);
}

static bool
prepare(trial *t) {
  t->program = build(&t->plan, false);
  t->in = inputs_of(&t->plan, t->program);
  t->expected = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  t->found = BS_NEWS(&arena, gs_tensor, t->program->outputs.len);
  po_options options = {.strict_fp = t->plan.strict_fp,
                        .chains = has_chains(&t->plan),
                        .max_pieces = t->plan.max_pieces,
                        .max_operations = t->plan.max_operations};
  if (!gs_interpret(t->program, t->in, t->expected))
    return false;
  const gs_target *target = targets[t->plan.machine];
  t->loops = po_lower(t->program, target, &options);
  if (!t->loops && options.max_operations) {
    /* Not even the cautious way was simple enough. */
    bs_clear(&diags.list);
    options.max_operations = 0;
    t->loops = po_lower(t->program, target, &options);
  }
  if (t->loops && t->plan.way)
    schedule(t);
  return t->loops;
}

static bool
agrees(const trial *t, bool show) {
  return agree(&t->plan, t->program, t->expected, t->found, show);
}

static void
finish(trial *t) {
  po_free(t->loops);
}

static bool sanitize = true;

/* The generated code is the same in all builds: where glen itself runs under
 * the sanitizers it is made, and the release build compiles and runs it. */
static bool
emit(trial *trials, uint32_t n) {
  bool ok = true;
  for (uint32_t k = 0; k < n && ok; k++) {
    bs_text c, h;
    bs_text_init(&c, &heap);
    bs_text_init(&h, &heap);
    cg_options options = {.name = "f", .openmp = true};
    ok = cg_emit_c(trials[k].loops, &options, &c, &h);
    for (uint32_t j = 0; j < trials[k].program->outputs.len; j++)
      trials[k].found[j] = trials[k].expected[j];
    bs_text_done(&h);
    bs_text_done(&c);
  }
  return ok;
}

static bool
run(trial *trials, uint32_t n) {
  if (SANITIZED)
    return emit(trials, n);
  cg_job *jobs = BS_NEWS(&arena, cg_job, n);
  cg_build_options options = {
      .sanitize = sanitize, .optimize = "-O0", .time_limit = 300, .threads = 2};
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = (cg_job){.program = trials[k].loops,
                       .inputs = trials[k].in,
                       .outputs = trials[k].found};
  return cg_build_and_run_all(jobs, n, &options, 1);
}

static bool
passes(const plan *p, bool show) {
  trial t = {.plan = *p};
  bool ok = prepare(&t) && run(&t, 1) && agrees(&t, show);
  if (show)
    show_faults();
  finish(&t);
  bs_clear(&diags.list);
  return ok;
}

static void
show_plan(const plan *p) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(build(p, false), true, &out);
  fprintf(
      stderr,
      "seed %llu, strict %d, pieces %u, operations %lu, machine %u, fuse %s, "
      "tiles %lld %lld:\n%s\n",
      (unsigned long long)p->seed, p->strict_fp, p->max_pieces,
      p->max_operations, p->machine,
      p->way ? po_fuse_names[p->way - 1] : "none",
      (long long)(p->n_tiles > 0 ? p->tiles[0] : 0),
      (long long)(p->n_tiles > 1 ? p->tiles[1] : 0), bs_text_str(&out));
  bs_text_done(&out);
}

static int
fail(const plan *p) {
  plan smallest = *p;
  if (passes(p, true))
    fprintf(stderr, "seed %llu fails only together with others\n",
            (unsigned long long)p->seed);
  shrink(&smallest, passes, 100);
  show_plan(&smallest);
  passes(&smallest, true);
  return 1;
}

/* ---- main ---- */

/* Small caches, so that loops are blocked; the last one stores slowly past
 * them. */
static const char *const machine_texts[MACHINES] = {
    "(target test)\n",
    "(target test (vector-bytes 32) (vector-registers 16)\n"
    "  (cache 1 (bytes 1024)) (cache 2 (bytes 8192)))\n",
    "(target test (vector-bytes 64) (vector-registers 32)\n"
    "  (cache 1 (bytes 2048)) (cache 2 (bytes 16384))\n"
    "  (memory (stored-bytes-per-cycle 2)))\n"};

static const char instructions[] =
    "(instr mma (params r c) (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {result.stride.0}, "
    "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, {y.stride.0}, "
    "{y.stride.1});\"))\n"
    "(instr mmaDense (params r c)\n"
    "  (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {c}, 1, {x}, {x.stride.0}, 1, "
    "{y}, {c}, 1);\"))\n"
    "(instr mmaTiled (params r c)\n"
    "  (operands (x ((b) (r)) f32) (y ((r c) ()) f32))\n"
    "  (result ((b c) ()) f32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (layout y (transpose y (list 1 0)))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma({r}, {c}, {b}, {result}, {c}, 1, {x}, {r}, 1, "
    "{y}, 1, {r});\"))\n"
    "(instr mmaI8 (params r c) (operands (x ((b) (r)) i8) (y ((r c) ()) i8))\n"
    "  (result ((b c) ()) i32)\n"
    "  (semantics (compute dotProd (cartProd x (access (transpose y (list 1 "
    "0)) 1))))\n"
    "  (cost (cycles 1))\n"
    "  (emit \"mma_i8({r}, {c}, {b}, {result}, {result.stride.0}, "
    "{result.stride.1}, {x}, {x.stride.0}, {x.stride.1}, {y}, {y.stride.0}, "
    "{y.stride.1});\"))\n";

static const char prelude[] =
    "#define MMA(NAME, T, S) \\\n"
    "  static inline void NAME(long r, long c, long b, S *o, long oi, \\\n"
    "    long oj, const T *x, long xi, long xk, const T *y, long yk, \\\n"
    "    long yj) { \\\n"
    "    for (long i = 0; i < b; i++) \\\n"
    "      for (long j = 0; j < c; j++) { \\\n"
    "        S sum = 0; \\\n"
    "        for (long k = 0; k < r; k++) \\\n"
    "          sum += (S)x[i * xi + k * xk] * (S)y[k * yk + j * yj]; \\\n"
    "        o[i * oi + j * oj] = sum; \\\n"
    "      } \\\n"
    "  }\n"
    "MMA(mma, float, float)\n"
    "MMA(mma_i8, int8_t, int32_t)\n";

static bool
make_targets(void) {
  for (uint32_t k = 0; k < MACHINES; k++) {
    const char *text =
        bs_arena_printf(&arena, "%s%s", machine_texts[k], instructions);
    uint32_t source = bs_source_add(&diags, "test.target", text, strlen(text));
    targets[k] = gs_target_parse(&ctx, source);
    if (!targets[k])
      return false;
    bs_push(&heap, &targets[k]->preludes, prelude);
  }
  return true;
}

static int
run_batch(uint64_t seed, uint32_t n) {
  trial *trials = calloc(n, sizeof *trials);
  bool ok = trials;
  for (uint32_t k = 0; ok && k < n; k++) {
    make_plan(&trials[k].plan, seed + k);
    if (!prepare(&trials[k])) {
      show_plan(&trials[k].plan);
      show_faults();
      ok = false;
    }
  }
  bool ran = ok && run(trials, n);
  if (!ran)
    show_faults();
  int failed = !ok;
  for (uint32_t k = 0; ok && k < n && !failed; k++)
    if (ran ? !agrees(&trials[k], false) : !passes(&trials[k].plan, false))
      failed = fail(&trials[k].plan);
  failed |= !ran;
  for (uint32_t k = 0; ok && k < n; k++)
    finish(&trials[k]);
  free(trials);
  return failed;
}

int
main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 40;
  uint32_t batch = argc > 3 ? (uint32_t)atoi(argv[3]) : 40;
  sanitize = argc <= 4 || atoi(argv[4]);
  int failed = 0;
  for (uint32_t k = 0; k < count && !failed; k += batch) {
    bs_heap_init(&heap, NULL, 0);
    bs_arena_init(&arena, &heap);
    bs_diags_init(&diags, &heap);
    ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
    if (!make_targets()) {
      show_faults();
      return 1;
    }
    failed = run_batch(seed + k, count - k < batch ? count - k : batch);
    bs_heap_done(&heap);
  }
  if (!failed)
    printf("%u programs from seed %llu agree, %u of them with rows in turn\n",
           count, (unsigned long long)seed, n_folded);
  if (!failed && count >= ENOUGH && !n_folded)
    failed = 1; /* what was to be tried did not occur */
  return failed;
}
