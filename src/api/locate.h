/* SPDX-License-Identifier: MIT */
/* locate.h - names of rules and targets as paths, for the files of this folder.
 */
#ifndef API_LOCATE_H
#define API_LOCATE_H

#include "api/api.h"

/* The path that a name leads to, in the context's arena; the name itself where
 * there is none, so that reading it says why. */
const char *api_find(glen_context *, glen_data, const char *name);
/* The last diagnostic is that nothing of that name can be read: says what is
 * near, or what there is. */
void api_hint_names(glen_context *, glen_data, const char *name);

#endif
