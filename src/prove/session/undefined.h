/* SPDX-License-Identifier: MIT */
/* undefined.h - values that are no numbers (private to confirm.c and
 * undefined.c). */
#ifndef PROVE_UNDEFINED_H
#define PROVE_UNDEFINED_H

#include "prove/session/precise.h"

typedef struct pv_undefined pv_undefined;

/* Never NULL; on the session's arena. */
pv_undefined *pv_undefined_make(pv_session *, uint32_t pair);
/* Whether NaN or an infinity on one side of d->element is one of meaning, or a
 * difference of two numbers behind a term that has no value for certain;
 * `high`: the pair with every float as f64, evaluated on d's inputs.  `inputs`
 * is another number for other inputs. */
bool pv_undefined_is_meant(pv_undefined *, const pv_doubt *d,
                           const pv_precise *high, uint64_t inputs);

#endif
