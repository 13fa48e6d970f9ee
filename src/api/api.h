/* api.h - what the opaque types of glen.h are, for the files of this folder. */
#ifndef API_API_H
#define API_API_H

#include "glen/glen.h"

#include "base/json.h"
#include "codegen/build.h"
#include "extract/cost.h"
#include "extract/problem.h"
#include "poly/loops.h"
#include "prove/prove.h"
#include "prove/steps.h"
#include "rules/saturate.h"
#include "tune/tune.h"

struct glen_context {
  glen_allocator allocator; /* of the context itself */
  bs_heap heap;
  bs_arena arena;
  bs_diags diags;
  gs_context gs;
  uint32_t shown; /* diagnostics already taken */
  uint32_t dropped;
  bool out_of_memory;
  glen_status failure;
  volatile int interrupt, listens; /* the latter: to the former */
};

struct glen_target {
  gs_target *target;
};

struct glen_program {
  gs_program *program;
};

struct glen_rules {
  rl_rules *rules;
};

struct glen_loops {
  glen_context *ctx;
  po_program *loops;
  po_program *original; /* before it was scheduled; NULL: it was not */
  cg_variant variants[GLEN_MAX_VARIANTS]; /* glen_dispatch; of those below */
  glen_loops *owned[GLEN_MAX_VARIANTS];
  uint32_t n_variants;
  const char *fused; /* how, where nobody asked for it; NULL: as they are */
};

struct glen_tensors {
  glen_context *ctx;
  const gs_program *program;
  bs_heap *heap; /* of the arrays */
  bool outputs;  /* arrays of the outputs, else of the inputs */
  uint32_t n;
  gs_tensor *data;
};

/* What one rule made in one iteration. */
typedef struct api_growth {
  uint32_t iteration, rule; /* from 0 */
  uint64_t nodes;
} api_growth;

struct glen_result {
  glen_context *ctx;
  bs_heap heap; /* of the e-graph and the extraction */
  bs_arena arena;
  gs_context gs;
  const gs_target *target;
  const gs_program *input;
  ex_limit limit;       /* of the input: what its time is bound by */
  ex_names prepacked;   /* inputs that are the same for all calls */
  uint8_t *once;        /* by class id, of the e-graph at the end, or NULL */
  glen_program program; /* extracted */
  rl_run run;
  const rl_rule **led;
  uint32_t n_led;
  uint32_t *steps_of; /* by rule: steps from the input to the result; or NULL */
  uint64_t matches;
  bool limited;    /* a rule used up its matches */
  eg_node *choice; /* by canonical class id below n_choice */
  uint32_t n_choice;
  BS_VEC(api_growth) growth; /* by iteration, when it was asked for */
  uint64_t *made;            /* by rule, up to the last iteration */
  const pv_answer *verified; /* NULL: it was not asked */
  pv_chain_answer *steps;    /* that were asked for it; NULL: none */
  const rl_rule *rule;       /* of a step that is not proved, or NULL */
  const char *place;         /* of that rule */
  glen_summary summary;
};

/* Runs body(arg) where memory may run out; false when it did. */
bool api_enter(glen_context *, void (*body)(void *), void *arg);
/* Of a body that looks at ctx->interrupt. */
bool api_enter_listening(glen_context *, void (*body)(void *), void *arg);
/* The rules that led there are those of the steps from the input to the result,
 * where these were recorded and are not too many. */
#define API_MAX_LED 256
void api_count_steps(glen_result *);
/* code.c: the program has an input of that name; else false and a diagnostic.
 */
bool api_know_input(glen_context *, const gs_program *, const char *name);
/* What a saturation runs with: the options of the user, what explanations need,
 * and a function that is called after every iteration and may end the run. */
typedef bool api_after_iteration(void *ctx, const eg_graph *,
                                 const eg_iteration *);
rl_options api_run_options(glen_context *, const glen_saturate_options *,
                           bool explain, api_after_iteration *, void *ctx);
/* What each rule and each iteration did, as comments and as JSON. */
void api_put_stats(const glen_result *, bool seconds, bs_text *);
void api_json_stats(const glen_result *, bool seconds, bs_json *);
/* What became of --verify: a comment, an object; nothing when not asked. */
void api_put_verified(const glen_result *, bs_text *);
void api_json_verified(const glen_result *, bs_json *);
/* How two terms were told equal or not. */
void api_json_answer(bs_json *, const pv_answer *);
/* Adds "NAME=VALUE" to rules whose files are loaded; false with a
 * diagnostic. */
bool api_set_param(glen_context *, rl_rules *, const char *text);
/* A finished text as a string of the context. */
const char *api_string(glen_context *, bs_text *);

#endif
