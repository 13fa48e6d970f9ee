/* SPDX-License-Identifier: MIT */
/* nests.h - loop programs compiled, run and compared with the same program run
 * one instance at a time. */
#ifndef TESTS_CODEGEN_NESTS_H
#define TESTS_CODEGEN_NESTS_H

#include "poly/loops/execute.h"
#include "run.h"

static inline po_program *
read_loops_for(const gs_target *target, const char *text) {
  uint32_t source = bs_source_add(&diags, "test.loops", text, strlen(text));
  po_program *p = po_read_loops(&ctx, target, source, NULL, 0);
  cr_assert(p, "%s%s", text, faults());
  return p;
}

/* A machine like the default one, but for its vectors. */
static inline gs_target *
machine(int64_t bytes, int64_t registers) {
  gs_target *t = BS_NEW(&arena, gs_target);
  *t = *gs_target_default(&ctx);
  t->vector_bytes = bytes;
  t->vector_registers = registers;
  return t;
}

static inline po_program *
read_loops(const char *text) {
  return read_loops_for(gs_target_default(&ctx), text);
}

static inline const char *
code_of(const po_program *p) {
  bs_text c;
  bs_text_init(&c, &heap);
  cr_assert(cg_emit_c(p, &(cg_options){.name = "f", .openmp = true}, &c, NULL),
            "%s", faults());
  return bs_text_str(&c);
}

static inline void
expect_code(const po_program *p, const char *what) {
  const char *c = code_of(p);
  cr_assert(strstr(c, what), "expected %s in\n%s", what, c);
}

static inline void
expect_no_code(const po_program *p, const char *what) {
  const char *c = code_of(p);
  cr_assert_not(strstr(c, what), "did not expect %s in\n%s", what, c);
}

/* Outputs start as zeros in both. */
static inline void
run_all_for(po_program *(*read)(const char *), const char *const *texts,
            uint32_t n) {
  cg_job *jobs = BS_NEWS(&arena, cg_job, n);
  cg_build_options build = {
      .sanitize = true, .optimize = "-O0", .time_limit = 200, .threads = 2};
  for (uint32_t k = 0; k < n; k++) {
    po_program *p = read(texts[k]);
    jobs[k] = (cg_job){.program = p,
                       .inputs = inputs_of(p->source),
                       .outputs = BS_NEWS(&arena, gs_tensor, p->arrays.len)};
  }
  if (are_only_emitted(jobs, n))
    return;
  cr_assert(cg_build_and_run_all(jobs, n, &build, 1), "%s", faults());
  for (uint32_t k = 0; k < n; k++) {
    const gs_program *source = jobs[k].program->source;
    gs_tensor *wanted = BS_NEWS(&arena, gs_tensor, source->outputs.len + 1);
    for (uint32_t j = 0; j < source->outputs.len; j++) {
      gs_type type;
      gs_type_at(source, source->outputs.data[j].term, &type);
      gs_tensor_init(&heap, &wanted[j], &type);
    }
    cr_assert(po_execute(jobs[k].program, jobs[k].inputs, wanted), "%s",
              faults());
    for (uint32_t j = 0; j < source->outputs.len; j++) {
      gs_difference d;
      cr_assert(
          gs_tensor_compare(&wanted[j], &jobs[k].outputs[j], 1e-5, 1e-5, &d),
          "%s: %lld differ, at %lld %g, not %g", texts[k], (long long)d.count,
          (long long)d.first, d.b, d.a);
    }
  }
}

static inline void
run_all(const char *const *texts, uint32_t n) {
  run_all_for(read_loops, texts, n);
}

#endif
