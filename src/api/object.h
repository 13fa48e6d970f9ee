/* SPDX-License-Identifier: MIT */
/* object.h - memory of one object of a context, for the files of this
 * folder. */
#ifndef API_BOX_H
#define API_BOX_H

#include "api/api.h"

api_box *api_box_take(glen_context *);
/* What to make the object with. */
const gs_context *api_box_context(const api_box *);
/* The program as it is, where what is made beside its terms, such as itself at
 * some sizes, is made with the box. */
gs_program api_program_in(const api_box *, const gs_program *);
/* It was read from that source in memory, which goes with it. */
void api_box_read(api_box *, uint32_t source);
void api_box_free(api_box *); /* NULL: nothing */

#endif
