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

/* One stage from array `from`, of which n x m elements are set, to `to`. */
static void
put_stage(writer *w, const char *from, const char *to, int *n, int *m) {
  int kind = pick(0, 6), s = w->n_stmts;
  char i[8], j[8], k[8];
  snprintf(i, sizeof i, "i%d", w->n_loops);
  snprintf(j, sizeof j, "j%d", w->n_loops);
  snprintf(k, sizeof k, "k%d", w->n_loops++);
  int di = pick(0, 2), dj = pick(0, 2);
  if (kind == 1 && (*n - di < 3 || *m - dj < 3))
    kind = 0;
  if (kind == 1) {
    *n -= di;
    *m -= dj;
  }
  if (kind == 2) {
    int old = *n;
    *n = *m;
    *m = old;
  }
  put(w, "for %s in 0..%d {\n  for %s in 0..%d {\n", i, *n, j, *m);
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
    put(w, "    S%d: %s[%s, %s] = 0.0\n    for %s in 0..%d {\n", s, to, i, j, k,
        *m);
    put(w, "      S%d: %s[%s, %s] += %s[%s, %s] * %s[%s, %s]\n    }\n", s + 1,
        to, i, j, from, i, k, from, i, j);
    w->n_stmts++;
    break;
  case 4: /* in place, down the columns or along the rows */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %s]\n  }\n}\n", s, to, i, j, from, i,
        j);
    put(w, "for a%s in 1..%d {\n  for a%s in 0..%d {\n", i, *n, j, *m);
    put(w, "    S%d: %s[a%s, a%s] = %s[a%s - 1, a%s] + %s[a%s, a%s]\n", s + 1,
        to, i, j, to, i, j, from, i, j);
    w->n_stmts++;
    break;
  case 5: /* the largest so far of a row, from the end */
    put(w, "    S%d: %s[%s, %s] = %s[%s, %d - %s]\n", s, to, i, j, from, i,
        *m - 1, j);
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
void
make_program(char *text, size_t size) {
  static char body[TEXT];
  writer w = {body, body + sizeof body, 0, 0}, head = {text, text + size, 0, 0};
  int stages = pick(1, 3), n = pick(5, SIDE), m = pick(4, SIDE);
  for (int k = 0; k < stages; k++) {
    char from[16], to[16];
    snprintf(from, sizeof from, "T%d", k);
    snprintf(to, sizeof to, "T%d", k + 1);
    put_stage(&w, from, to, &n, &m);
  }
  put(&head, "input T0: i32[%d, %d]\noutput T%d: i32[%d, %d]\n", SIDE, SIDE,
      stages, n, m);
  for (int k = 1; k < stages; k++)
    put(&head, "workspace T%d: i32[%d, %d]\n", k, SIDE, SIDE);
  put(&head, "\n%s", body);
}
