/* SPDX-License-Identifier: MIT */
/* session_work.c - names of what is counted; see session_work.h. */
#include "prove/session/session_work.h"

static const char *const names[PV_W_COUNT] = {
    [PV_W_LISTED] = "listed",       [PV_W_PATHS] = "paths",
    [PV_W_CASES] = "cases",         [PV_W_SIZES] = "sizes",
    [PV_W_FACTS] = "facts",         [PV_W_SYSTEMS] = "systems",
    [PV_W_SUMS] = "sums",           [PV_W_SAMPLES] = "samples",
    [PV_W_ELEMENTS] = "elements",   [PV_W_MATCHES] = "matches",
    [PV_W_QUESTIONS] = "questions", [PV_W_VALUES] = "values",
    [PV_W_ATOMS] = "atoms",         [PV_W_ENTRIES] = "entries",
    [PV_W_CIRCUITS] = "circuits",   [PV_W_GATES] = "gates",
    [PV_W_LANDMARKS] = "landmarks", [PV_W_RUNS] = "runs",
    [PV_W_VISITS] = "visits",       [PV_W_DOUBTS] = "doubts",
    [PV_W_COPIES] = "copies"};

void
pv_put_counts(bs_text *out, const pv_counts *c) {
  const char *comma = "";
  for (uint32_t k = 0; k < PV_W_COUNT; k++) {
    if (!c->of[k])
      continue;
    bs_putf(out, "%s%llu %s", comma, (unsigned long long)c->of[k], names[k]);
    comma = ", ";
  }
}

void
pv_json_counts(bs_json *j, const char *key, const pv_counts *c) {
  bs_json_object(j, key);
  for (uint32_t k = 0; k < PV_W_COUNT; k++)
    bs_json_int(j, names[k], (int64_t)c->of[k]);
  bs_json_end(j);
}
