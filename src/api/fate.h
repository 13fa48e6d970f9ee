/* SPDX-License-Identifier: MIT */
/* fate.h - what became of one rule in a run. */
#ifndef API_FATE_H
#define API_FATE_H

#include "api/api.h"
#include "rules/explain/near.h"

typedef struct api_fate {
  /* "disabled", "inexact", "never ran", "never matched", "condition false",
   * "limited", "known", "dearer", "chosen": one word of the table in fate.c. */
  const char *word;
  uint64_t applied;  /* times in the run */
  uint64_t applying; /* matches for which it would apply to what there is now */
  const char *phase; /* that has it but did not run; NULL: there is none */
  eg_stop cut;       /* what kept that phase from running */
  bool chosen;
} api_fate;

void api_fate_of(const glen_result *, const rl_rule *, const rl_nearness *,
                 api_fate *out);
/* A line on it. */
void api_put_fate(const glen_result *, const api_fate *, bs_text *);

#endif
