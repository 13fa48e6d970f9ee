/* SPDX-License-Identifier: MIT */
/* places.h - where a name of rules or of a target leads: as it is given, along
 * GLEN_PATH, in the folder of data. */
#ifndef BASE_PLACES_H
#define BASE_PLACES_H

#include "base/arena.h"

/* A kind of files that are found by name. */
typedef struct bs_place {
  const char *folder, *suffix;
  bool folders; /* may it be a folder? */
} bs_place;

extern const bs_place bs_rules_place, bs_targets_place;

/* The folder of what comes with glen. */
bool bs_data_folder(char *path, size_t size);
/* The next folder of a list with a colon between, and its length; 0: there is
 * none any more.  Empty ones are left out; `rest` may be NULL. */
size_t bs_next_place(const char **rest, const char **folder);
/* Along GLEN_PATH, then in the folder of data. */
bool bs_find_by_name(const bs_place *, const char *name, char *path,
                     size_t size);
/* The path itself, if it leads to something of the kind; else what a name leads
 * to, unless it says that it is a path. */
bool bs_find(const bs_place *, const char *name, char *path, size_t size);
/* The path that bs_find gives, else the name, so that reading it says why it
 * cannot be read. */
const char *bs_path_found(bs_arena *, const bs_place *, const char *name);
/* A name that a file includes: beside that file; where nothing is there, by
 * name. */
const char *bs_path_included(bs_arena *, const bs_place *, const char *base,
                             const char *name);

#endif
