/* SPDX-License-Identifier: MIT */
/* rules.h - rule files for their authors: tests, checks, proofs.
 *
 * A part of glen.h. */
#ifndef GLEN_RULES_H
#define GLEN_RULES_H

#include <glen/saturate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rule tests ---- */

typedef struct glen_test_counts {
  uint32_t passed, failed;
} glen_test_counts;

/* Runs every (test ...) of the loaded files whose name contains `filter` (NULL:
 * all); `report` gets one line a test. */
GLEN_API bool
glen_rules_test(glen_context *, const glen_rules *, const char *filter,
                void (*report)(void *ctx, const char *name, bool passed,
                               const char *detail, double seconds),
                void *report_ctx, glen_test_counts *out);

/* Runs each rule whose name contains `filter` on up to `programs` random
 * programs and compares what may be extracted with the input by the reference
 * interpreter; `report` gets one line a rule. */
GLEN_API bool
glen_rules_test_random(glen_context *, const glen_rules *, uint32_t programs,
                       uint64_t seed, const char *filter,
                       void (*report)(void *ctx, const char *name, bool passed,
                                      const char *detail, double seconds),
                       void *report_ctx, glen_test_counts *out);

/* ---- rule files, for their authors ---- */

typedef struct glen_check_options {
  const char *const *paths; /* rule files and directories */
  uint32_t n_paths;
  const char *const *params; /* "NAME=VALUE" */
  uint32_t n_params;
  bool remarks; /* notes, too, on what is perhaps meant so */
} glen_check_options;

typedef struct glen_check_counts {
  uint32_t files, rules; /* of the files: both directions of <=> count */
  uint32_t tried;        /* rules that applied to some generated shapes */
  uint32_t errors, warnings, remarks;
} glen_check_counts;

/* Looks for what is wrong in rule files; findings are diagnostics of the
 * context.  True when there is no error. */
GLEN_API bool glen_rules_check(glen_context *, const glen_target *,
                               const glen_check_options *,
                               glen_check_counts *out);
/* The functions of expressions: a table in Markdown, or JSON. */
GLEN_API const char *glen_rules_functions(glen_context *, bool json);

/* One file in its one form. */
typedef struct glen_formatted {
  const char *path;
  const char *text; /* until the callback returns */
  size_t size;
  bool differs; /* from what the file holds */
} glen_formatted;

/* Formats a .rules, .glen or .target file, "-" for stdin, or all of a
 * directory; writes nothing.  False when some cannot be read. */
GLEN_API bool glen_format(glen_context *, const char *path,
                          void (*each)(void *ctx, const glen_formatted *),
                          void *each_ctx);

/* What leaving out one rule does. */
typedef struct glen_ablation {
  const char *rule; /* NULL: nothing is left out */
  bool led;         /* to the program that all rules give */
  const char *stop;
  uint32_t iterations, nodes, classes;
  double cost, seconds; /* cost NaN: nothing could be extracted */
} glen_ablation;

/* Saturates with all rules, then without each of those that fired and whose
 * name contains `filter` (NULL: all); both directions of a rule go together.
 * `progress` is called before each of the latter.  NULL with diagnostics. */
GLEN_API const glen_ablation *glen_rules_ablate(
    glen_context *, const glen_program *, const glen_rules *,
    const glen_target *, const glen_saturate_options *, const char *filter,
    void (*progress)(void *ctx, uint32_t done, uint32_t of, const char *rule),
    void *progress_ctx, uint32_t *n);

/* ---- proofs ---- */

typedef struct glen_prove_options {
  size_t size;     /* of this struct, as the caller has it */
  uint64_t seed;   /* of the shapes and inputs */
  uint32_t shapes; /* to look at, of a rule */
} glen_prove_options;

/* "proved", "checked" (a rule, on the shapes looked at), "tested", "refuted" or
 * "unknown", and why. */
typedef struct glen_proof {
  const char *rule;  /* NULL: of two programs */
  const char *place; /* "path:line" of the rule, or "" */
  const char *verdict;
  const char *reason; /* one line */
  bool all_sizes;     /* of a rule: it is proved, for all sizes */
  uint32_t shapes;    /* that a rule was looked at on */
  const char *detail; /* what decided, as lines; "" when there is nothing */
  const char *json;   /* all of this as one object on one line */
} glen_proof;

GLEN_API void glen_prove_defaults(glen_prove_options *);
GLEN_API void glen_prove_defaults_of(glen_prove_options *, size_t size);
#define glen_prove_defaults(out) glen_prove_defaults_of((out), sizeof *(out))
/* The name of rule k < glen_rules_count. */
GLEN_API const char *glen_rule_name(const glen_rules *, uint32_t k);
/* Is rule k sound?  False when memory ran out. */
GLEN_API bool glen_rule_prove(glen_context *, const glen_rules *, uint32_t k,
                              const glen_prove_options *, glen_proof *out);

#ifdef __cplusplus
}
#endif

#endif
