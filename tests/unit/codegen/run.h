/* SPDX-License-Identifier: MIT */
/* run.h - programs compiled, run and compared with the interpreter. */
#ifndef TESTS_CODEGEN_RUN_H
#define TESTS_CODEGEN_RUN_H

#include "../poly/fixture.h"
#include "codegen/run/run_build.h"
#include "glenside/interpret/interpret.h"
#include "tests/unit/sanitized.h"

static inline gs_tensor *
inputs_of(const gs_program *p) {
  gs_tensor *in = BS_NEWS(&arena, gs_tensor, p->inputs.len + 1);
  for (uint32_t k = 0; k < p->inputs.len; k++) {
    gs_type type;
    gs_type_at(p, p->inputs.data[k].term, &type);
    gs_tensor_init(&heap, &in[k], &type);
    gs_tensor_fill(&in[k], 7, p->inputs.data[k].name);
  }
  return in;
}

static inline cg_job
job_of(const gs_target *target, const char *text, po_options options) {
  po_program *p = lower_with(target, text, options);
  return (cg_job){.program = p,
                  .inputs = inputs_of(p->source),
                  .outputs = BS_NEWS(&arena, gs_tensor, p->arrays.len + 1)};
}

static inline void
check_job(const cg_job *job, const char *text, double tolerance) {
  const gs_program *source = job->program->source;
  gs_tensor *wanted = BS_NEWS(&arena, gs_tensor, source->outputs.len + 1);
  cr_assert(gs_interpret(source, job->inputs, wanted), "%s", faults());
  for (uint32_t k = 0; k < source->outputs.len; k++) {
    gs_difference d;
    bool same = gs_tensor_compare(&wanted[k], &job->outputs[k], tolerance,
                                  tolerance, &d);
    cr_expect(same, "%s\noutput %s: %lld differ, at %lld %g, not %g", text,
              source->outputs.data[k].name, (long long)d.count,
              (long long)d.first, d.b, d.a);
  }
}

/* The generated code is the same in all builds: where glen itself runs under
 * the sanitizers it is made, and the release build compiles and runs it. */
static inline bool
are_only_emitted(const cg_job *jobs, uint32_t n) {
  for (uint32_t k = 0; SANITIZED && k < n; k++) {
    bs_text c, h;
    bs_text_init(&c, &heap);
    bs_text_init(&h, &heap);
    cg_options options = {.name = "f", .openmp = true};
    cr_assert(cg_emit_c(jobs[k].program, &options, &c, &h), "%s", faults());
    cr_assert(c.len && h.len);
    bs_text_done(&h);
    bs_text_done(&c);
  }
  return SANITIZED;
}

/* All of them in one executable under sanitizers, against the interpreter. */
static inline void
check_all(const gs_target *target, const char *const *texts, uint32_t n,
          po_options options) {
  cg_job *jobs = BS_NEWS(&arena, cg_job, n);
  cg_build_options build = {
      .sanitize = true, .optimize = "-O0", .time_limit = 200};
  for (uint32_t k = 0; k < n; k++)
    jobs[k] = job_of(target, texts[k], options);
  if (are_only_emitted(jobs, n))
    return;
  cr_assert(cg_build_and_run_all(jobs, n, &build, 1), "%s", faults());
  for (uint32_t k = 0; k < n; k++)
    check_job(&jobs[k], texts[k], 2e-5);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

#endif
