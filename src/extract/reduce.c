/* SPDX-License-Identifier: MIT */
/* reduce.c - the reductions in turn until they find little or nothing. */
#include "extract/core.h"

/* A round that changes less than one node in this many is the last. */
#define WORTHWHILE 64

static uint32_t
merge_classes(ex_core *g, ex_watch *w) {
  uint32_t changed = core_normalize_costs(g), found;
  do {
    found = core_eliminate(g, w);
    found += core_normalize_costs(g);
    changed += found;
  } while (found);
  return changed;
}

/* Prunes; true when there is something left to do and time for it. */
static bool
go_on(ex_core *g, ex_watch *w) {
  core_prune(g);
  return !g->infeasible && g->live_classes > 0 && !ex_watch_over(w);
}

static uint32_t
use_must(ex_core *g, ex_watch *w) {
  core_must m;
  core_must_start(g, w, &m);
  uint32_t changed = core_use_must(g, &m);
  core_must_done(&m);
  return changed;
}

static uint32_t
dominate(ex_core *g, ex_watch *w) {
  core_must m;
  core_must_start(g, w, &m);
  uint32_t changed = core_dominate(g, w, &m);
  core_must_done(&m);
  return changed;
}

void
core_reduce(ex_core *g, ex_watch *w) {
  while (go_on(g, w)) {
    uint32_t changed = merge_classes(g, w);
    if (!go_on(g, w))
      return;
    changed += use_must(g, w);
    if (!go_on(g, w))
      return;
    changed += dominate(g, w);
    if ((uint64_t)changed * WORTHWHILE <= g->live_nodes) {
      core_prune(g);
      return;
    }
  }
}
