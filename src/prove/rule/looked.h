/* SPDX-License-Identifier: MIT */
/* looked.h - what the shapes that a rule was looked at on had in them.
 *
 * A verdict that rests on shapes names them by this: ranks, axes, lengths of
 * lists, dtypes, operators, sizes, values of parameters, and on which sides of
 * the rule's own numbers some size or amount was. */
#ifndef PROVE_LOOKED_H
#define PROVE_LOOKED_H

#include "base/json.h"
#include "glenside/program/program.h"
#include "rules/rule/rule_apply.h"

enum { PV_BELOW = 1, PV_AT = 2, PV_ABOVE = 4, PV_SETTINGS = 24 };

typedef struct pv_looked {
  /* Bits: ranks of terms, whole numbers of variables that are axes or
   * boundaries, lengths of lists of variables. */
  uint32_t ranks, axes, lengths;
  uint32_t dtypes;
  uint64_t operators;  /* bits, of variables that stand for one */
  uint64_t axis_slots; /* bits: the variables that are axes */
  int64_t max_dim, max_elements;
  /* The numbers that the rule writes, and where what was seen lies. */
  uint32_t n_literals;
  double literals[RL_NUMBERS];
  uint8_t sides[RL_NUMBERS];
  uint32_t n_settings; /* of the rule's parameters, tried */
  int64_t settings[PV_SETTINGS];
} pv_looked;

/* Forgets all but the literals, which are those of the rule. */
void pv_looked_start(pv_looked *, const bs_values *, const rl_parts *);
/* One application: `slots` by variable; a term of the program or a value. */
void pv_looked_at(pv_looked *, const gs_program *, const gs_scope *,
                  const uint32_t *slots, uint32_t n_slots);
/* The rule's parameters had this value. */
void pv_looked_setting(pv_looked *, int64_t);
/* "ranks 0 to 4, axes 0 to 3, ..."; no line of its own. */
void pv_put_looked(bs_text *, const pv_looked *);
void pv_json_looked(bs_json *, const pv_looked *);

#endif
