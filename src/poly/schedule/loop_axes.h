/* SPDX-License-Identifier: MIT */
/* loop_axes.h - the table of axes of a program's loops, kept through every
 * schedule primitive.
 *
 * A loop stands for one axis; loops that a fission parted stand for the same
 * one.  A split makes a tile pair zT, zt of z (several factors: pairs of
 * pairs), a fuse a merged axis; a loop that becomes parallel, or is bound to
 * blocks, is the outer half of a block pair zB, zb: of the tile pair that it
 * was the outer half of, else of blocks of one iteration.  Marks taken off
 * give the tile pair, or the axis, back.  Loops that a primitive makes anew
 * are original axes.  Names are those of the rules, whatever a script calls
 * its loops; nothing is ever removed from the table.
 *
 * Rules of axis.h that scripts are held to: R2, that on one way down there is
 * one block-outer axis (the dimensions of one grid count as one), and R4: a
 * fuse is refused where an axis made by a split was moved by `reorder` and the
 * two were not neighbours before.  What `tile` does is no reordering: the order
 * it gives is the one to come from.
 *
 * A loop has no axis where the table is full or its size is not known. */
#ifndef POLY_LOOP_AXES_H
#define POLY_LOOP_AXES_H

#include "poly/loops/axes_kept.h"

/* Gives axes to loops without one, and block pairs to those that are marked;
 * before and after every primitive. */
void po_axes_follow(po_program *);
/* { loop -> made[0], ..., made[n-1] } of these strides, outermost first. */
void po_axes_split(po_program *, uint32_t loop, const uint32_t *made,
                   const int64_t *strides, uint32_t n);
/* NULL, or why rule R4 refuses to fuse these loops. */
const char *po_axes_may_fuse(const po_program *, const uint32_t *loops,
                             uint32_t n);
/* Before the loops go: the axis of what they become. */
uint32_t po_axes_fuse(po_program *, const uint32_t *loops, uint32_t n);
/* The axes on the way down to a loop, itself included; their number. */
uint32_t po_axes_way(const po_program *, uint32_t loop,
                     uint32_t axes[PO_MAX_DEPTH]);
/* After a reorder of that way. */
void po_axes_reorder(po_program *, const uint32_t *was, const uint32_t *is,
                     uint32_t n);

#endif
