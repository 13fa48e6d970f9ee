/* SPDX-License-Identifier: MIT */
/* cli_values.h - names that an option may be given, found in rules, targets and
 * the program on the command line. */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "cli/cli_complete.h"
#include "cli/options_table.h"

/* Are the values of this option names that can be looked for? */
bool cl_has_names(const cl_row *);
/* Offers them; false: not an option with names. */
bool cl_offer_names(cl_offer *, const cl_command *, const cl_row *,
                    const cl_words *);
/* Offers what comes with glen by name, and files that end so. */
void cl_offer_shipped(cl_offer *, const char *folder, const char *suffix);
/* Calls `each` for the names of files of data that end so, in order. */
bool cl_data_names(const char *folder, const char *suffix,
                   void (*each)(void *, const char *name), void *arg);

#endif
