/* SPDX-License-Identifier: MIT */
/* check.h - the inside of glen-check-proof: a proof is checked with nothing of
 * glen but the reader of its languages and the types of terms.
 *
 * Neither the e-graph, nor the matcher, nor what applies a rule, nor the
 * evaluator of conditions is used here: these are written a second time. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "base/map.h"
#include "glenside/text/form_files.h"
#include "glenside/array/inspect.h"
#include "glenside/program/skeleton.h"
#include "glenside/target/target.h"

/* ---- rules, as they are written (check_rules.c) ---- */

typedef struct ck_side {
  uint32_t slot; /* the variable that it is about; UINT32_MAX: the whole */
  const gs_skeleton *term;
} ck_side;

typedef BS_VEC(ck_side) ck_sides;

/* A test, or a variable that takes each value of a list. */
typedef struct ck_condition {
  uint32_t slot; /* UINT32_MAX: a test */
  const gs_expr *expr;
} ck_condition;

/* ":with" and the like, and what stands behind it. */
typedef struct ck_clause {
  const char *word;
  uint32_t node;
} ck_clause;

/* One direction of a rule, which is parsed when it is asked for first, or an
 * instruction of the target, whose rules are derived. */
typedef struct ck_rule {
  const char *name;
  bs_span span;
  const gs_instr *instr; /* NULL: a rule */
  bs_sexps sx;           /* of its file */
  bool both_ways, parsed, bad;
  uint32_t left, right; /* its sides */
  BS_VEC(ck_clause) clauses;
  BS_VEC(gs_let) lets; /* of the scope */
  gs_scope scope;
  ck_sides parts;   /* 0: the left side; then one a :with */
  ck_sides results; /* 0: the right side; then one an :also */
  BS_VEC(ck_condition) conditions;
  uint32_t used; /* lemmas that apply it */
} ck_rule;

typedef struct ck_params {
  BS_VEC(const char *) names;
  BS_VEC(bs_value) values;
} ck_params;

typedef struct ck_rules {
  const gs_context *ctx;
  const gs_target *target;
  BS_VEC(ck_rule *) list;    /* rules first */
  ck_params given, declared; /* on the command line, and in files */
  gs_form_files forms;       /* whose `take` lists rules and params */
} ck_rules;

void ck_rules_init(ck_rules *, const gs_context *, const gs_target *);
/* NAME=VALUE; before loading. */
bool ck_give_param(ck_rules *, const char *text);
/* Behind all files: is each parameter that was given declared in one? */
bool ck_know_params(const ck_rules *);
/* Then the instructions of the target. */
void ck_add_instrs(ck_rules *);
/* NULL when there is none of that name.  Behind a dot stands of which of an
 * instruction's rules a step is. */
ck_rule *ck_find_rule(ck_rules *, const char *name);
/* Its sides and conditions; false with diagnostics. */
bool ck_parse_rule(ck_rules *, ck_rule *);

/* ---- values (eval.c) ---- */

/* Two terms that are equal. */
typedef struct ck_lemma {
  gs_term from, to;
} ck_lemma;

typedef struct ck_env {
  const gs_context *ctx;
  const gs_program *p;
  uint32_t *slots; /* terms and values; UINT32_MAX: not bound */
  const gs_scope *scope;
  const ck_lemma *facts; /* to what shows more of what a variable stands for */
  uint32_t n_facts;
} ck_env;

/* BS_NIL where it is undefined, and of a term. */
bs_value ck_eval(const ck_env *, const gs_expr *);
/* A value as it is held by a variable or a list. */
bs_value ck_kept(bs_values *, bs_value);
/* Equal as values: 2 and 2.0 are. */
bool ck_same(const bs_values *, bs_value, bs_value);

/* ---- what is known of the elements of a term (check_zeros.c) ---- */

/* Is it 0 wherever its index along the axis is in lo .. hi - 1? */
bool ck_is_zero(const ck_env *, gs_term, uint32_t axis, int64_t lo, int64_t hi);
/* The one value that every element has; BS_NIL. */
bs_value ck_constant(const ck_env *, gs_term);

/* ---- patterns (check_match.c) ---- */

/* The term is an instance of the skeleton: of a pattern, which binds what is
 * not bound; or of what bound variables give. */
bool ck_match(const ck_env *, const gs_skeleton *, gs_term, bool binds);

/* ---- instructions (instr.c) ---- */

/* NULL when the call, which may stand below views, is what the instruction says
 * of `meant`; else why not. */
const char *ck_check_call(gs_program *, const gs_instr *, gs_term meant,
                          gs_term call);
/* check_form.c: whether two terms are one computation; false where it cannot be
 * told.  `known`: by term, computes that are not looked into. */
bool ck_same_form(const gs_program *, gs_term a, gs_term b, const bool *known);

/* ---- proofs (check_proof.c, check_step.c) ---- */

typedef struct ck_proof {
  const gs_context *ctx;
  ck_rules *rules;
  gs_program *p; /* all terms */
  bs_sexps sx;
  uint32_t root;  /* the form (proof ...) */
  bs_map term_of; /* by symbol: what is called so */
  BS_VEC(ck_lemma) lemmas;
  bs_map claims; /* by symbol: the form that is about that output */
  uint32_t n_applied;
  uint32_t at;     /* the lemma that is wrong, from 1; 0: a claim */
  const char *why; /* NULL: accepted */
} ck_proof;

/* Reads a proof; false with diagnostics. */
bool ck_read_proof(ck_proof *, const char *path);
/* Checks it as one of `program`, and, unless NULL, of `result`. */
void ck_check_proof(ck_proof *, const gs_program *program,
                    const gs_program *result);
/* The form of one rule application; NULL, or what is wrong. */
const char *ck_check_step(ck_proof *, uint32_t node, gs_term from, gs_term to);
/* What a form cites: a lemma before this one, from left to right or, below 0,
 * back.  Where it is about a term, it must be from that, and 0 cites that it is
 * itself; else `from` is GS_NO_TERM. */
bool ck_cited(const ck_proof *, uint32_t node, gs_term from, ck_lemma *out);
/* The term that a name stands for. */
gs_term ck_term(const ck_proof *, uint32_t node);

static inline gs_type
ck_type(const gs_program *p, gs_term t) {
  gs_type type;
  gs_type_at(p, t, &type);
  return type;
}

#endif
