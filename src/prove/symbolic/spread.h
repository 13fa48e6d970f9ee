/* SPDX-License-Identifier: MIT */
/* spread.h - ranks, axes and lengths as sums (private to spread*.c). */
#ifndef PROVE_SPREAD_H
#define PROVE_SPREAD_H

#include "glenside/expr/expr_functions.h"
#include "prove/symbolic/symbolic_forms.h"

enum {
  SP_SLOTS = 64,
  SP_NODES = 24,
  SP_TERMS = 16,
  SP_SEEN = 64,
  SP_LARGE = 1 << 20, /* a rank that is never listed */
  SP_ACCESS = 0,
  SP_COMPUTE = 1,
  SP_RANK = 2, /* of a term: 3 * slot and more */
  SP_VALUE = 3 * SP_SLOTS,
  SP_LENGTH = 4 * SP_SLOTS,
  SP_OPAQUE = 5 * SP_SLOTS, /* what is read from a list */
  SP_OPAQUES = 128,
  SP_WHATS = SP_OPAQUE + SP_OPAQUES
};

/* A sum; of a list, its length.  A size is none of these. */
typedef struct sp_places {
  bool size;
  int64_t number;
  uint32_t n;
  struct {
    uint32_t what;
    int64_t times;
  } term[SP_TERMS];
} sp_places;

/* Of a node of the left side. */
typedef struct sp_ranks {
  const sp_places *access, *compute, *all;
} sp_ranks;

typedef struct sp_walk {
  bs_arena *arena; /* of sums */
  const bs_values *values;
  const rl_rule *rule;
  const uint8_t *is_size;        /* by slot */
  uint64_t defined;              /* bits: slots whose sum is known */
  const sp_places *of[SP_SLOTS]; /* those */
  uint8_t asked[SP_SLOTS];       /* bits: which ranks of a term */
  bool counts;                   /* the second pass */
  bool lists;                    /* items of lists are held against others */
  uint16_t group[SP_WHATS];      /* of what is compared with each other */
  bool bounded[SP_WHATS]; /* no more than a number of the rule, on its word */
  uint32_t opaque, n_seen;
  uint64_t seen[SP_SEEN], factor, numbers;
  uint64_t items; /* of literal lists in clauses, added up */
  sp_ranks node[SP_NODES];
} sp_walk;

/* spread.c: sums. */
extern const sp_places sp_size, sp_none;
const sp_places *sp_number(sp_walk *, int64_t);
const sp_places *sp_lone(sp_walk *, uint32_t what);
const sp_places *sp_shifted(sp_walk *, const sp_places *, int64_t by);
/* a + times * b */
const sp_places *sp_plus(sp_walk *, const sp_places *a, int64_t times,
                         const sp_places *b);
/* Either of both: of each term the more. */
const sp_places *sp_either(sp_walk *, const sp_places *a, const sp_places *b);
/* Where a rule asks for all three ranks of a term, one is the sum; without what
 * is bounded. */
const sp_places *sp_written_out(sp_walk *, const sp_places *);
/* The more of what is added, and of what is subtracted with `more`. */
int64_t sp_width(const sp_places *, int64_t more);

/* This is held against a number, and `more` places that are not known; it is
 * `strict` where one more or less tells. */
void sp_note(sp_walk *, const sp_places *, int64_t more, uint64_t strict);
void sp_compare(sp_walk *, const sp_places *, const sp_places *,
                uint64_t strict);
/* The group of a place: places that are compared, and all that lie between
 * them, are in one. */
uint16_t sp_group_of(const sp_walk *, uint32_t what);

/* spread_expr.c: an expression; what is compared in it is noted. */
const sp_places *sp_read(sp_walk *, const gs_expr *);

static inline bool
sp_is_class(const gs_expr *e) {
  return e->kind == GS_X_VAR && e->sort == GS_SORT_CLASS && e->slot < SP_SLOTS;
}

#endif
