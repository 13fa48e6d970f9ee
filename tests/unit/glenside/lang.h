/* lang.h - a context for each test, and programs from text. */
#ifndef TEST_LANG_H
#define TEST_LANG_H

#include "glenside/program.h"
#include "glenside/target.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static bs_heap heap;
static bs_arena arena;
static bs_diags diags;
static gs_context ctx;
static const gs_target *target;

static void
open_context(const bs_hooks *hooks) {
  bs_heap_init(&heap, hooks, 0);
  bs_arena_init(&arena, &heap);
  bs_diags_init(&diags, &heap);
  ctx = (gs_context){&heap, &arena, bs_values_new(&heap), &diags};
  target = NULL;
}

__attribute__((unused)) static void
start(void) {
  open_context(NULL);
}

__attribute__((unused)) static void
stop(void) {
  bs_heap_done(&heap);
  cr_assert_eq(heap.used, 0);
}

__attribute__((unused)) static gs_program *
parse_n(const char *text, size_t n) {
  return gs_parse(&ctx, target, bs_source_add(&diags, "f", text, n));
}

__attribute__((unused)) static gs_program *
parse(const char *text) {
  return parse_n(text, strlen(text));
}

/* All diagnostics, without colour. */
__attribute__((unused)) static const char *
rendered(void) {
  bs_text out;
  bs_text_init(&out, &heap);
  for (uint32_t k = 0; k < diags.list.len; k++)
    bs_render(&diags, &diags.list.data[k], false, &out);
  return bs_text_str(&out);
}

__attribute__((unused)) static gs_program *
parse_well(const char *text) {
  gs_program *p = parse(text);
  cr_assert(p, "%s\n%s", text, rendered());
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
