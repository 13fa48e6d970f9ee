/* SPDX-License-Identifier: MIT */
/* api_sizes.c - loops whose sizes are known when they are called. */
#include "api/api.h"
#include "glenside/type/sizes.h"
#include "poly/loops/loops_sizes.h"
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
  bs_hint(&ctx->diags,
          "for example --size %s=%lld; in Python, sizes={\"%s\": %lld}",
          size->name, (long long)size->most, size->name, (long long)size->most);
  return false;
}

/* Of what is wrong with the options, whatever the program is. */
static bool
refuse_options(glen_context *ctx) {
  ctx->failure = GLEN_USAGE;
  return false;
}

static bool
is_new(glen_context *ctx, const api_numbers *list, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!strcmp(list[k].name, list[n].name))
      return bs_error(&ctx->diags, BS_NOWHERE, "bad-size",
                      "size %s is given twice: %lld and %lld", list[n].name,
                      (long long)list[k].values[0],
                      (long long)list[n].values[0]);
  return true;
}

static size_t
count_numbers(const char *text) {
  size_t n = 1;
  for (const char *c = text; *c; c++)
    n += *c == ',';
  return n;
}

/* Numbers with commas between them; NULL if it is something else. */
static const int64_t *
read_numbers(bs_arena *arena, const char *text, uint32_t *n) {
  int64_t *values = BS_NEWS(arena, int64_t, count_numbers(text));
  for (*n = 0;; text++) {
    char *end;
    values[(*n)++] = strtoll(text, &end, 10);
    if (end == text || (*end && *end != ','))
      return NULL;
    text = end;
    if (!*text)
      return values;
  }
}

static bool
too_many(glen_context *ctx, const char *text, uint32_t most) {
  return bs_error(&ctx->diags, BS_NOWHERE, "bad-size",
                  "%.*s has more than %u numbers", (int)strcspn(text, "="),
                  text, most);
}

static bool
read_size(glen_context *ctx, bs_arena *arena, const char *text, uint32_t most,
          api_numbers *out) {
  const char *equals = strchr(text, '=');
  if (equals && equals > text)
    out->values = read_numbers(arena, equals + 1, &out->n);
  if (out->values && most > 1 && out->n > most)
    return too_many(ctx, text, most);
  if (!out->values || out->n > most) {
    bs_error(&ctx->diags, BS_NOWHERE, "bad-size", "%s is not %s", text,
             most > 1 ? "NAME=NUMBER,..." : "NAME=NUMBER");
    bool named = strspn(text, "0123456789-=") == 0;
    bs_hint(&ctx->diags, "write the name of a size and a number: %.*s=64",
            named ? (int)strcspn(text, "=") : 1, named ? text : "n");
    return false;
  }
  out->name = bs_arena_printf(arena, "%.*s", (int)(equals - text), text);
  return true;
}

bool
api_read_numbers(glen_context *ctx, bs_arena *arena, const char *const *sizes,
                 uint32_t n, uint32_t most, api_numbers **out) {
  api_numbers *list = n ? BS_NEWS(arena, api_numbers, n) : NULL;
  for (uint32_t k = 0; k < n; k++) {
    list[k] = (api_numbers){0};
    if (!read_size(ctx, arena, sizes[k], most, &list[k]) ||
        !is_new(ctx, list, k))
      return refuse_options(ctx);
  }
  *out = list;
  return true;
}

bool
api_read_sizes(glen_context *ctx, bs_arena *arena, const char *const *sizes,
               uint32_t n, po_given_size **out) {
  api_numbers *read;
  if (!api_read_numbers(ctx, arena, sizes, n, 1, &read))
    return false;
  *out = n ? BS_NEWS(arena, po_given_size, n) : NULL;
  for (uint32_t k = 0; k < n; k++)
    (*out)[k] =
        (po_given_size){.name = read[k].name, .value = read[k].values[0]};
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
