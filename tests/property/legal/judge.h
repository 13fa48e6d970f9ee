/* SPDX-License-Identifier: MIT */
/* judge.h - what docs/SCHEDULES.md asks of a program, decided by looking at
 * all pairs of accesses. */
#ifndef TESTS_PROPERTY_LEGAL_JUDGE_H
#define TESTS_PROPERTY_LEGAL_JUDGE_H

#include "order.h"

typedef enum ju_answer { JU_YES, JU_NO, JU_UNKNOWN } ju_answer;

/* Whether `now` runs accesses of each element in an order that does what
 * `before` does: those of which one sets it stay in order, but for updates that
 * may change places.  Unknown: statements are not the same. */
ju_answer ju_keeps_order(const or_program *before, const or_program *now,
                         const char **why);
/* Whether iterations of all marked loops are independent of each other. */
ju_answer ju_marks_hold(const or_program *, const char **why);
/* Whether iterations of one loop may run as it is marked. */
ju_answer ju_mark_holds(const or_program *, int loop, const char **why);
/* Whether each read finds what was written last to its element: nothing was
 * written over it that shares its place. */
ju_answer ju_places_hold(const or_program *, const char **why);
/* Whether blocks and threads are as many as there may be, an axis is one loop's
 * on each way down, and blocks are outside of threads. */
ju_answer ju_bindings_hold(const or_program *, const char **why);
/* Whether all threads of a block come to each of its barriers. */
ju_answer ju_barriers_hold(const or_program *, const char **why);

#endif
