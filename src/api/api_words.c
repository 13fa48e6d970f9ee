/* SPDX-License-Identifier: MIT */
/* api_words.c - words for modes, as the command line spells them. */
#include "api/api.h"
#include <string.h>

static const char *const fusions[] = {
    [GLEN_FUSE_AUTO] = "auto", [GLEN_FUSE_NONE] = "none",
    [GLEN_FUSE_MIN] = "min",   [GLEN_FUSE_SMART] = "smart",
    [GLEN_FUSE_MAX] = "max",   [GLEN_FUSE_POST_TILE] = "post-tile",
};

static const char *const printed[] = {
    [GLEN_PRINT_LOOPS] = "loops", [GLEN_PRINT_PROGRAM] = "program",
    [GLEN_PRINT_TREE] = "tree",   [GLEN_PRINT_AXES] = "axes",
    [GLEN_PRINT_DEPS] = "deps",   [GLEN_PRINT_SCRIPT] = "script",
    [GLEN_PRINT_FUSED] = "fused",
};

static const char *const layout_costs[] = {
    [GLEN_LAYOUT_NONE] = "none",
    [GLEN_LAYOUT_DOC] = "doc",
    [GLEN_LAYOUT_AUTOKERNEL] = "autokernel",
    [GLEN_LAYOUT_LINES] = "lines",
};

static const char *const region_ways[] = {
    [GLEN_REGIONS_AUTO] = "auto",
    [GLEN_REGIONS_WHOLE] = "whole",
    [GLEN_REGIONS_LAYERS] = "layers",
};

/* The place of a word; n when it is not there. */
static uint32_t
find_word(const char *word, const char *const *words, uint32_t n) {
  uint32_t k = 0;
  while (k < n && strcmp(words[k], word) != 0)
    k++;
  return k;
}

#define FIND(mode, words)                                                      \
  bool mode##_find(const char *word, mode *out) {                              \
    const uint32_t n = sizeof words / sizeof *words;                           \
    uint32_t k = find_word(word, words, n);                                    \
    if (k < n)                                                                 \
      *out = (mode)k;                                                          \
    return k < n;                                                              \
  }
FIND(glen_fusion, fusions)
FIND(glen_printed, printed)
FIND(glen_layout_cost, layout_costs)
FIND(glen_regions, region_ways)
#undef FIND

_Static_assert((int)GLEN_EXTRACT_TREE == EX_TREE &&
                   (int)GLEN_EXTRACT_DAG == EX_DAG &&
                   (int)GLEN_EXTRACT_EXACT == EX_EXACT &&
                   (int)GLEN_EXTRACT_ILP == EX_ILP,
               "the extractors are numbered alike");

bool
glen_extractor_find(const char *word, glen_extractor *out) {
  ex_method method;
  bool found = ex_method_find(word, &method);
  if (found)
    *out = (glen_extractor)method;
  return found;
}

/* ---- modes that options name ---- */

bool
api_find_method(glen_context *ctx, glen_extractor extractor, ex_method *out) {
  if ((unsigned)extractor > GLEN_EXTRACT_ILP)
    return bs_error(&ctx->diags, BS_NOWHERE, "unknown-extractor",
                    "there is no extractor with the number %u",
                    (unsigned)extractor);
  *out = (ex_method)extractor;
  if (ex_method_is_there(*out))
    return true;
  return bs_error(&ctx->diags, BS_NOWHERE, "missing-feature",
                  "the extractor %s needs CBC, which was not found; see "
                  "glen --version --verbose",
                  ex_method_name(*out));
}

const char *
api_printed_word(glen_printed what) {
  return (unsigned)what < sizeof printed / sizeof *printed ? printed[what]
                                                           : NULL;
}
