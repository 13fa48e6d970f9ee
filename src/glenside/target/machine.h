/* SPDX-License-Identifier: MIT */
/* machine.h - what prices and plans ask of a machine: one function for each
 * question, so that two of them cannot take two numbers for one thing.
 *
 * A target may leave out what it likes, and where caches, cores and vectors are
 * asked for, it may be NULL: the answers are then those of gs_target_default, a
 * modest machine.  What was measured on machines and no target tells is in
 * tuned.h. */
#ifndef GLENSIDE_MACHINE_H
#define GLENSIDE_MACHINE_H

#include "glenside/target/target.h"

/* At least 1 each. */
int64_t gs_cores(const gs_target *);
int64_t gs_vector_bytes(const gs_target *);
/* Elements of so many bytes in a vector; one that is wider than that counts as
 * a vector. */
int64_t gs_vector_lanes(const gs_target *, int64_t bytes);
int64_t gs_vector_registers(const gs_target *);
/* Whether vectors are executed as two halves: as many multiply-adds a cycle as
 * with half of their length. */
bool gs_has_half_vectors(const gs_target *);

/* ---- caches: the first is next to a core, the second is a core's own ---- */

/* Its lines have room for an element of any type. */
gs_cache gs_first_cache(const gs_target *);
/* Elements of so many bytes in a line of it. */
int64_t gs_line_elements(const gs_target *, int64_t bytes);
/* Bytes of the first cache (1) or the second one (2). */
int64_t gs_cache_bytes(const gs_target *, uint32_t which);
/* Bytes of the third cache for each core; 0 where there is none. */
int64_t gs_third_cache_share(const gs_target *);
/* Bytes of the last cache that is a core's own: the second one, or the first
 * of a target that says of no other. */
int64_t gs_core_bytes(const gs_target *);
/* Bytes of an array from which on it is in memory when it is read again: the
 * last cache's, but no more than a few times the second one's, since a shared
 * cache is not one program's alone.  INT64_MAX where no cache is known. */
int64_t gs_far_bytes(const gs_target *);
/* Bytes of an array from which on it pays to fetch ahead what is read of it:
 * those of gs_far_bytes, but no more than the second cache has. */
int64_t gs_near_bytes(const gs_target *);
/* Bytes from which on an array that a core reads alone is in memory when it is
 * read again. */
int64_t gs_private_bytes(const gs_target *);

/* Whether a core that writes more than the caches hold had better not store
 * past them: where such stores are slower than reading is, a line that is read
 * ahead of an ordinary store, and written back later, takes less time. */
bool gs_stores_through_caches(const gs_target *);

/* ---- rates ---- */

/* Bytes a cycle from where `live` bytes that compete for the caches are;
 * INFINITY: from memory. */
double gs_bytes_a_cycle(const gs_target *, double live);
/* Of the rate of memory, what so many of all cores get together: some of them
 * are enough to use it up. */
double gs_share_of_memory(double cores, double all);
/* Operations a cycle of one core; a multiply-add is two. */
double gs_operations_a_cycle(const gs_target *, gs_rate, gs_dtype);
/* Cycles of a multiply-add of vectors, where others go on beside it. */
double gs_multiply_add_cycles(const gs_target *);

#endif
