/* SPDX-License-Identifier: MIT */
/* governor.h - the limits on time and memory that one command keeps, whatever
 * it does.
 *
 * A governor hangs off the root of its heaps, so whoever has a heap has it.
 * Work is done in stages.  A stage has an end and a size of its own within the
 * limits of the whole; a loop that may run long asks `bs_stage_over` and gives
 * what it has, so that the stages behind it keep their share.  What asks
 * nothing is stopped by the heap: somewhat beyond the limits of the whole it
 * refuses, and control unwinds as when memory runs out (heap.h); for good where
 * time is over, and as long as there is too much of it for memory.
 *
 * Memory is what the process's resident size has grown by since the limits were
 * set, with what is not on a heap: isl's sets, solvers.  It is looked at some
 * hundred times a second. */
#ifndef BASE_GOVERNOR_H
#define BASE_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bs_reason {
  BS_GOES_ON,
  BS_OUT_OF_TIME,
  BS_OUT_OF_MEMORY
} bs_reason;

/* "time limit", "memory limit". */
const char *bs_reason_name(bs_reason);
/* "time-limit", "memory-limit": codes of diagnostics. */
const char *bs_reason_code(bs_reason);

typedef struct bs_stage {
  const char *name;
  double end;   /* seconds of bs_now; INFINITY: none */
  size_t bytes; /* resident; SIZE_MAX: none */
  bs_reason over;
} bs_stage;

typedef struct bs_governor {
  double begun, end; /* of the whole, as in a stage */
  size_t bytes;
  bs_stage stage;
  bs_reason refused; /* why the heap refused last, and in which stage */
  const char *refused_in;
  uint32_t countdown; /* allocations until the next look */
  double looked;      /* when the resident size was read */
  size_t resident, resident_before;
  int status; /* /proc/self/statm; -1: not open */
  bool governs;
} bs_governor;

void bs_governor_init(bs_governor *);
void bs_governor_done(bs_governor *);
/* From now on so many seconds and bytes; 0: no limit. */
void bs_govern(bs_governor *, double seconds, size_t bytes);

/* The next stage, which may take these parts of the time that is left and of
 * all memory; what held before, to be given to bs_stage_end.  Stages nest.
 * Here and below a governor may be NULL: then there are no limits. */
bs_stage bs_stage_begin(bs_governor *, const char *name, double of_time,
                        double of_memory);
/* Why the stage was over, which it goes by. */
bs_reason bs_stage_end(bs_governor *, bs_stage before);
/* Has the stage reached its end, or its size?  Once it has, it stays so. */
bool bs_stage_over(bs_governor *);
/* Has the stage reached the end of its time?  Any thread may ask. */
bool bs_stage_late(const bs_governor *);
/* Seconds until the stage ends, at least 0; INFINITY: no limit. */
double bs_stage_seconds(const bs_governor *);
/* Bytes that the stage may still take, of the heap's count and the process's
 * size the worse; SIZE_MAX: no limit. */
size_t bs_stage_room(bs_governor *, size_t used);

/* For the heap: may n bytes be had, `used` being in use? */
bool bs_governor_grants(bs_governor *, size_t n, size_t used);

/* For work that allocates nothing: may it go on?  False where the heap would
 * refuse more memory. */
bool bs_governor_lets(bs_governor *);

/* What the process has grown by, in bytes; 0 where it cannot be told. */
size_t bs_resident(const bs_governor *);
/* The memory there is for this process: the machine's, or less where a control
 * group says so; 0 where nothing can be told. */
size_t bs_memory_there_is(void);

#endif
