/* SPDX-License-Identifier: MIT */
/* program.c - random chains of stages over small arrays: element by element,
 * stencils, transposes, reductions, recurrences in place, triangles. */
#include "scripts.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
  char *at, *end;
  int n_stmts, n_loops;
} writer;

__attribute__((format(printf, 2, 3))) static void
put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->at, (size_t)(w->end - w->at), format, args);
  va_end(args);
  if (n > 0 && w->at + n < w->end)
    w->at += n;
}

enum { SIDE = 7 };

/* A number, or a size that is `least` at least, of which `minus` is taken. */
typedef struct extent {
  const char *size;
  int least, minus;
} extent;

typedef char extent_text[24];

static const char *
put_extent(extent_text out, const extent *e, int less) {
  int minus = e->minus + less;
  if (!e->size)
    snprintf(out, sizeof(extent_text), "%d", e->least - minus);
  else if (minus)
    snprintf(out, sizeof(extent_text), "%s - %d", e->size, minus);
  else
    snprintf(out, sizeof(extent_text), "%s", e->size);
  return out;
}

/* One stage from array `from`, of which n x m elements are set, to `to`. */
static void
put_stage(writer *w, const char *from, const char *to, extent *n, extent *m) {
  int kind = pick(0, 6), s = w->n_stmts;
  char i[8], j[8], k[8];
  extent_text rows, columns, last;
  snprintf(i, sizeof i, "i%d", w->n_loops);
  snprintf(j, sizeof j, "j%d", w->n_loops);
  snprintf(k, sizeof k, "k%d", w->n_loops++);
  int di = pick(0, 2), dj = pick(0, 2);
  if (kind == 1 &&
      (n->least - n->minus - di < 3 || m->least - m->minus - dj < 3))
    kind = 0;
  if (kind == 1) {
    n->minus += di;
    m->minus += dj;
  }
  if (kind == 2) {
    extent old = *n;
    *n = *m;
    *m = old;
  }
  put_extent(rows, n, 0);
  put_extent(columns, m, 0);
  put_extent(last, m, 1);
  put(w, "for %s in 0..%s {\n  for %s in 0..%s {\n", i, rows, j, columns);
  switch (kind) {
  case 0:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] * 3.0\n", s, to, i, j, from, i, j);
    break;
  case 1:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] + %s[%s + %d, %s + %d]\n", s, to,
        i, j, from, i, j, from, i, di, j, dj);
    break;
  case 2:
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] + 1.0\n", s, to, i, j, from, j, i);
    break;
  case 3:
    put(w, "    S%d: %s[%s, %s] = 0.0\n    for %s in 0..%s {\n", s, to, i, j, k,
        columns);
    put(w, "      S%d: %s[%s, %s] += %s[%s, %s] * %s[%s, %s]\n    }\n", s + 1,
        to, i, j, from, i, k, from, i, j);
    w->n_stmts++;
    break;
  case 4: /* in place, down the columns or along the rows */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s]\n  }\n}\n", s, to, i, j, from, i,
        j);
    put(w, "for a%s in 1..%s {\n  for a%s in 0..%s {\n", i, rows, j, columns);
    put(w, "    S%d: %s[a%s, a%s] = %s[a%s - 1, a%s] + %s[a%s, a%s]\n", s + 1,
        to, i, j, to, i, j, from, i, j);
    w->n_stmts++;
    break;
  case 5: /* the largest so far of a row, from the end */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s - %s]\n", s, to, i, j, from, i,
        last, j);
    put(w, "    for %s in 0..%s + 1 {\n", k, j);
    put(w, "      S%d: %s[%s, %s] max= %s[%s, %s]\n    }\n", s + 1, to, i, j,
        from, i, k);
    w->n_stmts++;
    break;
  default: /* two statements that share loops */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s] - 2.0\n", s, to, i, j, from, i, j);
    put(w, "    S%d: %s[%s, %s] += %s[%s, 0]\n", s + 1, to, i, j, from, i);
    w->n_stmts++;
  }
  w->n_stmts++;
  put(w, "  }\n}\n");
}

/* The last stage writes all of the output: of what nobody writes C and oracle
 * know different things. */
static void
put_program(writer *head, int stages, extent n, extent m, const char *side) {
  static char body[TEXT];
  writer w = {body, body + sizeof body, 0, 0};
  extent_text rows, columns;
  for (int k = 0; k < stages; k++) {
    char from[16], to[16];
    snprintf(from, sizeof from, "T%d", k);
    snprintf(to, sizeof to, "T%d", k + 1);
    put_stage(&w, from, to, &n, &m);
  }
  put(head, "input T0: i32[%s, %s]\noutput T%d: i32[%s, %s]\n", side, side,
      stages, put_extent(rows, &n, 0), put_extent(columns, &m, 0));
  for (int k = 1; k < stages; k++)
    put(head, "workspace T%d: i32[%s, %s]\n", k, side, side);
  put(head, "\n%s", body);
}

void
make_program(char *text, size_t size) {
  writer head = {text, text + size, 0, 0};
  extent_text side;
  snprintf(side, sizeof side, "%d", SIDE);
  int stages = pick(1, 3);
  extent n = {.least = pick(5, SIDE)};
  extent m = {.least = pick(4, SIDE)};
  put_program(&head, stages, n, m, side);
}

void
make_open_program(char *text, size_t size) {
  writer head = {text, text + size, 0, 0};
  extent n = {.size = "n", .least = pick(3, 5)}, m = {.size = "m", .least = 4};
  put(&head, "size n: %d to %d\nsize m: 4 to %d multiple 2\n", n.least,
      n.least + pick(1, 4), 2 * pick(3, 5));
  put_program(&head, pick(1, 3), n, m, "n + m");
}
