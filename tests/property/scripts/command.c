/* SPDX-License-Identifier: MIT */
/* command.c - random commands, most of which make some sense for the program.
 */
#include "scripts.h"
#include <stdio.h>
#include <string.h>

static const char *
some_loop(const po_program *p) {
  const char *all[256];
  int n = 0;
  for (uint32_t k = 1; k < p->nest.nodes.len && n < 256; k++)
    if (p->nest.nodes.data[k].kind == PO_LOOP)
      all[n++] = p->nest.nodes.data[k].name;
  return n ? all[pick(0, n - 1)] : "none";
}

/* A loop around the same statement as another one, more often than not. */
static const char *
near_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop), loops[PO_MAX_DEPTH];
  if (node == PO_NO_NODE || !pick(0, 4))
    return some_loop(p);
  while (p->nest.nodes.data[node].kind == PO_LOOP &&
         p->nest.nodes.data[node].first != PO_NO_NODE)
    node = p->nest.nodes.data[node].first;
  uint32_t n = po_nest_loops(p, node, loops);
  return n ? p->nest.nodes.data[loops[pick(0, (int)n - 1)]].name : "none";
}

static const char *
inner_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop);
  uint32_t kid = node == PO_NO_NODE ? node : p->nest.nodes.data[node].first;
  return kid != PO_NO_NODE && p->nest.nodes.data[kid].kind == PO_LOOP
             ? p->nest.nodes.data[kid].name
             : some_loop(p);
}

static const char *
some_stmt(const po_program *p) {
  return p->stmts.data[pick(0, (int)p->stmts.len - 1)].name;
}

static const char *
some_array(const po_program *p) {
  return p->arrays.data[pick(0, (int)p->arrays.len - 1)].name;
}

/* The loop that stands next to this one. */
static const char *
next_loop(const po_program *p, const char *loop) {
  uint32_t node = po_nest_find(p, loop);
  uint32_t next = node == PO_NO_NODE ? node : p->nest.nodes.data[node].next;
  return next != PO_NO_NODE && p->nest.nodes.data[next].kind == PO_LOOP
             ? p->nest.nodes.data[next].name
             : some_loop(p);
}

/* A statement that makes an array with folds, such as a cache in a loop, the
 * array, and a loop around them; others where there are none. */
static void
pick_folded(const po_program *p, const char **stmt, const char **array,
            const char **loop) {
  for (uint32_t k = 0; k < p->stmts.len; k++) {
    const po_stmt *s = &p->stmts.data[k];
    const po_array *a = &p->arrays.data[s->array];
    uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
    if (a->role != PO_LOCAL || !n || !pick(0, 2))
      continue;
    *stmt = s->name;
    *array = a->name;
    *loop = p->nest.nodes.data[loops[pick(0, (int)n - 1)]].name;
  }
}

/* A factor for each index of some statement. */
static void
put_padding(const po_program *p, char *out, size_t size) {
  const po_stmt *s = &p->stmts.data[pick(0, (int)p->stmts.len - 1)];
  int n = snprintf(out, size, "pad_einsum %s [", s->name);
  for (uint32_t k = 0; k < s->n_iters && n > 0 && (size_t)n < size; k++)
    n += snprintf(out + n, size - (size_t)n, "%s%d", k ? ", " : "", pick(1, 4));
  if (n > 0 && (size_t)n < size)
    snprintf(out + n, size - (size_t)n, "]");
}

void
make_command(const po_program *p, char *out, size_t size) {
  static const char *const scopes[] = {"local", "global", "shared"};
  const char *a = some_loop(p), *b = near_loop(p, a), *c = near_loop(p, a);
  const char *s = some_stmt(p), *x = some_array(p), *scope = scopes[pick(0, 2)];
  int f = pick(1, 5);
  switch (pick(0, 30)) {
  case 0:
  case 1:
    snprintf(out, size, "split %s [-1, %d]", a, f);
    break;
  case 2:
    snprintf(out, size, "split %s [%d, -1, %d]", a, pick(1, 3), pick(1, 3));
    break;
  case 3:
    snprintf(out, size, "fuse [%s, %s]", a, inner_loop(p, a));
    break;
  case 4:
    snprintf(out, size, "reorder [%s, %s]", a, b);
    break;
  case 5:
    snprintf(out, size, "reorder [%s, %s, %s]", a, b, c);
    break;
  case 6:
    snprintf(out, size, "tile [%s, %s] [%d, %d]", a, b, f, pick(1, 4));
    break;
  case 7:
    snprintf(out, size, "fission %s %s", a, pick(0, 1) ? b : s);
    break;
  case 8:
    f = pick(0, 6);
    if (f < 3)
      snprintf(out, size, "%s %s %s", f ? "merge" : "compute_with", a,
               next_loop(p, a));
    else if (f < 5)
      snprintf(out, size, "interleave [%s, %s] %d [%d, %d]", a, next_loop(p, a),
               pick(1, 8), pick(0, 2), pick(0, 8));
    else
      snprintf(out, size, "put_after %s %s", pick(0, 1) ? s : a,
               pick(0, 1) ? b : some_stmt(p));
    break;
  case 9:
    snprintf(out, size, "simple_compute_at %s %s", s, a);
    break;
  case 10:
    if (pick(0, 1))
      snprintf(out, size, "shift %s %s %d", s, a, pick(-2, 2));
    else
      snprintf(out, size, "skew %s %s %d", b, a, pick(-2, 2));
    break;
  case 11:
    snprintf(out, size, "peel %s %d", a, pick(-3, 3));
    break;
  case 12:
    if (pick(0, 1))
      snprintf(out, size, "partition %s [%d, %d]", a, pick(1, 3), pick(3, 6));
    else
      snprintf(out, size, "specialise %s \"%s mod %d = %d\"", b, a, pick(2, 3),
               pick(0, 1));
    break;
  case 13:
    snprintf(out, size, "compute_inline %s", pick(0, 1) ? s : x);
    break;
  case 14:
    if (pick(0, 1))
      snprintf(out, size, "reverse_compute_inline %s", s);
    else
      snprintf(out, size, "%s %s", pick(0, 1) ? "divide" : "trim", x);
    break;
  case 15:
  case 16:
    snprintf(out, size, "compute_at %s %s", pick(0, 1) ? s : x, a);
    break;
  case 17:
    snprintf(out, size, "reverse_compute_at %s %s", s, a);
    break;
  case 18:
    snprintf(out, size, "cache_read %s %s %s at %s", s, x, scope, a);
    break;
  case 19:
    snprintf(out, size, "cache_read %s %s %s", s, x, scope);
    break;
  case 20:
    snprintf(out, size, "cache_write %s %s%s%s", pick(0, 1) ? s : x, scope,
             pick(0, 1) ? " at " : "", "");
    if (strstr(out, " at "))
      snprintf(out + strlen(out), size - strlen(out), "%s", a);
    break;
  case 21:
    if (pick(0, 2))
      snprintf(out, size, "rfactor %s %d", a, pick(0, 2));
    else
      snprintf(out, size, "privatise %s %d", a, pick(2, 4));
    break;
  case 22:
    if (pick(0, 1)) {
      snprintf(out, size, "decompose_reduction %s %s", s, a);
      break;
    }
    pick_folded(p, &s, &x, &a);
    snprintf(out, size, "pipeline %s %s", s, a);
    break;
  case 23:
    if (pick(0, 1))
      snprintf(out, size, "vectorize %s %d", a, 1 << pick(0, 3));
    else
      snprintf(out, size, "%s %s",
               pick(0, 2) ? (pick(0, 1) ? "parallel" : "serial") : "unroll", a);
    break;
  case 24:
    put_padding(p, out, size);
    break;
  case 25:
    snprintf(
        out, size,
        "pack %s %s \"[i, j] -> [floor(j / %d), i, j mod %d]\" local at %s", s,
        x, f, f, a);
    break;
  case 26:
    pick_folded(p, &s, &x, &a);
    if (pick(0, 1))
      snprintf(out, size, "double_buffer %s %s %d", x, a, pick(2, 3));
    else
      snprintf(out, size, "set_buffer %s %s", x, scope);
    break;
  case 27:
  case 28:
    snprintf(out, size, "roll %s %s%s", pick(0, 1) ? s : x, a,
             pick(0, 2) ? "" : " fill=first");
    break;
  case 29:
    pick_folded(p, &s, &x, &a);
    if (pick(0, 1))
      snprintf(out, size, "fold_storage %s %d", x, pick(-2, 2));
    else
      snprintf(out, size, "fold_storage %s %d %d", x, pick(-2, 2), f);
    break;
  default:
    if (pick(0, 1))
      snprintf(out, size,
               "transform_layout %s \"[i, j] -> [floor(j / %d), i, j mod %d]\"",
               x, f, f);
    else
      snprintf(out, size, "storage_align %s %d %d %d", x, pick(0, 2), f,
               pick(0, f - 1));
  }
}
