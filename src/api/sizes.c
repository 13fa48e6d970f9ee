/* SPDX-License-Identifier: MIT */
/* sizes.c - loops whose sizes are known when they are called. */
#include "api/api.h"
#include "glenside/type/sizes.h"
#include "poly/loops/sizes.h"
#include <stdlib.h>
#include <string.h>

bool
api_knows_sizes(glen_context *ctx, const po_program *p, const char *what) {
  if (!po_has_sizes(p))
    return true;
  bs_error(&ctx->diags, BS_NOWHERE, "open-size",
           "%s needs a number for size %s", what, p->sizes.data[0].name);
  bs_hint(&ctx->diags, "for example --size %s=%lld", p->sizes.data[0].name,
          (long long)p->sizes.data[0].most);
  return false;
}

bool
api_has_numbers(glen_context *ctx, const gs_program *p, const char *what) {
  if (!p->sizes)
    return true;
  const gs_size *size = &p->sizes->list[0];
  bs_error(&ctx->diags, BS_NOWHERE, "open-size",
           "%s needs a number for size %s", what, size->name);
  bs_hint(&ctx->diags, "for example --size %s=%lld", size->name,
          (long long)size->most);
  return false;
}

static bool
is_new(glen_context *ctx, const po_given_size *list, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!strcmp(list[k].name, list[n].name))
      return bs_error(&ctx->diags, BS_NOWHERE, "bad-size",
                      "size %s is given twice: %lld and %lld", list[n].name,
                      (long long)list[k].value, (long long)list[n].value);
  return true;
}

/* NAME=NUMBER */
static bool
read_size(glen_context *ctx, bs_arena *arena, const char *text,
          po_given_size *out) {
  const char *equals = strchr(text, '=');
  char *end = NULL;
  out->value = equals && equals > text ? strtoll(equals + 1, &end, 10) : 0;
  if (!end || end == equals + 1 || *end)
    return bs_error(&ctx->diags, BS_NOWHERE, "bad-size",
                    "%s is not NAME=NUMBER", text);
  out->name = bs_arena_printf(arena, "%.*s", (int)(equals - text), text);
  return true;
}

bool
api_read_sizes(glen_context *ctx, bs_arena *arena, const char *const *sizes,
               uint32_t n, po_given_size **out) {
  po_given_size *list = n ? BS_NEWS(arena, po_given_size, n) : NULL;
  for (uint32_t k = 0; k < n; k++)
    if (!read_size(ctx, arena, sizes[k], &list[k]) || !is_new(ctx, list, k))
      return false;
  *out = list;
  return true;
}

const int64_t *
api_sizes_of(glen_context *ctx, const po_program *p, const glen_loops *at) {
  int64_t *numbers = BS_NEWS(&ctx->arena, int64_t, p->sizes.len + 1);
  for (uint32_t k = 0; k < p->sizes.len; k++) {
    uint32_t j = 0;
    while (j < at->n_sizes && strcmp(at->sizes[j].name, p->sizes.data[k].name))
      j++;
    if (j == at->n_sizes) {
      bs_error(&ctx->diags, BS_NOWHERE, "open-size",
               "a number for size %s is missing", p->sizes.data[k].name);
      return NULL;
    }
    numbers[k] = at->sizes[j].value;
  }
  return numbers;
}
