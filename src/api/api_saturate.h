/* SPDX-License-Identifier: MIT */
/* api_saturate.h - a saturation under way, for the files that are a part of
 * it. */
#ifndef API_SATURATE_H
#define API_SATURATE_H

#include "api/api.h"
#include "region/region.h"

typedef struct api_saturation {
  glen_context *ctx;
  const glen_program *program;
  const glen_rules *rules;
  const glen_target *target;
  const glen_saturate_options *options;
  ex_method method;
  glen_result *result;
  double started;
  bool quiet; /* warnings about the rules were given */
} api_saturation;

/* api_saturate.c: a result on a heap of its own, below that of another; the
 * rules on its input, as one, and nothing is said of limits. */
void api_result_init(glen_result *, glen_context *, bs_heap *parent,
                     const gs_target *, const gs_program *input);
bool api_explore(api_saturation *);
/* regions.c: cuts the program, where that is how it is to be saturated. */
bool api_wants_regions(api_saturation *, rg_cut *);
bool api_explore_regions(api_saturation *, const rg_cut *);

#endif
