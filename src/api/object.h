/* SPDX-License-Identifier: MIT */
/* object.h - memory of one object of a context, for the files of this
 * folder. */
#ifndef API_OBJECT_H
#define API_OBJECT_H

#include "api/api.h"

api_object *api_object_take(glen_context *);
/* What to make the object with. */
const gs_context *api_object_context(const api_object *);
/* The program as it is, where what is made beside its terms, such as itself at
 * some sizes, is made with the object. */
gs_program api_program_in(const api_object *, const gs_program *);
/* It was read from that source in memory, which goes with it. */
void api_object_read(api_object *, uint32_t source);
void api_object_free(api_object *); /* NULL: nothing */

#endif
