/* SPDX-License-Identifier: MIT */
/* byhand.h - loop programs written down in the text form of isl's relations,
 * for tests that need a program of an exact shape. */
#ifndef TESTS_POLY_BYHAND_H
#define TESTS_POLY_BYHAND_H

#include "poly/loops/affine.h"
#include "poly/schedule/primitive.h"
#include "fixture.h"
#include <stdarg.h>

static po_program *hand;

static inline void
start_program(void) {
  fixture_start();
  hand = po_new_program(&ctx, NULL, NULL, NULL);
}

static inline uint32_t
array(const char *name, po_role role, gs_dtype dtype, uint32_t rank, ...) {
  po_array a = {.name = name,
                .role = role,
                .dtype = dtype,
                .rank = rank,
                .term = GS_NO_TERM};
  va_list dims;
  va_start(dims, rank);
  for (uint32_t d = 0; d < rank; d++)
    a.dim[d] = va_arg(dims, int);
  va_end(dims);
  for (uint32_t k = 0; k < hand->arrays.len; k++)
    a.number += hand->arrays.data[k].role == role;
  bs_push(&heap, &hand->arrays, a);
  return hand->arrays.len - 1;
}

static inline uint32_t
array_of(const char *access) {
  const char *at = strstr(access, "->");
  at += 2 + strspn(at + 2, " ");
  size_t n = strcspn(at, "[");
  for (uint32_t k = 0; k < hand->arrays.len; k++)
    if (strlen(hand->arrays.data[k].name) == n &&
        !strncmp(hand->arrays.data[k].name, at, n))
      return k;
  cr_assert_fail("no array in %s", access);
  return 0;
}

static inline isl_pw_multi_aff *
access_of(const char *text) {
  return po_keep_pw_multi_aff(&hand->pool,
                              isl_pw_multi_aff_read_from_str(hand->isl, text));
}

/* A body: literal (reads NULL), or a read, or `op` of two reads. */
typedef struct body {
  gs_compute op;
  double literal;
  const char *reads[2];
} body;

/* Loops "i j k" around it, each found where the way down from the root has a
 * loop of that name as its last child, else added. */
static inline uint32_t
nest_of(const char *loops) {
  uint32_t at = 0;
  while (*loops) {
    char name[32] = "";
    size_t n = strcspn(loops, " ");
    memcpy(name, loops, n);
    loops += n + strspn(loops + n, " ");
    uint32_t last = hand->nest.nodes.data[at].last;
    bool there = last != PO_NO_NODE &&
                 hand->nest.nodes.data[last].kind == PO_LOOP &&
                 !strcmp(hand->nest.nodes.data[last].name, name);
    at = there ? last : po_nest_add_loop(hand, at, PO_NO_NODE, name);
  }
  return at;
}

static inline void
stmt(po_stmt_kind kind, gs_compute op, const char *domain, const char *write,
     body b, const char *loops) {
  po_stmt s = {.kind = kind, .op = op, .term = GS_NO_TERM};
  s.domain = po_keep_set(&hand->pool, isl_set_read_from_str(hand->isl, domain));
  cr_assert(s.domain, "%s", domain);
  s.name = isl_set_get_tuple_name(s.domain);
  s.n_iters = s.n_outer = (uint32_t)isl_set_dim(s.domain, isl_dim_set);
  static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  s.iters = names;
  s.array = array_of(write);
  s.write = access_of(write);
  gs_dtype dtype = hand->arrays.data[s.array].dtype;
  po_expr *e = BS_NEWS(&hand->arena, po_expr, 4);
  for (int k = 0; k < 2 && b.reads[k]; k++)
    e[s.n_exprs++] = (po_expr){.kind = PO_READ,
                               .dtype = dtype,
                               .array = array_of(b.reads[k]),
                               .index = access_of(b.reads[k])};
  if (s.n_exprs < 2 && (b.op || !s.n_exprs))
    e[s.n_exprs++] =
        (po_expr){.kind = PO_LITERAL, .dtype = dtype, .literal = b.literal};
  if (b.op)
    e[s.n_exprs++] = (po_expr){.kind = PO_BINARY,
                               .dtype = dtype,
                               .op = b.op,
                               .n_kids = 2,
                               .kids = {0, 1}};
  s.exprs = e;
  s.time = po_keep_multi_aff(
      &hand->pool,
      isl_multi_aff_set_tuple_id(po_identity(hand->isl, s.n_iters), isl_dim_in,
                                 isl_set_get_tuple_id(s.domain)));
  bs_push(&heap, &hand->stmts, s);
  po_nest_add_leaf(hand, nest_of(loops), PO_NO_NODE, hand->stmts.len - 1);
}

#define ASSIGN(domain, write, loops, ...)                                      \
  stmt(PO_ASSIGN, 0, domain, write, (body){__VA_ARGS__}, loops)
#define UPDATE(o, domain, write, loops, ...)                                   \
  stmt(PO_UPDATE, o, domain, write, (body){__VA_ARGS__}, loops)

/* Runs a script; what it printed. */
static inline bool
script(const char *text, bs_text *out) {
  uint32_t source = bs_source_add(&diags, "test.sched", text, strlen(text));
  bs_text_init(out, &heap);
  return po_run_script(&hand, source, out);
}

static inline const char *
scheduled(const char *text) {
  bs_text out;
  bool ok = script(text, &out);
  cr_assert(ok, "%s", faults());
  return bs_text_str(&out);
}

/* Bytes that a script which is refused keeps when it is run once more: not of
 * its text and of what it says, nor what a table that all share grows by. */
static inline size_t
kept_by_refused(const char *text) {
  size_t least = SIZE_MAX;
  for (int k = 0; k < 3; k++) {
    size_t before = heap.used;
    bs_heap told;
    bs_diags own;
    bs_text out;
    bs_heap_init(&told, NULL, 0);
    bs_diags_init(&own, &told);
    hand->ctx.diags = &own;
    uint32_t source = bs_source_add(&own, "test.sched", text, strlen(text));
    bs_text_init(&out, &heap);
    cr_assert_not(po_run_script(&hand, source, &out), "%s", text);
    bs_text_done(&out);
    hand->ctx.diags = &diags;
    bs_heap_done(&told);
    size_t more = heap.used - before;
    least = more < least ? more : least;
  }
  return least;
}

/* The message of a script that must be refused; the program is unchanged, and
 * nothing is kept. */
static inline const char *
refusal(const char *text) {
  bs_text out, before, after;
  bs_text_init(&before, &heap);
  bs_text_init(&after, &heap);
  po_print(hand, &before);
  bool ok = script(text, &out);
  cr_assert(!ok, "%s is not refused", text);
  po_print(hand, &after);
  cr_assert(strpbrk(text, ";\n") ||
                !strcmp(bs_text_str(&before), bs_text_str(&after)),
            "%s is refused but changes the program", text);
  if (!strpbrk(text, ";\n"))
    cr_expect_eq(kept_by_refused(text), 0, "%s keeps memory", text);
  return faults();
}

#define LOOPS(text)                                                            \
  do {                                                                         \
    const char *got_ = scheduled("print loops");                               \
    cr_assert_str_eq(got_, text, "got\n%s", got_);                             \
  } while (0)
#define REFUSED(text, message)                                                 \
  do {                                                                         \
    const char *got_ = refusal(text);                                          \
    cr_assert(strstr(got_, message), "got\n%s", got_);                         \
    bs_clear(&diags.list);                                                     \
    diags.errors = 0;                                                          \
  } while (0)

#endif
