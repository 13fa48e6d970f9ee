/* SPDX-License-Identifier: MIT */
/* hard.c - loop programs in which much depends on order: several reductions
 * of one array, reads between updates, folds, in place, quotients, look-ups,
 * windows, locals, padding, calls. */
#include "scripts.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct writer {
  char *at, *end;
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

static const char *
some(const char *const *list, int n) {
  return list[pick(0, n - 1)];
}

static const char *
some_update(void) {
  static const char *const all[] = {"+=", "+=", "-=", "max=", "min=", "*="};
  return some(all, 6);
}

/* i32 mostly, and floats that hold small integers. */
static const char *
some_dtype(void) {
  return pick(0, 4) ? "i32" : "f32";
}

/* Reads of what an update of the same loop changes, before or after it. */
static void
put_anti(writer *w) {
  int n = pick(4, 7), ahead = pick(0, 1), back = pick(0, 1);
  const char *d = some_dtype();
  put(w, "input a: %s[%d]\nworkspace x: %s[%d]\noutput y: %s[%d]\n", d, n, d,
      n + 1, d, n);
  put(w, "output z: %s[%d]\nfor h in 0..%d {\n  I: x[h] = a[h %% %d]\n}\n", d,
      n, n + 1, n);
  put(w, "for i in 0..%d {\n", n);
  if (back)
    put(w, "  U: x[i + %d] %s a[i]\n  T: y[i] = x[i]\n}\n", ahead,
        some_update());
  else
    put(w, "  T: y[i] = x[i + %d]\n  U: x[i] %s a[i]\n}\n", ahead,
        some_update());
  put(w, "for j in 0..%d {\n  Z: z[j] = x[j]\n}\n", n);
}

/* Two reductions of an array, with or without a reader between them. */
static void
put_two_updates(writer *w) {
  int n = pick(3, 6), m = pick(2, 4), between = pick(0, 2);
  put(w, "input a: i32[%d]\ninput b: i32[%d]\noutput s: i32[%d]\n", n, n, m);
  if (between)
    put(w, "output t: i32[%d, %d]\n", n, m);
  put(w, "for h in 0..%d {\n  I: s[h] = %d\n}\n", m, pick(0, 1));
  put(w, "for k in 0..%d {\n  for i in 0..%d {\n", n, m);
  put(w, "    U: s[i] %s a[k]\n", some_update());
  if (between == 1)
    put(w, "    R: t[k, i] = s[i]\n");
  put(w, "    V: s[i] %s b[k]%s\n", some_update(),
      pick(0, 1) ? "" : " where k >= 1");
  if (between == 2)
    put(w, "    R: t[k, i] = s[i] + a[k]\n");
  put(w, "  }\n}\n");
}

/* Rows of a local in few places. */
static void
put_rows(writer *w) {
  int n = pick(3, 5), m = pick(3, 5), fold = pick(1, 3), back = fold > 1;
  put(w, "input A: i32[%d, %d]\noutput B: i32[%d, %d]\n", n, m, n, m);
  put(w, "local row: i32[%d fold %d, %d]\n", n, fold, m);
  put(w, "for i in 0..%d {\n  for j in 0..%d {\n", n, m);
  put(w, "    S: row[i, j] = A[i, j] * 2\n  }\n  for k in 0..%d {\n", m);
  put(w, "    T: B[i, k] = row[i, k] + row[i, -k + %d]\n", m - 1);
  if (back && pick(0, 1))
    put(w, "    V: B[i, k] += row[i - 1, k] where i >= 1\n");
  put(w, "  }\n}\n");
}

/* Quotients and remainders in places, and turns in time. */
static void
put_quotients(writer *w) {
  int n = pick(2, 4), q = pick(2, 3), off = pick(0, 1);
  put(w, "input A: i32[%d]\noutput B: i32[%d]\nworkspace t: i32[%d, %d]\n",
      n * q, n * q, q, n);
  put(w, "for i in 0..%d {\n  S: t[i %% %d, i / %d] = A[i]\n}\n", n * q, q, q);
  put(w, "for s in 0..%d {\n  for j in 0..%d {\n", pick(1, 4), n);
  put(w, "    T: t[(s + 1) %% %d, j] = t[s %% %d, %s] + %d\n  }\n}\n", q, q,
      pick(0, 1) ? "j" : "0", off);
  put(w, "for k in 0..%d {\n  W: B[k] = t[(k + %d) %% %d, k / %d]\n}\n", n * q,
      off, q, q);
}

/* Look-ups in what is computed, and perhaps computed again. */
static void
put_look_ups(writer *w) {
  int n = pick(4, 7), again = pick(0, 1);
  put(w, "input a: i32[%d]\ninput x: i32[%d]\noutput y: i32[%d]\n", n, n, n);
  put(w, "output z: i32[%d]\nworkspace v: i32[%d]\n", n, n);
  put(w, "for h in 0..%d {\n  I: v[h] = a[h] * 2\n}\n", n);
  put(w, "for i in 0..%d {\n  G: y[i] = gather(v[0], 1, %d, x[i])\n", n, n);
  if (again)
    put(w, "  U: v[i] %s a[i]\n", some_update());
  put(w, "}\nfor j in 0..%d {\n  Z: z[j] = y[j] + v[j]\n}\n", n);
}

/* Sums, products, extrema over windows, strided or not. */
static void
put_windows(writer *w) {
  int n = pick(3, 6), r = pick(2, 3), s = pick(1, 2), weights = pick(0, 1);
  put(w, "input A: i32[%d]\ninput f: i32[%d]\noutput B: i32[%d]\n",
      s * (n - 1) + r, r, n);
  put(w, "workspace c: i32[%d]\n", s * (n - 1) + r);
  put(w, "for x in 0..%d {\n  P: c[x] = A[x] + 1\n}\n", s * (n - 1) + r);
  put(w, "for i in 0..%d {\n  I: B[i] = %d\n  for k in 0..%d {\n", n,
      pick(0, 1), r);
  put(w, "    U: B[i] %s c[%d * i + k]%s\n  }\n", some_update(), s,
      weights ? " * f[k]" : "");
  if (pick(0, 1))
    put(w, "  F: B[i] = max(B[i], 0)\n");
  put(w, "}\n");
}

/* A reduction of several arrays, with a start, and a local's way out. */
static void
put_sums(writer *w) {
  static const char *const bodies[] = {
      "A[i, j]",        "A[i, j] + C[i]",       "A[i, j] * C[i]",
      "A[i, j] * C[j]", "A[i, j] + A[i, j]",    "max(A[i, j], C[j])",
      "A[i, j] * 2",    "A[i, j] * C[i] + C[j]"};
  static const char *const starts[] = {"0", "C[i]", "10 / D[i]"};
  static const char *const ends[] = {"acc[i]", "10 / D[i] + acc[i]",
                                     "acc[i] + C[i]",
                                     "gather(C[0], 1, 3, acc[i])"};
  int n = pick(3, 5), local = pick(0, 1);
  const char *to = local ? "acc" : "B";
  put(w, "input A: i32[%d, %d]\ninput C: i32[%d]\ninput D: i32[%d]\n", n, n, n,
      n);
  put(w, "output B: i32[%d]\n", n);
  if (local)
    put(w, "local acc: i32[%d%s]\n", n, pick(0, 1) ? " fold 1" : "");
  put(w, "for i in 0..%d {\n  I: %s[i] = %s\n", n, to, some(starts, 3));
  put(w, "  for j in 0..%d {\n    U: %s[i] %s %s\n  }\n", n, to, some_update(),
      some(bodies, 8));
  if (local)
    put(w, "  W: B[i] = %s\n", some(ends, 4));
  put(w, "}\n");
}

/* Values that are overwritten, read before and after. */
static void
put_overwritten(writer *w) {
  int n = pick(4, 6);
  put(w, "input A: i32[%d]\noutput B: i32[%d]\noutput C: i32[%d]\n", n, n, n);
  put(w, "workspace T: i32[%d]\n", n);
  put(w, "for i in 0..%d {\n  S: T[i] = A[i]\n  R: B[i] = T[%s]%s\n", n,
      pick(0, 1) ? "i" : "0", pick(0, 1) ? "" : " + 1");
  put(w, "  V: T[i] = %s%s\n}\n", pick(0, 1) ? "T[i] * 2" : "A[0]",
      pick(0, 1) ? "" : " where i >= 2");
  put(w, "for j in 0..%d {\n  X: C[j] = %s[j] + B[j]\n}\n", n,
      pick(0, 1) ? "T" : "A");
}

/* What is kept with few bits is rounded there. */
static void
put_rounded(writer *w) {
  int n = pick(4, 8);
  const char *d = pick(0, 1) ? "bf16" : "i8";
  put(w, "input x: %s[%d]\nworkspace s: %s[%d]\noutput y: %s[%d]\n", d, n, d, n,
      d[0] == 'b' ? "f32" : "i32", n);
  put(w, "for i in 0..%d {\n  S: s[i] = x[i] %s x[i]\n}\n", n,
      pick(0, 1) ? "*" : "+");
  put(w, "for j in 0..%d {\n  T: y[j] = s[j]%s\n}\n", n,
      pick(0, 1) ? "" : " + 1");
}

/* In place, step by step; borders are statements of their own. */
static void
put_steps(writer *w) {
  int n = pick(4, 6), t = pick(1, 3), far = pick(0, 2);
  put(w, "input A: i32[%d]\noutput B: i32[%d]\n", n, n);
  put(w, "for h in 0..%d {\n  I: B[h] = A[h]\n}\n", n);
  put(w, "for t in 0..%d {\n  for i in 1..%d {\n", t, n - 1);
  put(w, "    S: B[i] = B[i - 1] + %sB[i%s]\n  }\n", far ? "" : "2 * ",
      far == 1 ? " + 1" : "");
  put(w, "  E: B[0] += B[%d]\n}\n", n - 1);
}

/* A sweep over time, of one array in place or of two by turns, in one direction
 * or two, with borders that are statements of their own. */
static void
put_sweep(writer *w) {
  int n = pick(4, 6), m = pick(0, 1) ? pick(3, 4) : 0, t = pick(2, 4);
  int turns = pick(0, 1), back = pick(-1, 1), ahead = pick(-1, 1);
  const char *to = turns ? "b" : "a";
  char row[16] = "", at[16] = "";
  if (m) {
    snprintf(row, sizeof row, ", %d", m);
    snprintf(at, sizeof at, ", j");
  }
  put(w, "input x: i32[%d%s]\noutput a: i32[%d%s]\n", n, row, n, row);
  put(w, "workspace b: i32[%d%s]\n", n, row);
  put(w, "for h in 0..%d {%s\n  I: a[h%s] = x[h%s]\n", n,
      m ? " for g in 0..1 {" : "", m ? ", g" : "", m ? ", g" : "");
  put(w, "  J: b[h%s] = x[h%s]\n}%s\n", m ? ", g" : "", m ? ", g" : "",
      m ? "}" : "");
  if (m)
    put(w,
        "for h1 in 0..%d { for g1 in 1..%d {\n  L: a[h1, g1] = x[h1, g1]\n"
        "  M: b[h1, g1] = 1\n} }\n",
        n, m);
  put(w, "for t in 0..%d {\n", t);
  if (pick(0, 1))
    put(w, "  E: a[0%s] = a[1%s]\n", m ? ", 0" : "", m ? ", 1" : "");
  put(w, "  for i in 1..%d {%s\n", n - 1, m ? " for j in 1..3 {" : "");
  put(w, "    S: %s[i%s] = a[i + %d%s] + a[i + %d%s]%s\n  }%s\n", to, at, back,
      m ? ", j - 1" : "", ahead, at, m ? " - a[i, j]" : "", m ? " }" : "");
  if (turns)
    put(w, "  for k in 1..%d {%s\n    T: a[k%s] = b[k - 1%s] + b[k%s]\n  }%s\n",
        n - 1, m ? " for j1 in 1..3 {" : "", m ? ", j1" : "", m ? ", j1" : "",
        m ? ", j1 - 1" : "", m ? " }" : "");
  put(w, "}\n");
}

/* What several results read of one array, in parts that meet or do not; it is a
 * sum in a local, or not. */
static void
put_shared(writer *w) {
  int n = pick(6, 9), local = pick(0, 1), third = pick(0, 1);
  int from[3], far = pick(0, 2);
  for (int k = 0; k < 3; k++)
    from[k] = pick(0, n - 3);
  put(w, "input A: i32[%d, 2]\noutput C: i32[2]\noutput D: i32[2]\n", n);
  put(w, "output E: i32[2]\nworkspace B: i32[%d]\n", n);
  if (local)
    put(w, "local s: i32[%d fold 1]\n", n);
  put(w, "for x in 0..%d {\n  I: %s[x] = A[x, 0]\n", n, local ? "s" : "B");
  put(w, "  for y in 0..2 {\n    U: %s[x] %s A[x, y]\n  }\n", local ? "s" : "B",
      some_update());
  if (local)
    put(w, "  F: B[x] = s[x] * 2\n");
  put(w, "}\nfor i in 0..2 {\n  P: C[i] = B[i + %d] + B[%d]\n}\n", from[0],
      from[0] + far);
  put(w, "for j in 0..2 {\n  Q: D[j] = B[%d - j]\n}\n", from[1] + 1);
  put(w, "for k in 0..2 {\n  R: E[k] = %s[k + %d]\n}\n", third ? "B" : "D",
      third ? from[2] : 0);
}

/* Triangles, and statements with indices of their own. */
static void
put_triangle(writer *w) {
  int n = pick(3, 6), f = pick(2, 3);
  put(w, "input A: i32[%d, %d]\noutput B: i32[%d, %d]\noutput C: i32[%d]\n", n,
      n, n, n, n);
  put(w, "for i in 0..%d {\n  for j in 0..i {\n", n);
  put(w, "    S: B[i, j] = A[j, i] - A[i, j]\n  }\n  T: B[i, i] = 1\n");
  put(w, "  for k in i + 1..%d {\n    U: B[i, k] = %s\n  }\n}\n", n,
      pick(0, 1) ? "A[k, i]" : "B[i, i]");
  put(w, "for a in 0..%d {\n  for b in 0..%d {\n", (n + f - 1) / f, f);
  put(w, "    V[x]: C[x] = B[x, 0] where 0 <= x < %d at x / %d, x %% %d\n", n,
      f, f);
  put(w, "  }\n}\n");
}

/* Loops about as long as blocks and threads of a GPU may be many. */
static void
put_wide(writer *w) {
  static const int sizes[] = {2, 31, 32, 33, 64, 65, 1024, 1025};
  int n = sizes[pick(0, 7)], m = n > 100 ? 2 : n > 40 ? 16 : sizes[pick(0, 3)];
  int l = n * m < 100 ? pick(1, 17) : 1;
  put(w, "input A: i32[%d, %d, %d]\noutput B: i32[%d, %d, %d]\n", n, m, l, n, m,
      l);
  put(w, "for i in 0..%d {\n  %sfor j in 0..%d {\n    for k in 0..%d {\n", n,
      pick(0, 1) ? "bind(threadIdx.x) " : "", m, l);
  put(w, "      S: B[i, j, k] = A[i, j, k] + 1\n    }\n  }\n}\n");
}

/* Threads of a block that are not alike, with something to wait for. */
static void
put_teams(writer *w) {
  int n = pick(3, 6), m = n - pick(0, 1);
  put(w, "input A: i32[3, %d]\noutput B: i32[3, %d]\n", n, n);
  put(w, "workspace s: i32[3, %d]\nbind(blockIdx.x) for b in 0..3 {\n", n);
  put(w, "  bind(threadIdx.x) for i in 0..%d {\n", m);
  put(w, "    for r in 0..%s {\n", pick(0, 1) ? "2" : "i + 1");
  put(w, "      S: s[b, i] = A[b, i] + A[0, r]\n    }\n  }\n");
  if (m < n)
    put(w, "  E: s[b, %d] = 0\n", m);
  put(w, "  bind(threadIdx.x) for j in 0..%d {\n", n);
  put(w, "    T: B[b, j] = s[b, j] * 2\n  }\n}\n");
}

/* Products of whole blocks by an instruction, into one array. */
static void
put_calls(writer *w) {
  int n = pick(1, 3);
  put(w, "input A: f32[%d, 4]\ninput B: f32[4, 4]\noutput D: f32[%d, 4]\n",
      4 * n, 4 * n);
  put(w, "workspace C: f32[%d, 4]\nworkspace P: f32[4, 4]\n", 4 * n);
  put(w,
      "for a in 0..4 {\n  for b in 0..4 {\n    K: P[a, b] = B[b, a]\n  }\n}\n");
  put(w,
      "for i in 0..%d {\n  M[i]: C[4 * i, 0] over [4 by 4, 4 by 1] = call "
      "mma{4, 4, _, _, 4}(A[4 * i, 0] over [4 by 4, 4 by 1], P + 0 [4 by 4, 4 "
      "by "
      "1]) where 0 <= i < %d at i\n}\n",
      n, n);
  put(w,
      "for x in 0..%d {\n  for y in 0..4 {\n    W: D[x, y] = C[x, y] + 1\n  "
      "}\n}\n",
      4 * n);
}

/* A product that an instruction makes, or part of one. */
static void
put_products(writer *w) {
  int n = 4 * pick(1, 2);
  put(w, "input A: f32[%d, 4]\ninput B: f32[4, 4]\noutput C: f32[%d, 4]\n", n,
      n);
  put(w, "workspace T: f32[%d, 4]\n", n);
  put(w, "for i in 0..%d {\n  for j in 0..4 {\n    I: T[i, j] = 0\n", n);
  put(w, "    for k in 0..4 {\n      U: T[i, j] += A[i, k] * B[k, j]\n    }\n");
  put(w, "  }\n}\nfor x in 0..%d {\n  for y in 0..4 {\n", n);
  put(w, "    W: C[x, y] = max(T[x, y], 0)\n  }\n}\n");
}

void
make_hard_program(char *text, size_t size) {
  static void (*const all[])(writer *) = {
      put_anti,        put_two_updates, put_rows,        put_quotients,
      put_look_ups,    put_windows,     put_sums,        put_sums,
      put_overwritten, put_rounded,     put_rounded,     put_steps,
      put_triangle,    put_anti,        put_two_updates, put_teams,
      put_calls,       put_products,    put_sums,        put_sweep,
      put_shared};
  writer w = {text, text + size};
  int k = pick(0, 24);
  if (k == 24)
    put_wide(&w);
  else if (k >= 21)
    make_program(text, size);
  else
    all[k](&w);
}
