/* SPDX-License-Identifier: MIT */
/* saturate.h - saturation and extraction, and what can be told of them.
 *
 * A part of glen.h. */
#ifndef GLEN_SATURATE_H
#define GLEN_SATURATE_H

#include <glen/inputs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the main job: saturate and extract ---- */

typedef struct glen_progress {
  uint32_t iteration; /* 1-based */
  uint32_t nodes, classes;
  double seconds;
  double best_cost; /* NaN when it was not computed */
} glen_progress;

/* How a program is saturated. */
typedef enum glen_regions {
  GLEN_REGIONS_AUTO,  /* by layers, where there are many */
  GLEN_REGIONS_WHOLE, /* in one e-graph */
  GLEN_REGIONS_LAYERS /* each layer in one of its own, equal ones once */
} glen_regions;
/* "auto", "whole", "layers". */
GLEN_API bool glen_regions_find(const char *word, glen_regions *out);

/* How the cheapest program is chosen (docs/COST.md). */
typedef enum glen_extractor {
  GLEN_EXTRACT_TREE,  /* each use of a term is paid */
  GLEN_EXTRACT_DAG,   /* a term is paid once */
  GLEN_EXTRACT_EXACT, /* likewise, and proved to be the cheapest */
  GLEN_EXTRACT_ILP    /* likewise, by CBC */
} glen_extractor;
/* "tree", "dag", "exact", "ilp". */
GLEN_API bool glen_extractor_find(const char *word, glen_extractor *out);

typedef struct glen_saturate_options {
  size_t size;                /* of this struct, as the caller has it */
  uint32_t iterations, nodes; /* 0: no limit, likewise below */
  size_t bytes;
  double seconds;
  uint64_t matches_a_rule; /* applied in the whole run */
  uint64_t work;  /* steps of one rule's search in an iteration, a match being
                     some for each variable; more in a large graph */
  bool backoff;   /* else the simple scheduler */
  bool strict_fp; /* if the program has floats, only rules that are seen to
                     leave each as it is, to the last bit */
  const char *strategy; /* NULL: the rule files' own, or every rule */
  const char *const *disabled;
  uint32_t n_disabled;
  glen_extractor extractor;
  /* Inputs that are the same for all calls: what is made of them alone is
   * paid once (glen_prepack). */
  const char *const *prepack;
  uint32_t n_prepack;
  double extract_seconds;
  void (*progress)(void *ctx, const glen_progress *);
  void *progress_ctx;
  bool progress_cost; /* compute best_cost for the callback */
  bool explain;       /* for glen_result_explain; costs some time and memory */
  bool contribution;  /* of each rule to the result, by its explanation */
  bool growth;        /* for glen_result_html: what each rule did, and when */
  glen_regions regions;
} glen_saturate_options;

/* Options say their size, so that a program goes on with a library that has
 * more of them: those that it does not know are as by default.  The functions
 * of defaults set it, each through a macro of its name that passes the size. */
GLEN_API void glen_saturate_defaults(glen_saturate_options *);
GLEN_API void glen_saturate_defaults_of(glen_saturate_options *, size_t size);
#define glen_saturate_defaults(out)                                            \
  glen_saturate_defaults_of((out), sizeof *(out))

/* NULL with diagnostics when a rule proved unsound (GLEN_REFUTED) or nothing
 * could be extracted.  Hitting a limit is no failure. */
GLEN_API glen_result *glen_saturate(glen_context *, const glen_program *,
                                    const glen_rules *, const glen_target *,
                                    const glen_saturate_options *);
GLEN_API void glen_result_free(glen_result *);
GLEN_API const glen_program *glen_result_program(const glen_result *);
/* True when no limit was hit: saturated, or the strategy came to its end. */
GLEN_API bool glen_result_saturated(const glen_result *);

typedef struct glen_summary {
  /* "saturated": no rule adds anything; "strategy ended", "node limit", ... */
  const char *stop;
  uint32_t iterations, nodes, classes;
  size_t bytes;
  double seconds, search_s, apply_s, rebuild_s, extract_s;
  double cost_before, cost_after, bound;
  bool optimal;
} glen_summary;

GLEN_API void glen_result_summary(const glen_result *, glen_summary *);
/* The report people read: program with types, costs, rules, stop reason.
 * `seconds`: with timings, which differ from run to run. */
GLEN_API const char *glen_result_text(glen_context *, const glen_result *,
                                      bool seconds);
GLEN_API const char *glen_result_json(glen_context *, const glen_result *,
                                      bool seconds);
/* Is the extracted program equal to the input, for every input?  "proved",
 * "tested", "refuted" (with a diagnostic, GLEN_REFUTED) or "unknown"; reports
 * made after this say so.  NULL when memory ran out. */
GLEN_API const char *glen_result_verify(glen_context *, glen_result *);
/* The proof that it is, as text that glen-check-proof reads (docs/PROOFS.md).
 * The options of the saturation must have had `explain` and
 * GLEN_REGIONS_WHOLE.  NULL with a
 * diagnostic when there is none. */
GLEN_API const char *glen_result_proof(glen_context *, const glen_result *);
/* That part of the report alone. */
GLEN_API const char *glen_result_verified_text(glen_context *,
                                               const glen_result *, bool json);

typedef struct glen_report {
  bool json;
  bool seconds;
  bool stats; /* what each rule and each iteration did */
} glen_report;

GLEN_API const char *glen_result_report(glen_context *, const glen_result *,
                                        const glen_report *);
GLEN_API const char *glen_result_egraph_json(glen_context *,
                                             const glen_result *);
GLEN_API const char *glen_result_dot(glen_context *, const glen_result *,
                                     uint32_t max_classes);

typedef struct glen_html {
  const char *title;     /* what was saturated */
  const char *explained; /* the JSON of glen_result_explain, or NULL */
  const char *loops;     /* glen_loops_text, or NULL */
} glen_html;

/* One page for a browser that loads nothing: programs, costs, the e-graph near
 * the chosen program, growth, rules.  NULL when memory ran out. */
GLEN_API const char *glen_result_html(glen_context *, const glen_result *,
                                      const glen_html *);

/* ---- explanations ---- */

typedef struct glen_explained {
  bool equal;       /* a chain was found for every output */
  bool checked;     /* each step was replayed by its rule alone */
  uint32_t steps;   /* over all outputs */
  double seconds;   /* to find the chains */
  const char *text; /* the chains, or how far the run came */
  const char *json;
} glen_explained;

typedef struct glen_explain_options {
  uint32_t max_steps; /* of one output */
  bool all_steps;     /* the text shows all, else at most `shown` */
  uint32_t shown;
  uint32_t json_steps; /* 0: the JSON has all, and the whole term of each; else
                          the first of each chain only, without whole terms */
} glen_explain_options;

GLEN_API void glen_explain_defaults(glen_explain_options *);
/* Saturates both programs in one e-graph until their outputs meet and writes
 * the chains of rule applications down.  False with diagnostics when a rule
 * proved unsound or the programs cannot be put together. */
GLEN_API bool glen_explain(glen_context *, const glen_program *a,
                           const glen_program *b, const glen_rules *,
                           const glen_target *, const glen_saturate_options *,
                           const glen_explain_options *, glen_explained *out);
/* From the input of a saturation to what was extracted. */
GLEN_API bool glen_result_explain(glen_context *, const glen_result *,
                                  const glen_explain_options *,
                                  glen_explained *out);

/* ---- mapping ---- */

typedef struct glen_mapped {
  bool known;       /* the instruction that was asked for is there */
  uint32_t unused;  /* instructions */
  const char *text; /* a picture, then each instruction with what kept it */
  const char *json;
} glen_mapped;

/* Which part of the input went to which instruction.  For those not used: the
 * nearest misses of their rules.  instr: only that instruction (or rule); NULL:
 * all of the target's. */
GLEN_API bool glen_map(glen_context *, const glen_result *, const char *instr,
                       glen_mapped *out);
/* All calls that each computation of the input may become, with their prices:
 * every way to assign its dimensions to those of an instruction. */
GLEN_API bool glen_map_all(glen_context *, const glen_result *,
                           glen_mapped *out);

/* Are the layers mapped whose names fit one of the patterns, in which `*` is
 * any text?  A layer is a term that the input gives a name, down to other
 * names. False with a diagnostic for each operator that an instruction could
 * compute and the host does, and, of a layer in which no instruction could
 * compute any, for all of them: "not-mapped" (GLEN_LIMIT), with what was
 * missing.
 */
GLEN_API bool glen_map_require(glen_context *, const glen_result *,
                               const char *const *patterns, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif
