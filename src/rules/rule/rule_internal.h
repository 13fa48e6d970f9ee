/* SPDX-License-Identifier: MIT */
/* rule_internal.h - the inside of a collection of rules; private to this
 * folder.
 *
 * A file is read when it is loaded: its forms are only listed (forms.c).
 * rl_finish parses rules, sets, strategies and compiles, since names and
 * parameters may come later than their use. */
#ifndef RULES_INTERNAL_H
#define RULES_INTERNAL_H

#include "base/map.h"
#include "glenside/text/form_files.h"
#include "rules/rule/saturate.h"
#include "rules/rule/test.h"
#include <assert.h>

/* A condition is a program of steps.  A step that fails goes back to the last
 * FOR before it that has another item; without one the match is done. */
typedef enum rl_step_kind {
  RL_TEST,   /* expr must be true */
  RL_DEFINE, /* slot := expr */
  RL_FOR,    /* slot := each item of expr */
  RL_ONES,   /* slot must hold a list of ones */
  RL_ATTR    /* slot := the attribute of node */
} rl_step_kind;

typedef struct rl_step {
  rl_step_kind kind;
  uint32_t slot;
  const gs_expr *expr;
  const gs_sk_node *node;
} rl_step;

typedef struct rl_condition {
  const rl_step *steps;
  uint32_t n, n_for;
  uint32_t n_slots;
  bool steady; /* asks only what never changes: types and attributes */
} rl_condition;

/* A right side whose terms may pass a limit of the language is typed before
 * it is built: past the limit the rule does not apply. */
typedef struct rl_template {
  const gs_skeleton *skeleton;
  eg_term term;
  uint32_t target; /* the slot of the class it is united with, or UINT32_MAX */
  bool may_grow;
} rl_template;

/* One direction of one rule, compiled. */
typedef struct rl_compiled {
  rl_rule rule;
  uint32_t set;   /* index + 1 of the set it stands in */
  eg_term *parts; /* the left side and the :with patterns */
  uint32_t *part_roots;
  uint32_t n_parts;
  rl_template *right; /* the right side and the :also terms */
  rl_condition *condition;
  uint32_t n_slots, n_bound; /* bound: by the pattern */
  eg_pattern *pattern;
  eg_result *results;
  uint64_t match_limit;
  /* Of an instruction that is found by its meaning: the guard makes the right
   * side (fit.h). */
  const struct fit_instr *fit;
  const gs_instr *instr; /* that it is derived from, or NULL */
  const gs_instr *into;  /* goes on with its sums, or NULL */
  /* Rules of the calls that leave values where it takes its operand, if they
   * are not moved from there as they are. */
  const struct rl_compiled *const *feeds;
  uint32_t n_feeds;
} rl_compiled;

typedef gs_form_file rl_file;

/* A form that was found, to be parsed by rl_finish. */
typedef struct rl_form {
  const char *name;
  bs_span span; /* of the name */
  uint32_t file, node;
  uint32_t set; /* index + 1 of the ruleset it stands in, or 0 */
} rl_form;

typedef struct rl_param {
  const char *name, *doc;
  bs_value value;
  bs_span span;
} rl_param;

typedef struct rl_override {
  const char *name;
  bs_value value;
} rl_override;

typedef struct rl_set {
  const char *name;
  rl_form form;
  uint8_t *mask; /* by rule; after rl_finish */
} rl_set;

typedef enum rl_run_kind {
  RL_RUN_ONCE, /* one iteration of `mask` */
  RL_RUN_SEQ,
  RL_RUN_REPEAT,
  RL_RUN_SATURATE
} rl_run_kind;

typedef struct rl_plan {
  rl_run_kind kind;
  const char *name; /* of a set or a rule that runs once; else NULL */
  const uint8_t *mask;
  int64_t times;
  const struct rl_plan *const *kids;
  uint32_t n_kids;
} rl_plan;

typedef struct rl_strategy {
  const char *name;
  rl_form form;
  const rl_plan *plan;
  bool planning, faulty; /* the plan is being made; cannot be made */
  /* By file: it stands in it, names something of it, or a file of which this
   * holds includes it.  What no phase runs of these was left out on purpose. */
  uint8_t *knows;
} rl_strategy;

struct rl_rules {
  gs_context ctx;
  const gs_target *target;
  gs_form_files forms;
  BS_VEC(rl_param) params;
  BS_VEC(rl_override) overrides;
  BS_VEC(rl_form) rule_forms;
  BS_VEC(rl_set) sets;
  BS_VEC(rl_strategy) strategies;
  BS_VEC(rl_test) tests;
  BS_VEC(rl_compiled *) compiled;
  bs_map form_named,
      set_named;     /* by symbol: the first of rule_forms, of sets */
  bs_map rule_named; /* the first of `compiled` */
  uint8_t *kind_masks[RL_ALGEBRA + 1];
  uint8_t *all_mask;
  bool failed, finished;
};

/* The first compiled rule of a name; BS_NO_ENTRY: there is none. */
uint32_t rl_index_of(const rl_rules *, const char *name);

static inline const bs_sx *
rl_sx(const rl_file *f, uint32_t node) {
  assert(node < f->sx.nodes.len);
  return &f->sx.nodes.data[node];
}

/* forms.c: what stands in a file. */
void rl_forms_init(rl_rules *);
/* The name of a symbol; NULL for anything else. */
const char *rl_symbol(const rl_rules *, const rl_file *, uint32_t node);
/* The text of a string; NULL for anything else. */
const char *rl_string(const rl_rules *, const rl_file *, uint32_t node);
/* The node behind a form's last: the end of its subtree. */
uint32_t rl_end(const rl_file *, uint32_t node);
/* Sets the hint "did you mean" when one of the names is near. */
void rl_suggest(const rl_rules *, const char *word, const char *const *names,
                size_t n);
/* Values given from outside are of the kind of what they overrule. */
bool rl_check_params(const rl_rules *);
/* The value of $NAME, or BS_NIL. */
bs_value rl_param_value(const rl_rules *, const char *name);
/* An integer written as a literal or as $NAME. */
bool rl_integer(const rl_rules *, const rl_file *, uint32_t node, int64_t *out);

/* rule.c: one form to one or two compiled rules; false with diagnostics. */
bool rl_parse_rule(rl_rules *, const rl_form *);
bool rl_kind_find(const char *name, rl_kind *out);

/* where.c: clauses ordered into steps. */
typedef struct rl_clauses {
  const gs_context *ctx; /* whose heap the lists are on */
  const rl_rules *rules;
  const rl_file *file;
  gs_scope *scope; /* holds what the left side binds */
  BS_VEC(uint32_t) conjuncts;
  BS_VEC(uint32_t) fors; /* (?v LIST) */
  bool reverse;          /* conjuncts may be put in another order */
  BS_VEC(rl_step) steps;
} rl_clauses;
void rl_add_where(rl_clauses *, uint32_t cond);
bool rl_order_clauses(rl_clauses *);
/* Reports each variable under `node` that the scope does not bind. */
bool rl_check_bound(const rl_rules *, const rl_file *, const gs_scope *,
                    uint32_t node, const char *where);
/* As a variable or by :let. */
bool rl_is_bound(const gs_scope *, const char *name);
bool rl_is_variable(const char *name);

/* compile.c: skeletons to engine terms. */
typedef struct rl_compiler {
  const gs_context *ctx;
  gs_scope *scope;       /* gives out slots for what has no name */
  BS_VEC(rl_step) steps; /* that the terms add to the condition */
} rl_compiler;
eg_term rl_compile_left(rl_compiler *, const gs_skeleton *);
eg_term rl_compile_right(rl_compiler *, const gs_skeleton *);
rl_condition *rl_condition_new(const gs_context *, const rl_step *ones,
                               uint32_t n_ones, const rl_step *steps,
                               uint32_t n, uint32_t n_slots);
bool rl_may_grow(const gs_skeleton *);

/* steps.c: a condition step by step; its loops are an odometer. */
typedef struct rl_steps {
  bs_values *values;
  const rl_condition *condition; /* NULL: there is none */
  uint32_t *slots;               /* the caller's */
  uint32_t *items;               /* by FOR: the value of its list */
  uint32_t *at;                  /* by FOR: the place in that list */
} rl_steps;
void rl_steps_init(rl_steps *, bs_heap *, bs_values *, const rl_condition *,
                   uint32_t *slots);
void rl_steps_done(rl_steps *, bs_heap *);
/* One step; false when it does not hold or is undefined. */
bool rl_steps_take(rl_steps *, const gs_env *, uint32_t step);
/* On to the last loop before *step that goes on, and behind it; false when all
 * are done. */
bool rl_steps_back(rl_steps *, uint32_t *step);

/* guard.c: a condition being evaluated. */
typedef struct rl_guard {
  struct rl_session *session;
  const rl_condition *condition;
  const rl_compiled *rule; /* NULL: a query */
  uint32_t *slots;
  const gs_type **types; /* scratch, by node of a right side */
  rl_steps steps;
  uint32_t taken; /* steps, for this match */
  /* What the meaning of an instruction was found as. */
  eg_class *made;
  uint32_t n_made;
} rl_guard;
void rl_guard_init(rl_guard *, bs_heap *, struct rl_session *,
                   const rl_condition *, const rl_compiled *);
void rl_guard_done(rl_guard *, bs_heap *);
eg_guard_result rl_guard_ask(void *guard, eg_graph *, uint32_t *slots,
                             uint32_t alternative);

/* derive.c: the lowering rules of the target's instructions. */
bool rl_derive_rules(rl_rules *);

/* run_strategy.c */
bool rl_resolve_sets(rl_rules *);
bool rl_parse_strategies(rl_rules *);
const uint8_t *rl_mask_find(const rl_rules *, const char *name);
bool rl_unknown_set(const rl_rules *, bs_span, const char *name);
const rl_strategy *rl_find_strategy(const rl_rules *, const char *name);

/* plan.c: fills run->phases and run->planned.  Not `alone`: with a phase of the
 * rules that no strategy knows, and, unless `quiet`, a warning of files that
 * are left out. */
void rl_list_phases(rl_run *, const rl_strategy *, bool alone, bool quiet);

/* phases.c: the phases one after the other, each within its share of the
 * limits; without any, all rules until they add nothing.  Fills run->stop,
 * finished, and what the phases did. */
void rl_run_phases(rl_run *, const eg_run_options *limits);

/* test_form.c */
bool rl_read_test(rl_rules *, uint32_t file, uint32_t node);
const char *rl_stop_word(eg_stop); /* as (stops ..) has it */

/* run_rules.c: the same files under another target and parameters. */
rl_rules *rl_copy(const rl_rules *, const gs_context *, const gs_target *);

/* facts.c: the analysis of a run. */
enum { RL_NEAR_TYPES = 64 };

/* A type that was asked for lately. */
typedef struct rl_near_type {
  uint32_t id;
  gs_type *of; /* NULL: none was */
} rl_near_type;

typedef struct rl_session {
  gs_context ctx;
  const gs_target *target;
  const gs_program *program;
  eg_class *class_of;      /* by term of the program; EG_NO_CLASS: not added */
  uint32_t *reader;        /* by term of it; NULL: not found yet, fit_above.c */
  BS_VEC(bs_span) places;  /* by node of the program */
  BS_VEC(gs_type *) types; /* by number */
  bs_map type_number;      /* by id of a type; values are many, types few */
  rl_near_type near[RL_NEAR_TYPES]; /* by low bits of that id */
  bool finished;                    /* the run is over: guards add nothing */
  bs_arena arena;                   /* the types */
  bs_arena scratch;                 /* of one node */
  /* The node that was refused last. */
  struct {
    bool set;
    uint32_t op, n_kids;
    bs_value attr;
    eg_class kids[8];
    gs_fault fault;
  } refused;
} rl_session;

rl_session *rl_session_new(const gs_context *, const gs_target *,
                           const gs_program *);
void rl_session_free(rl_session *);
void rl_session_options(rl_session *, eg_options *);
const gs_type *rl_type_of(rl_session *, bs_value type);
gs_env rl_env(rl_session *, eg_graph *, const uint32_t *slots, uint32_t n);
bool rl_is_limit(const gs_fault *);

/* zeros.c: proven zero regions through one operator.  `kids` are the facts
 * and types of the children; BS_NIL when nothing is known. */
typedef struct rl_known {
  const gs_type *type;
  bs_value zeros, constant;
} rl_known;
bs_value rl_zeros_of(bs_values *, gs_op, bs_value attr, const rl_known *kids,
                     uint32_t n_kids, const gs_type *type);
bs_value rl_zeros_all(bs_values *, const gs_type *);
bs_value rl_zeros_join(bs_values *, bs_value a, bs_value b, const gs_type *);
bool rl_zeros_are_all(const bs_values *, bs_value zeros, const gs_type *);
bs_value rl_constant_of(bs_values *, gs_op, bs_value attr, const rl_known *kids,
                        uint32_t n_kids, const gs_type *type);
/* The zero regions and the one value of a constant's data. */
bs_value rl_zeros_of_data(bs_heap *, bs_values *, const gs_constant *,
                          bs_value *value);

/* run_saturate.c: rl_saturate in two halves, so that terms can be added
 * between. `all`: terms that no output needs, too. */
bool rl_start(const gs_context *, const gs_program *, const rl_rules *,
              const rl_options *, bool all, rl_run *out);
/* `plain`: no strategy, whatever the files say. */
bool rl_go(rl_run *, const rl_options *, const uint8_t *allowed, bool plain);

/* walk.c: the classes of a choice that the outputs need. */
typedef struct rl_walk {
  const rl_run *run;
  const eg_node *choice;
  uint32_t n; /* class ids */
  uint8_t *state;
  BS_VEC(uint32_t) stack;
} rl_walk;
void rl_walk_init(rl_walk *, const rl_run *, const eg_node *choice);
/* The next class, children first; UINT32_MAX at the end.  *ok is cleared when
 * the choice is incomplete or cyclic. */
uint32_t rl_walk_next(rl_walk *, bool *ok);
void rl_walk_done(rl_walk *);

/* provenance.c: the node that the one's rule was matched on, or EG_NO_NODE. */
eg_node rl_came_from(const eg_graph *, eg_node);

/* query.c: a pattern with a condition, looked for once. */
typedef struct rl_query {
  gs_scope scope;
  const gs_skeleton *left;
  rl_condition *condition;
  eg_pattern *pattern;
  uint32_t bound; /* slots that the pattern binds */
  /* Bare names: slots that must hold a given class. */
  BS_VEC(uint32_t) named_slots;
  BS_VEC(eg_class) named_classes;
} rl_query;
bool rl_query_parse(const rl_run *, const rl_rules *, const rl_file *,
                    uint32_t pattern, uint32_t where, rl_query *out);
/* Matches rooted in `root`, or anywhere for EG_NO_CLASS; at most `max`. */
uint64_t rl_query_count(const rl_run *, const rl_query *, eg_class root,
                        uint64_t max);
void rl_query_done(const rl_run *, rl_query *);
/* What the program calls so; EG_NO_CLASS when it has no such name. */
eg_class rl_class_named(const rl_run *, const char *name);
/* Adds a term without variables; EG_NO_CLASS with a diagnostic. */
eg_class rl_add_term(const rl_run *, const rl_rules *, const rl_file *,
                     uint32_t node);

/* report.c: why a run stopped with a fault. */
void rl_report_fault(const rl_run *);
/* The smallest term of each class: a node a class id; ids below *n. */
eg_node *rl_smallest(bs_heap *, const eg_graph *, uint32_t *n);
void rl_put_class(bs_text *, const gs_context *, const eg_graph *, eg_class,
                  const eg_node *choice, uint32_t n, uint32_t budget);

#endif
