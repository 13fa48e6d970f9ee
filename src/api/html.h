/* SPDX-License-Identifier: MIT */
/* html.h - the parts of the HTML report; of this folder.  Each writes members
 * of the object that is open. */
#ifndef API_HTML_H
#define API_HTML_H

#include "api/api.h"

/* html_cost.c: "costs", the terms of both programs with their prices, and
 * "roofline". */
void api_html_costs(const glen_result *, bs_json *);
/* html_layers.c: "layers" of the chosen program, and how many are left out. */
void api_html_layers(const glen_result *, bs_json *);
/* html_egraph.c: "egraph", classes near the chosen program. */
void api_html_egraph(const glen_result *, bs_json *);

#endif
