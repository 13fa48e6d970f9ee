/* SPDX-License-Identifier: MIT */
/* api_explain.h - chains as people and programs read them; of this folder. */
#ifndef API_EXPLAIN_H
#define API_EXPLAIN_H

#include "api/api.h"
#include "rules/explain/explain.h"
#include "rules/explain/near.h"

typedef struct api_explained {
  glen_context *ctx;
  const rl_rules *rules;
  const gs_program *a; /* whose names of terms are used */
  const gs_program *b;
  const rl_explanation *x;
  const rl_run *run;
  uint32_t shown;      /* steps of a chain in the text */
  uint32_t json_steps; /* in the JSON; 0: all, with whole terms */
  bool equal;          /* every output is explained */
  const char *wrong;   /* what the check found, or NULL */
} api_explained;

void api_put_explained(const api_explained *, bs_text *);
void api_json_explained(const api_explained *, bs_text *);
/* How far a run came from the outputs of a towards those of b: terms of b that
 * were not reached though all their children were.  Returns how many of b's
 * terms were reached. */
uint32_t api_reached(const rl_run *, const gs_program *a, const gs_program *b,
                     gs_term *frontier, uint32_t max, uint32_t *n);

/* A nearest miss, indented. */
void api_put_near(glen_context *, const rl_near *, bs_text *);

#endif
