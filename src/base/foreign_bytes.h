/* SPDX-License-Identifier: MIT */
/* foreign_bytes.h - files of other programs, told by their first bytes. */
#ifndef BASE_FOREIGN_BYTES_H
#define BASE_FOREIGN_BYTES_H

#include "base/diag.h"

/* Sets the hint of the diagnostic added last to what a file is; false where its
 * bytes do not say. */
bool bs_hint_bytes(bs_diags *, const char *bytes, size_t size);

#endif
