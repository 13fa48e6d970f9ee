/* SPDX-License-Identifier: MIT */
/* api.h - what the opaque types of glen.h are, for the files of this folder. */
#ifndef API_API_H
#define API_API_H

#include "glen/glen.h"

#include "api/enter.h"
#include "base/governor.h"
#include "base/json.h"
#include "base/portable.h"
#include "codegen/run/run_build.h"
#include "extract/cost.h"
#include "extract/extract_egraph.h"
#include "extract/problem.h"
#include "poly/depend/depend.h"
#include "poly/loops/loops.h"
#include "poly/strategy/strategy_keys.h"
#include "prove/session/session_prove.h"
#include "prove/equal/equal_steps.h"
#include "rules/rule/saturate.h"
#include "tune/tune.h"

typedef struct api_object api_object; /* object.h */

struct glen_context {
  glen_allocator allocator; /* of the context itself */
  bs_governor governor;
  locale_t locale; /* "C", in which everything runs */
  bs_heap heap;
  bs_arena arena;
  bs_arena strings; /* that were given out: glen_free_strings */
  bs_diags diags;
  gs_context gs;
  api_object *objects; /* that are empty */
  uint32_t shown;      /* diagnostics already taken */
  uint32_t dropped;
  bool out_of_memory;
  glen_status failure;
  volatile int interrupt, listens; /* the latter: to the former */
  const char *const *model_dims;   /* of models that are loaded */
  uint32_t n_model_dims;
  char failed[160]; /* why a limit left nothing to be given, or "" */
  char said[256];   /* the same as a diagnostic */
};

/* object: their memory; NULL: they go with what they are a part of. */
struct glen_target {
  api_object *object;
  const gs_target *target;
  const char *variant; /* the kind of processor that it is for, or NULL */
};

struct glen_program {
  api_object *object;
  const gs_program *program;
  const po_given_size *sizes; /* numbers that were put in */
  uint32_t n_sizes;
};

struct glen_rules {
  api_object *object;
  rl_rules *rules;
};

struct glen_loops {
  glen_context *ctx;
  po_program *loops;
  po_program *original; /* before it was scheduled; NULL: it was not */
  const char *variant;  /* as of a target */
  cg_variant variants[GLEN_MAX_VARIANTS]; /* glen_dispatch; of those below */
  glen_loops *owned[GLEN_MAX_VARIANTS];
  uint32_t n_variants;
  cg_key keys[PO_MOST_KEYS]; /* codes for parts of the sizes, of those below */
  glen_loops *parts[PO_MOST_KEYS];
  uint32_t n_keys;
  const po_given_size *sizes; /* numbers that were put in */
  uint32_t n_sizes;
  const char *fused; /* how, where nobody asked for it; NULL: as they are */
  po_violation
      violation; /* why the last command was refused; see api_primitive.c */
};

struct glen_tensors {
  glen_context *ctx;
  const gs_program *program;
  bs_heap *heap; /* of the arrays */
  bool outputs;  /* arrays of the outputs, else of the inputs */
  uint32_t n;
  gs_tensor *data;
};

/* api_sizes.c: the program has none that are open, or an error says that `what`
 * needs numbers. */
bool api_knows_sizes(glen_context *, const po_program *, const char *what);
/* A program of the language has numbers alone, or an error says that `what`
 * needs them. */
bool api_has_numbers(glen_context *, const gs_program *, const char *what);
/* The numbers that a size has in several calls. */
typedef struct api_numbers {
  const char *name;
  const int64_t *values;
  uint32_t n;
} api_numbers;

/* NAME=NUMBER,... with at most so many numbers each, on the arena; false with a
 * diagnostic. */
bool api_read_numbers(glen_context *, bs_arena *, const char *const *sizes,
                      uint32_t n, uint32_t most, api_numbers **out);
/* NAME=NUMBER, on the arena; false with a diagnostic. */
bool api_read_sizes(glen_context *, bs_arena *, const char *const *sizes,
                    uint32_t n, po_given_size **out);
/* The numbers that `at` has for the sizes of a program; NULL with a
 * diagnostic. */
const int64_t *api_sizes_of(glen_context *, const po_program *,
                            const glen_loops *at);

/* A step that is not proved. */
typedef struct api_open_step {
  const rl_rule *rule; /* NULL: something else than a rule application */
  const char *place;   /* of the rule; empty for one that the tool made */
  uint32_t step;       /* from 0 */
  pv_verdict verdict;
  const char *reason;
} api_open_step;

/* The rule applications from an input to its result. */
typedef struct api_steps {
  uint32_t count, proved;
  uint32_t questions; /* put to the prover */
  bool any_order;     /* of 16-bit floats, is taken for granted */
  uint32_t left_out;  /* steps that were not asked about */
  api_open_step *open;
  uint32_t n_open;
} api_steps;

/* What one rule made in one iteration. */
typedef struct api_growth {
  uint32_t iteration, rule; /* from 0 */
  uint64_t nodes;
} api_growth;

/* A region of the program, and all those that are like it. */
typedef struct api_region {
  glen_result *result; /* of the first of them, without its e-graph unless
                          that is to be explained; NULL: left as it was */
  const char *name;    /* of a seam of it */
  uint32_t times;
  uint32_t nodes; /* in its e-graph */
  uint32_t given; /* the limit on these */
  eg_stop cut;    /* what it ended at; EG_STOP_SATURATED: no limit */
} api_region;

/* The program was saturated region by region. */
typedef struct api_regions {
  api_region *list; /* those that differ */
  uint32_t different, count, cut;
  const char *open; /* what one of them gives that is not proved, or NULL */
} api_regions;

struct glen_result {
  glen_context *ctx;
  bs_heap heap; /* of the e-graph and the extraction */
  bs_arena arena;
  gs_context gs;
  const gs_target *target;
  const gs_program *input;
  ex_limit limit;        /* of the input: what its time is bound by */
  ex_names prepacked;    /* inputs that are the same for all calls */
  uint8_t *once;         /* by class id, of the e-graph at the end, or NULL */
  double *kept;          /* likewise */
  uint8_t *stranded;     /* the same, of calls that are left out (stranded.h) */
  gs_program *extracted; /* which gets names: api_names.c */
  glen_program program;  /* the same, to look at */
  rl_run run;
  const rl_rule **used_rules;
  uint32_t n_used_rules;
  uint32_t *steps_of; /* by rule: steps from the input to the result; or NULL */
  uint64_t matches;
  bool limited;         /* a rule used up its matches */
  bool part;            /* of a region: it says nothing of limits by itself */
  api_regions *regions; /* NULL: it was saturated as one */
  eg_node *choice;      /* by canonical class id below n_choice */
  uint32_t n_choice;
  BS_VEC(api_growth) growth;     /* by iteration, when it was asked for */
  uint64_t *made;                /* by rule, up to the last iteration */
  const pv_answer *verified;     /* NULL: it was not asked */
  const struct api_steps *steps; /* that were asked for it; NULL: none */
  glen_summary summary;
};

/* The rules that led to a result are those of the steps from the input to the
 * result, where these were recorded and are not too many. */
#define API_MAX_USED_RULES 256
void api_count_steps(glen_result *);
/* api_names.c: the names of the input, in the extracted program. */
void api_keep_names(glen_result *);
/* api_words.c: false with a diagnostic; NULL: there is no such word. */
bool api_find_method(glen_context *, glen_extractor, ex_method *out);
const char *api_printed_word(glen_printed);
/* schedule.c: what the loops were before the first command, where that is
 * kept. */
void api_keep_original(glen_loops *);
/* schedule.c: as glen_schedule_auto, by all of the options; *told: with
 * `explain`, what the bound on what is computed again left out. */
bool api_fuse(glen_context *, glen_loops *, glen_fusion way,
              const glen_code_options *, const char **told);
/* Pieces of an operand, of all that is lowered here. */
enum { API_MAX_PIECES = 64 };
/* code.c: the workspace of the one is enough for the other, too. */
void api_make_room(po_program *, const po_program *);
/* schedule.c: what `auto` does of a program that is worth it; false: a limit
 * was reached, and it is as it was lowered, for loops without threads are
 * worse. *lowered is the caller's: the program before, NULL where nothing was
 * done. */
bool api_fuse_unasked(po_program **program, po_auto_options *, po_auto_result *,
                      po_program **lowered);
/* code.c: frees the codes for parts of the sizes.  A schedule that is given is
 * for all sizes, and these were made without it. */
void api_free_parts(glen_loops *);
/* tiling.c: parts of the sizes that may get code of their own; none where
 * inputs are packed before any call, whose sizes are not known then. */
uint32_t api_most_keys(const glen_code_options *);
/* tiling.c: those parts. */
bool api_choose_keys(glen_context *, const glen_program *, const glen_target *,
                     const glen_code_options *, po_keys *out);
/* code.c: as glen_lower, where no schedule is given: a program too large for
 * one has chains of pointwise computes as one statement. */
glen_loops *api_lower_net(glen_context *, const glen_program *,
                          const glen_target *, bool strict_fp);
/* schedule.c: a copy of loops as they were lowered, for a variant of their
 * target. */
glen_loops *api_loops_for(glen_context *, const glen_loops *,
                          const glen_target *);
/* code.c: the program has an input of that name; else false and a
 * diagnostic. */
bool api_know_input(glen_context *, const gs_program *, const char *name);
/* api_weights.c: glen_prepack of several inputs, which are laid out once. */
bool api_prepack(glen_context *, glen_loops *, const char *const *names,
                 uint32_t n);
/* extraction.c: of a finished run; false with a diagnostic. */
bool api_extract(glen_result *, ex_method, double seconds);
ex_pricer api_pricer_of(const glen_result *);
/* What a saturation runs with: the options of the user, what explanations need,
 * and a function that is called after every iteration and may end the run. */
typedef bool api_after_iteration(void *ctx, const eg_graph *,
                                 const eg_iteration *);
rl_options api_run_options(glen_context *, const glen_saturate_options *,
                           bool explain, api_after_iteration *, void *ctx);
/* What each rule and each iteration did, as comments and as JSON. */
void api_put_stats(const glen_result *, bool seconds, bs_text *);
void api_json_stats(const glen_result *, bool seconds, bs_json *);
/* api_phases.c: why a run stopped, into the summary; a warning where a limit
 * cut something off. */
void api_note_stop(glen_result *);
void api_warn_cut(glen_result *);
/* The lines and the fields on how the run stopped. */
void api_put_phases(const glen_result *, bs_text *);
void api_json_phases(const glen_result *, bs_json *);
/* ", proved optimal ..": what is known of the cost. */
void api_put_optimality(const glen_summary *, bs_text *);
/* Why no rule made a term of the result: mostly it is the program as it was
 * written. */
const char *api_as_written(const glen_result *);
/* What became of --verify: a comment, an object; nothing when not asked. */
void api_put_verified(const glen_result *, bs_text *);
void api_json_verified(const glen_result *, bs_json *);
/* How two terms were told equal or not. */
void api_json_answer(bs_json *, const pv_answer *);
/* An input as an object: its name, its type and its first elements. */
void api_json_input(bs_json *, const char *name, const gs_tensor *);
/* Adds "NAME=VALUE" to rules whose files are loaded; false with a
 * diagnostic. */
bool api_set_param(glen_context *, rl_rules *, const char *text);
/* inputs.c: rule files and folders, by their names; false with diagnostics. */
bool api_load_rules(glen_context *, rl_rules *, const char *const *names,
                    uint32_t n);
/* api_run.c: a hint that names the inputs of a program. */
void api_hint_inputs(glen_context *, const gs_program *);
/* api_run.c: the number of the input of that name, which may be NULL where
 * there is one whose elements the program does not have; else false and a
 * diagnostic about `what`. */
bool api_find_input(glen_context *, const glen_tensors *, const char *name,
                    const char *what, uint32_t *out);
/* api_array.c: an array without data; whether one has the type of another, else
 * a diagnostic; whether its elements lie in C order without gaps. */
void api_describe_array(gs_dtype, uint32_t rank, const int64_t *dim,
                        glen_array *out);
bool api_array_fits(glen_context *, const char *name, const glen_array *wanted,
                    const glen_array *given);
bool api_is_dense(const glen_array *);
/* Of its elements, without gaps. */
size_t api_array_bytes(const glen_array *);
/* Elements of an array of any strides, to or from a block in C order. */
void api_gather(const glen_array *from, void *to);
void api_scatter(const void *from, const glen_array *to);
/* api_options.c: of options that begin with their size, as many bytes as both
 * have; the rest of `own`, of `size` bytes, stays.  False with a diagnostic
 * where they have no size. */
bool api_take_options(glen_context *, const void *given, void *own,
                      size_t size);
/* api_saturate.c: the same, over their defaults. */
bool api_saturate_options(glen_context *, const glen_saturate_options *given,
                          glen_saturate_options *own);
/* The other way round: defaults for a caller whose struct may be shorter. */
void api_give_options(const void *own, size_t own_size, void *out, size_t size);
/* A finished text as a string of the context. */
const char *api_string(glen_context *, bs_text *);

#endif
