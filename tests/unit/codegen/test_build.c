/* SPDX-License-Identifier: MIT */
/* test_build.c - compiling and running: what can go wrong, and cleaning up. */
#include "run.h"
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[64];

/* Every test has a TMPDIR of its own, which must be empty at its end. */
static void
start(void) {
  fixture_start();
  strcpy(directory, "/tmp/glen-test-XXXXXX");
  cr_assert(mkdtemp(directory));
  setenv("TMPDIR", directory, 1);
}

static uint32_t
entries(void) {
  uint32_t n = 0;
  DIR *dir = opendir(directory);
  while (readdir(dir))
    n++;
  closedir(dir);
  return n - 2;
}

static void
stop(void) {
  cr_assert_eq(entries(), 0);
  rmdir(directory);
  fixture_stop();
}

TestSuite(build, .init = start, .fini = stop);

static cg_job
small_job(void) {
  return job_of(gs_target_default(&ctx),
                "(tensor a (shape 4) f32)(let y (compute neg a))(output y)",
                (po_options){0});
}

static bool
run_with(cg_build_options options) {
  cg_job job = small_job();
  options.time_limit = options.time_limit ? options.time_limit : 100;
  bool ok = cg_build_and_run_all(&job, 1, &options, 3);
  if (ok)
    check_job(&job, "", 0);
  return ok;
}

Test(build, runs_and_times) {
  cg_job job = small_job();
  double seconds = -1;
  cg_build_options options = {.threads = 2};
  cr_assert(cg_build_and_run(job.program, &options, job.inputs, job.outputs, 5,
                             &seconds));
  cr_assert(seconds >= 0 && seconds < 1);
  check_job(&job, "", 0);
}

Test(build, optimizes_as_told) {
  static const char *const flags[] = {"-DNDEBUG", "-Wconversion"};
  cr_assert(run_with((cg_build_options){.optimize = "-O0"}));
  cr_assert(run_with((cg_build_options){.flags = flags, .n_flags = 2}), "%s",
            faults());
}

Test(build, a_missing_compiler_is_told) {
  cr_assert_not(run_with((cg_build_options){.cc = "no-such-compiler-here"}));
  cr_assert(has_fault("no-compiler"), "%s", faults());
}

Test(build, the_compiler_comes_from_the_environment) {
  setenv("CC", "no-such-compiler-here", 1);
  cr_assert_not(run_with((cg_build_options){0}));
  setenv("CC", "cc -DSOMETHING", 1);
  cr_assert(run_with((cg_build_options){0}), "%s", faults());
}

Test(build, a_failing_compiler_shows_its_words) {
  static const char *const flags[] = {"--no-such-flag"};
  cr_assert_not(run_with((cg_build_options){.flags = flags, .n_flags = 1}));
  cr_assert(has_fault("compile-failed"), "%s", faults());
  cr_assert(strstr(faults(), "no-such-flag"), "%s", faults());
}

Test(build, no_directory_to_work_in) {
  setenv("TMPDIR", "/no/such/directory", 1);
  cr_assert_not(run_with((cg_build_options){0}));
  cr_assert(has_fault("cannot-write"), "%s", faults());
}

static bool
run_call(const char *emit, cg_build_options options) {
  char text[600];
  snprintf(text, sizeof text,
           "(target t)(instr f (params) (operands (x ((n) ()) f32)) (result "
           "((n) ()) f32) (semantics (compute neg x)) (cost (cycles 1)) (emit "
           "\"%s\"))",
           emit);
  gs_target *target = target_of(text);
  cg_job job = job_of(target, "(tensor a (shape 4) f32)(let y (f a))(output y)",
                      (po_options){0});
  return cg_build_and_run_all(&job, 1, &options, 1);
}

Test(build, a_crash_is_a_diagnostic) {
  cr_assert_not(run_call("{result}[0] = *(volatile float *)0 + {x}[0];",
                         (cg_build_options){.optimize = "-O0"}));
  cr_assert(has_fault("run-failed"), "%s", faults());
}

Test(build, a_sanitizer_sees_what_is_out_of_bounds) {
  cr_assert_not(run_call("{result}[{n}] = {x}[0];",
                         (cg_build_options){.sanitize = true}));
  cr_assert(has_fault("run-failed"), "%s", faults());
  cr_assert(strstr(faults(), "heap-buffer-overflow"), "%s", faults());
}

Test(build, an_endless_run_is_ended) {
  cr_assert_not(run_call("for (volatile int k = 0;;) {result}[k] = {x}[0];",
                         (cg_build_options){.time_limit = 3}));
  cr_assert(has_fault("run-time") || has_fault("compile-time"), "%s", faults());
}

Test(build, a_wrong_input_is_refused) {
  cg_job job = small_job();
  gs_tensor wrong = job.inputs[0];
  wrong.elements = 3;
  job.inputs = &wrong;
  cr_assert_not(cg_build_and_run_all(&job, 1, &(cg_build_options){0}, 1));
  cr_assert(has_fault("type-mismatch"), "%s", faults());
}

Test(build, the_directory_can_be_kept) {
  cr_assert(run_with((cg_build_options){.keep = true}));
  cr_assert_eq(entries(), 1);
  cr_assert(strstr(faults(), "kept "), "%s", faults());
  char command[100];
  snprintf(command, sizeof command, "rm -r %s/glen-*", directory);
  cr_assert_eq(system(command), 0);
}

static void *
refuse_at(void *arg, void *block, size_t size) {
  uint64_t *left = arg;
  if (!size) {
    free(block);
    return NULL;
  }
  return (*left)-- ? realloc(block, size) : NULL;
}

static void
whole_run(void *unused) {
  (void)unused;
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  cg_job job = small_job();
  cg_build_and_run_all(&job, 1, &(cg_build_options){.cc = "true"}, 1);
}

/* The compiler is `true`: what is tested is that nothing is left behind. */
Test(build, memory_failure_leaves_nothing) {
  fixture_stop();
  uint64_t total = 100000, left;
  for (uint64_t n = 0; n < total; n += 23) {
    left = n;
    bs_hooks hooks = {refuse_at, &left};
    bs_heap_init(&heap, &hooks, 0);
    if (bs_protect(&heap, whole_run, NULL))
      n = total;
    bs_heap_done(&heap);
    cr_assert_eq(entries(), 0);
  }
  fixture_start();
}
