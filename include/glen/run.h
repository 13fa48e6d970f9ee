/* SPDX-License-Identifier: MIT */
/* run.h - compiling in one call, kernels in this process, arrays, tuning.
 *
 * A part of glen.h. */
#ifndef GLEN_RUN_H
#define GLEN_RUN_H

#include <glen/loops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the whole way ---- */

typedef struct glen_compile_options {
  const char *target;       /* as of glen_target_named */
  const char *const *rules; /* paths; none: it is compiled as it is written */
  uint32_t n_rules;
  const char *const *params; /* of the rules, "NAME=VALUE" */
  uint32_t n_params;
  glen_saturate_options saturate;
  bool verify; /* a result that is refuted is not compiled */
  glen_code_options code;
  const char *name;   /* of the C function; made a C identifier */
  const char *header; /* the file that the C includes as its own, or NULL */
} glen_compile_options;

GLEN_API void glen_compile_defaults(glen_compile_options *);

/* What the stages made; strings are the context's. */
typedef struct glen_compiled {
  glen_target *target;
  glen_program *input;
  glen_result *result;         /* NULL without rules */
  const char *verdict;         /* of glen_result_verify; NULL: not asked */
  const glen_program *program; /* extracted, or the input */
  glen_loops *loops;
  glen_scheduled scheduled;
  const char *c, *h;
} glen_compiled;

/* Parses the program, saturates, extracts, proves where it is asked to, lowers,
 * schedules and generates C.  False with diagnostics: then there is nothing to
 * be freed, and what can be told of a script is in `scheduled`. */
GLEN_API bool glen_compile(glen_context *, const char *path,
                           const glen_compile_options *, glen_compiled *out);
/* The loops and the result; the rest goes with the context. */
GLEN_API void glen_compiled_free(glen_compiled *);

/* ---- running ---- */

/* One array an input of the program; filled from a seed until loaded. */
GLEN_API glen_tensors *glen_inputs_new(glen_context *, const glen_program *,
                                       uint64_t seed);
GLEN_API void glen_tensors_free(glen_tensors *);
/* name may be NULL when the program has one input. */
GLEN_API bool glen_input_load(glen_context *, glen_tensors *, const char *name,
                              const char *npy_path);
typedef enum glen_dtype {
  GLEN_F32,
  GLEN_F64,
  GLEN_BF16, /* as 16 bits */
  GLEN_I8,
  GLEN_U8,
  GLEN_I32,
  GLEN_F16, /* as 16 bits */
  GLEN_I16,
  GLEN_U16,
  GLEN_BOOL, /* as bytes, each 0 or 1 */
  GLEN_I64,  /* from -2^53 to 2^53 */
  GLEN_U32
} glen_dtype;

/* An array of the caller. */
typedef struct glen_array {
  size_t size; /* of this struct, as the caller has it */
  void *data;
  glen_dtype dtype;
  uint32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in bytes; NULL: C order without gaps */
} glen_array;

/* "f32"; "" for no dtype. */
GLEN_API const char *glen_dtype_name(glen_dtype);
GLEN_API size_t glen_dtype_bytes(glen_dtype);
/* Takes the elements over; name may be NULL when the program has one input.
 * False with a diagnostic ("wrong-array", "unknown-input"). */
GLEN_API bool glen_input_set(glen_context *, glen_tensors *, const char *name,
                             const glen_array *);
/* An array where it lies, until the tensors are freed. */
GLEN_API void glen_tensor_array(const glen_tensors *, uint32_t k,
                                glen_array *out);

typedef struct glen_jit_options {
  size_t size;    /* of this struct, as the caller has it */
  const char *cc; /* NULL: $CC, else cc */
  const char *const *flags;
  uint32_t n_flags;
  uint32_t threads;  /* of OpenMP; 0: as many as there would be */
  const char *cache; /* a folder of this user's, made where it is not there, in
                        which what was compiled is kept; NULL: nowhere */
} glen_jit_options;

typedef struct glen_argument {
  size_t size;
  const char *name;
  bool output;
  glen_array type; /* without data */
  /* Its elements are alike in all calls (glen_prepack): given to
   * glen_kernel_prepare once, and not looked at in calls. */
  bool prepacked;
} glen_argument;

/* A call's answer when there was no memory for a workspace, and when inputs
 * that are the same in all calls were not given yet. */
#define GLEN_KERNEL_NO_MEMORY    (-1)
#define GLEN_KERNEL_NOT_PREPARED (-2)

/* Compiles the loops' C and loads it; options may be NULL.  The generated code
 * is executed in this process.  NULL with diagnostics. */
GLEN_API glen_kernel *glen_jit(glen_context *, const glen_loops *,
                               const glen_jit_options *);
GLEN_API void glen_kernel_free(glen_kernel *); /* before its context */
/* Inputs, then outputs, in the order of a call. */
GLEN_API uint32_t glen_kernel_arguments(const glen_kernel *);
GLEN_API const glen_argument *glen_kernel_argument(const glen_kernel *,
                                                   uint32_t k);
/* The bytes of its workspace, 64-byte aligned. */
GLEN_API size_t glen_kernel_workspace(const glen_kernel *);
/* Was it found in the cache? */
GLEN_API bool glen_kernel_cached(const glen_kernel *);
/* The file in the cache, or NULL.  It says of itself what it is called with, so
 * that glen_kernel_load needs nothing else: neither the program nor a compiler.
 */
GLEN_API const char *glen_kernel_file(const glen_kernel *);
/* threads as of glen_jit_options.  NULL with diagnostics, where the file is not
 * this user's, too. */
GLEN_API glen_kernel *glen_kernel_load(glen_context *, const char *path,
                                       uint32_t threads);
/* Packs the inputs that are the same in all calls, once before the first of
 * them, and never beside one; the arrays, in the order of a call, of which no
 * others are looked at, are not needed any more afterwards.  0, or
 * GLEN_KERNEL_NO_MEMORY. */
GLEN_API int glen_kernel_prepare(glen_kernel *, void *const *arrays);
/* Pointers to arrays in C order, which nothing checks; workspace NULL: the
 * kernel's own.  Several threads may call one kernel at a time, each with
 * outputs of its own.  0 unless it failed. */
GLEN_API int glen_kernel_call(glen_kernel *, void *const *arrays,
                              void *workspace);
/* As glen_kernel_call, of arrays whose types are checked.  An array with gaps,
 * in another order, or not aligned to its elements is copied before the call,
 * or after it if it is an output; so is an output that shares memory with
 * another array.  An output whose strides let elements overlap is refused.
 * Within a context, one call has to end before the next begins.  False with a
 * diagnostic ("wrong-array", "not-prepared", "call-failed"). */
GLEN_API bool glen_kernel_call_arrays(glen_kernel *, const glen_array *arrays,
                                      uint32_t n);

/* What the reference interpreter gives. */
GLEN_API glen_tensors *glen_interpret(glen_context *, const glen_program *,
                                      const glen_tensors *inputs);

/* The instances of the loops run one by one, in their order; outputs start as
 * zeros. */
GLEN_API glen_tensors *glen_loops_interpret(glen_context *, const glen_loops *,
                                            const glen_tensors *inputs);

/* A step of a program that was run: a kernel on the arrays of one layer. */
typedef struct glen_profile_step {
  const char *layer;  /* the name in the program that it is of, or "" */
  const char *kernel; /* the C function, or the instruction */
  const char *kind;   /* "contraction", "loops" or "call" */
  double seconds;     /* in the fastest call */
  double operations;  /* arithmetic ones; -1: not known, as of instructions */
  double bytes;       /* of the arrays that it reads or writes, each once */
  double least;       /* seconds that the cores of the target, as many as there
                         are threads, need for these operations, or to move these
                         bytes from the smallest caches that hold them; 0: not
                         known */
} glen_profile_step;

/* In the order in which they ran; valid as long as the context. */
typedef struct glen_profile {
  const glen_profile_step *steps;
  uint32_t n;
} glen_profile;

typedef struct glen_simulation {
  double cycles;
  const char *text;  /* cycles by queue and by instruction */
  const char *json;  /* the same */
  const char *trace; /* a line a call: from, until, queue, places; or "" */
  glen_tensors *outputs;
} glen_simulation;

/* The loops on the machine that their target describes: calls compute what
 * their semantics say, on memories of which no place is read that was not
 * written for what is read.  False with a diagnostic; the trace up to there is
 * given then, too. */
GLEN_API bool glen_simulate(glen_context *, const glen_loops *,
                            const glen_tensors *inputs, bool trace,
                            glen_simulation *);

typedef struct glen_build_options {
  const char *cc; /* NULL: $CC, else cc */
  const char *const *flags;
  uint32_t n_flags;
  bool sanitize, keep;
  uint32_t threads;      /* 0: the OpenMP default */
  uint32_t repeats;      /* calls timed; the fastest counts */
  glen_profile *profile; /* filled with the times of steps, or NULL */
} glen_build_options;

/* What the generated C gives, compiled and run in a child process.  seconds
 * may be NULL. */
GLEN_API glen_tensors *glen_build_and_run(glen_context *, const glen_loops *,
                                          const glen_tensors *inputs,
                                          const glen_build_options *,
                                          double *seconds);
/* As glen_build_and_run, of the code of `general`, whose sizes are open, called
 * with the sizes at which `loops` were loaded from the same text; NULL: of the
 * code of `loops`. */
GLEN_API glen_tensors *
glen_build_and_run_at(glen_context *, const glen_loops *general,
                      const glen_loops *loops, const glen_tensors *inputs,
                      const glen_build_options *, double *seconds);
GLEN_API uint32_t glen_tensors_count(const glen_tensors *);
GLEN_API const char *glen_tensor_name(const glen_tensors *, uint32_t k);
/* "f32 1x64x56x56" and at most `max` leading elements. */
GLEN_API const char *glen_tensor_text(glen_context *, const glen_tensors *,
                                      uint32_t k, uint32_t max);
GLEN_API uint64_t glen_tensor_hash(const glen_tensors *, uint32_t k);
GLEN_API bool glen_tensor_save(glen_context *, const glen_tensors *, uint32_t k,
                               const char *npy_path);

typedef struct glen_tune_progress {
  uint32_t round, rounds, candidate, candidates; /* candidate from 0 */
  const char *name, *doing;                      /* "build" or "run" */
  double best;                                   /* seconds; 0: none yet */
} glen_tune_progress;

typedef struct glen_tune_options {
  size_t size;              /* of this struct, as the caller has it */
  glen_build_options build; /* sanitize and repeats are not looked at */
  uint32_t candidates, rounds;
  double seconds;      /* limit of one compilation, and of one run */
  double tolerance;    /* of outputs, relative */
  const char *file;    /* where results are kept; NULL: nowhere */
  const char *program; /* its name in that file */
  uint64_t seed;       /* of the inputs */
  void (*progress)(void *ctx, const glen_tune_progress *);
  void *progress_ctx;
} glen_tune_options;

typedef struct glen_tuned {
  bool stopped; /* by glen_interrupt: the best so far was taken */
  bool wrong;   /* some candidate gave another result (a diagnostic) */
  uint32_t candidates, resumed;
  const char *chosen, *script;
  const char *text, *json; /* all candidates with their times */
} glen_tuned;

GLEN_API void glen_tune_defaults(glen_tune_options *);
GLEN_API void glen_tune_defaults_of(glen_tune_options *, size_t size);
#define glen_tune_defaults(out) glen_tune_defaults_of((out), sizeof *(out))
/* Measures strategies on the inputs and applies the fastest to the loops.
 * What was measured before, by the file, is not measured again.  False with
 * diagnostics. */
GLEN_API bool glen_tune(glen_context *, glen_loops *,
                        const glen_tensors *inputs, const glen_tune_options *,
                        glen_tuned *out);

typedef struct glen_comparison {
  int64_t differing; /* elements beyond the tolerance, over all outputs */
  uint32_t output;   /* the first one that differs */
  int64_t index;     /* of its first element that differs, in C order */
  double a, b;       /* the two values there */
  double max_abs, max_rel;
  int64_t rounding; /* elements beyond it that rounding explains */
} glen_comparison;

/* Exact for integers; |a - b| <= tolerance * max(1, |a|, |b|) for floats. */
GLEN_API bool glen_tensors_compare(const glen_tensors *a, const glen_tensors *b,
                                   double tolerance, glen_comparison *out);
/* Compares as glen_tensors_compare does, but elements beyond the tolerance may
 * still differ by the sum of their bounds (of glen_rounding_bounds; NULL:
 * none). */
GLEN_API bool
glen_tensors_compare_within(const glen_tensors *a, const glen_tensors *b,
                            double tolerance, const glen_tensors *bound_a,
                            const glen_tensors *bound_b, glen_comparison *out);
/* How far rounding can move each element of the program's outputs: a running
 * error analysis beside the reference interpreter, in f64.  For elements that
 * are ill-conditioned, as quotients by what is nearly 0.  NULL on failure, with
 * diagnostics. */
GLEN_API glen_tensors *glen_rounding_bounds(glen_context *,
                                            const glen_program *,
                                            const glen_tensors *inputs);
/* Where `expected` is NaN anything is right: comparisons with NaN are not
 * specified unless floating point is strict.  Takes those elements over. */
GLEN_API void glen_overlook_nans(glen_tensors *expected,
                                 const glen_tensors *actual);
/* Same inputs (name, shape, dtype) and as many outputs of the same types?
 * A diagnostic tells what differs. */
GLEN_API bool glen_programs_agree(glen_context *, const glen_program *a,
                                  const glen_program *b);

typedef struct glen_equality {
  bool proved, refuted; /* neither: nothing complete can be told */
  const char *text;     /* the verdict, its reason, a refuting input */
  const char *json;
  /* The programs leave sizes open: proved is for all of them within their
   * bounds, and what else is known stands in the text. */
  bool open;
  bool checked; /* at some of these sizes, which the text names */
} glen_equality;

/* Are two programs that agree equal for every input (docs/PROVER.md)?  False
 * when memory ran out, or with a diagnostic where they leave different sizes
 * open. */
GLEN_API bool glen_programs_prove(glen_context *, const glen_program *a,
                                  const glen_program *b, glen_equality *out);

#ifdef __cplusplus
}
#endif

#endif
