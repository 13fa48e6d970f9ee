/* SPDX-License-Identifier: MIT */
/* api_verify.h - the steps from a program to its result, proved; of this
 * folder. */
#ifndef API_VERIFY_H
#define API_VERIFY_H

#include "api/api.h"

/* Each output by the steps of its proof: an answer an output, in the context's
 * arena; NULL when nothing was recorded.  Sets result->steps. */
pv_answer *api_ask_steps(glen_context *, glen_result *, const pv_options *,
                         uint32_t n_outputs);
/* "by 12 steps, 3 questions" */
const char *api_say_steps(glen_context *, const api_steps *);
void api_put_open_steps(const api_steps *, bs_text *);
void api_json_steps(const api_steps *, bs_json *);

#endif
