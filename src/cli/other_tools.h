/* SPDX-License-Identifier: MIT */
/* other_tools.h - words of other tools' command lines: hints for those who come
 * from there. */
#ifndef CLI_OTHER_TOOLS_H
#define CLI_OTHER_TOOLS_H

#include "cli/options_table.h"

/* What to write instead; NULL: the word says nothing here. */
const char *cl_other_command(const char *word);
const char *cl_other_option(const char *word); /* without its value */
const char *cl_other_form(const char *word);   /* of --emit */
/* The option that takes a file of such a name, or NULL. */
const char *cl_option_of_file(const char *path);
/* other_numbers.c: the number that such a text stands for in other tools, as
 * an option of this kind takes it; false: it is none. */
bool cl_number_meant(cl_kind, const char *text, char *out, size_t size);

#endif
