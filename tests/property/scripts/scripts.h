/* SPDX-License-Identifier: MIT */
/* scripts.h - random loop programs and commands for them; see
 * schedule_scripts.c. */
#ifndef TESTS_PROPERTY_SCRIPTS_SCRIPTS_H
#define TESTS_PROPERTY_SCRIPTS_SCRIPTS_H

#include "poly/loops/loops.h"

enum { TEXT = 8192 };

/* random.c: what follows from here on; a number from lo to hi. */
void random_start(uint64_t seed);
int pick(int lo, int hi);
/* program.c: the text of a chain of stages, and of one over sizes n and m. */
void make_program(char *text, size_t size);
void make_open_program(char *text, size_t size);
/* hard.c: one in which much depends on order. */
void make_hard_program(char *text, size_t size);
/* every.c: one of the commands of some primitive, any of which may come, at any
 * place with some of the arguments that may make a difference. */
void make_any_command(const po_program *, char *out, size_t size);
/* command.c: one that names what the program has. */
void make_command(const po_program *, char *out, size_t size);

#endif
