/* SPDX-License-Identifier: MIT */
/* lang.h - a context for each test, and programs from text. */
#ifndef TEST_LANG_H
#define TEST_LANG_H

#include "../context.h"
#include <stdio.h>

static const gs_target *target;

static void
open_context(const bs_hooks *hooks) {
  bs_heap_init(&heap, hooks, 0);
  context_start();
  target = NULL;
}

__attribute__((unused)) static void
start(void) {
  open_context(NULL);
}

__attribute__((unused)) static gs_program *
parse_n(const char *text, size_t n) {
  return gs_parse(&ctx, target, bs_source_add(&diags, "f", text, n));
}

__attribute__((unused)) static gs_program *
parse(const char *text) {
  return parse_n(text, strlen(text));
}

/* How many diagnostics have the code. */
__attribute__((unused)) static uint32_t
count_code(const char *code) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < diags.list.len; k++)
    n += diags.list.data[k].code && !strcmp(diags.list.data[k].code, code);
  return n;
}

__attribute__((unused)) static gs_program *
parse_well(const char *text) {
  gs_program *p = parse(text);
  cr_assert(p, "%s\n%s", text, faults());
  return p;
}

__attribute__((unused)) static const char *
printed(const gs_program *p, bool types) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_print(p, types, &out);
  return bs_text_str(&out);
}

__attribute__((unused)) static const char *
type_text(const gs_type *t) {
  bs_text out;
  bs_text_init(&out, &heap);
  gs_put_type(&out, t);
  return bs_text_str(&out);
}

__attribute__((unused)) static char *
read_whole(const char *path, size_t *size) {
  FILE *f = fopen(path, "rb");
  cr_assert(f, "cannot open %s", path);
  fseek(f, 0, SEEK_END);
  *size = (size_t)ftell(f);
  rewind(f);
  char *text = bs_alloc(&heap, *size + 1);
  cr_assert_eq(fread(text, 1, *size, f), *size);
  text[*size] = '\0';
  fclose(f);
  return text;
}

/* A generator that is the same everywhere (splitmix64). */
__attribute__((unused)) static uint64_t
next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

__attribute__((unused)) static int64_t
random_below(uint64_t *state, int64_t n) {
  return (int64_t)(next_random(state) % (uint64_t)n);
}

#endif
