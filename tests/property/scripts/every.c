/* SPDX-License-Identifier: MIT */
/* every.c - commands of every primitive, at every place; see scripts.h. */
#include "poly/schedule/primitive.h"
#include "scripts.h"
#include <stdio.h>
#include <string.h>

static const po_program *p;

static const po_nest_node *
node(uint32_t k) {
  return &p->nest.nodes.data[k];
}

/* Any loop; of bad luck the name of none. */
static const char *
a_loop(void) {
  const char *all[256];
  int n = 0;
  for (uint32_t k = 1; k < p->nest.nodes.len && n < 256; k++)
    if (node(k)->kind == PO_LOOP)
      all[n++] = node(k)->name;
  return n ? all[pick(0, n - 1)] : "none";
}

static const po_stmt *
a_stmt(void) {
  return &p->stmts.data[pick(0, (int)p->stmts.len - 1)];
}

/* One that is computed and neither given nor given back, more often than not:
 * of these more may be changed. */
static const char *
an_array(void) {
  const po_array *a = p->arrays.data;
  for (int tries = 0; tries < 6; tries++) {
    a = &p->arrays.data[pick(0, (int)p->arrays.len - 1)];
    if (a->role == PO_WORKSPACE || a->role == PO_LOCAL)
      break;
  }
  return a->name;
}

/* One that updates, more often than not. */
static const po_stmt *
an_update(void) {
  const po_stmt *s = a_stmt();
  for (int tries = 0; tries < 6 && s->kind != PO_UPDATE; tries++)
    s = a_stmt();
  return s;
}

/* The innermost loop around an update; any where there is none. */
static const char *
a_reduced_loop(void) {
  for (int tries = 0; tries < 8; tries++) {
    const po_stmt *s = an_update();
    uint32_t loops[PO_MAX_DEPTH], n = po_nest_loops(p, s->leaf, loops);
    if (s->kind == PO_UPDATE && n)
      return node(loops[n - 1])->name;
  }
  return a_loop();
}

/* One that makes what another one reads, more often than not. */
static const po_stmt *
a_maker(void) {
  const po_stmt *s = a_stmt();
  for (int tries = 0; tries < 6; tries++, s = a_stmt())
    if (p->arrays.data[s->array].role != PO_OUTPUT)
      break;
  return s;
}

/* What reads something that is computed, and that array. */
static const char *
a_reader(const char **array) {
  const po_stmt *s = a_stmt();
  *array = an_array();
  for (int tries = 0; tries < 8; tries++) {
    s = a_stmt();
    uint32_t k = s->n_exprs ? (uint32_t)pick(0, (int)s->n_exprs - 1) : 0;
    if (s->n_exprs && s->exprs[k].kind == PO_READ) {
      *array = p->arrays.data[s->exprs[k].array].name;
      break;
    }
  }
  return s->name;
}

/* Another loop around the same statement as often as not. */
static const char *
a_loop_near(const char *loop) {
  uint32_t at = po_nest_find(p, loop), loops[PO_MAX_DEPTH];
  while (at != PO_NO_NODE && node(at)->kind == PO_LOOP)
    at = pick(0, 1) ? node(at)->first : node(at)->last;
  uint32_t n = at == PO_NO_NODE ? 0 : po_nest_loops(p, at, loops);
  return n && pick(0, 3) ? node(loops[pick(0, (int)n - 1)])->name : a_loop();
}

/* The loop that stands next to it, or the one inside. */
static const char *
a_loop_beside(const char *loop, bool inside) {
  uint32_t at = po_nest_find(p, loop);
  uint32_t to = at == PO_NO_NODE ? at
                : inside         ? node(at)->first
                                 : node(at)->next;
  return to != PO_NO_NODE && node(to)->kind == PO_LOOP ? node(to)->name
                                                       : a_loop();
}

static const char *
a_place(void) {
  return pick(0, 1) ? a_loop() : a_stmt()->name;
}

static const char *
a_scope(void) {
  static const char *const all[] = {"global", "local", "shared", "register"};
  return all[pick(0, 3)];
}

static const char *
a_layout(void) {
  static const char *const all[] = {"[i] -> [floor(i / 2), i mod 2]",
                                    "[i] -> [-i + 9]",
                                    "[i, j] -> [j, i]",
                                    "[i, j] -> [floor(j / 2), i, j mod 2]",
                                    "[i, j] -> [i + j, j]",
                                    "[i] -> [floor(i / 2)]"};
  return all[pick(0, 5)];
}

/* Loops and numbers by letter, between the words of a command:
 *   L  a loop, M one near it, N the next one, I one inside it
 *   S  a statement, T another one, X a place
 *   R  a reader, A the array it reads, Y any array, B what a statement makes
 *   f  1..5, g 1..3, s -2..2, v a power of two, h 0..8
 *   K  a loop that is reduced over
 *   O  a scope, P a layout, Z a list of factors, one an index of S
 *   E  functions of all that runs in L
 *   C  a condition on loops around S, D on loops around L */
static const char *const forms[] = {
    "split L [-1, f]",
    "split L [f, -1]",
    "split L [g, -1, g]",
    "split L [f, g]",
    "fuse [L, I]",
    "tile [L, I] [f, g]",
    "tile [L, M] [g, f]",
    "reorder [I, L]",
    "reorder [L, M]",
    "reorder [M, L, M]",
    "fission L M",
    "fission L S",
    "merge L N",
    "merge L L",
    "compute_with L N",
    "compute_with L N g",
    "compute_with N L",
    "put_after X X",
    "put_after S T",
    "interleave [L, N] f [0, h]",
    "interleave [L, N] g",
    "simple_compute_at S L",
    "shift S L s",
    "shift S L s",
    "skew L M s",
    "skew I L s",
    "enclose L E",
    "enclose S E",
    "serial L",
    "unroll L",
    "parallel L",
    "vectorize L v",
    "vectorize L v tail=mask",
    "bind L blockIdx.x",
    "bind L threadIdx.x",
    "bind L threadIdx.y",
    "bind L threadIdx.z",
    "sync_threads X",
    "sync_threads X after=false",
    "separate L",
    "peel L f",
    "peel L s",
    "partition L [g, f]",
    "specialise S C",
    "specialise L D",
    "divide Y",
    "divide B",
    "trim Y",
    "trim B",
    "compute_inline S",
    "compute_inline B",
    "reverse_compute_inline R",
    "compute_at S L",
    "compute_at B L",
    "roll S L",
    "roll B L fill=first",
    "reverse_compute_at R L",
    "cache_read R A O at L",
    "cache_read R A O",
    "cache_write S O at L",
    "cache_write B O",
    "pack R A \"P\" local at L",
    "pack R A \"P\" global",
    "set_buffer Y O",
    "rfactor K g",
    "rfactor K",
    "rfactor L",
    "privatise K f",
    "privatise L g",
    "decompose_reduction S L",
    "transform_layout Y \"P\"",
    "storage_align Y g f g",
    "fold_storage Y s",
    "fold_storage Y s g",
    "fold_storage B g f",
    "double_buffer Y L",
    "double_buffer B L g",
    "pipeline S L",
    "pipeline S L g",
    "pad_einsum S Z",
    "pad_einsum S Z",
    "tensorize L mma",
    "tensorize L mma [4, 4, 4]",
};

enum { FORMS = sizeof forms / sizeof *forms };

/* What stands for a letter. */
static void
put_part(char letter, char *out, size_t size, const char *loop,
         const po_stmt *s, const char *reader, const char *array) {
  const char *text = letter == 'L'   ? loop
                     : letter == 'M' ? a_loop_near(loop)
                     : letter == 'N' ? a_loop_beside(loop, false)
                     : letter == 'I' ? a_loop_beside(loop, true)
                     : letter == 'K' ? a_reduced_loop()
                     : letter == 'S' ? s->name
                     : letter == 'T' ? a_stmt()->name
                     : letter == 'X' ? a_place()
                     : letter == 'R' ? reader
                     : letter == 'A' ? array
                     : letter == 'Y' ? an_array()
                     : letter == 'B' ? p->arrays.data[s->array].name
                     : letter == 'O' ? a_scope()
                     : letter == 'P' ? a_layout()
                                     : NULL;
  int number = letter == 'f'   ? pick(1, 5)
               : letter == 'g' ? pick(1, 3)
               : letter == 's' ? pick(-2, 2)
               : letter == 'v' ? 1 << pick(0, 3)
                               : pick(0, 8);
  if (text)
    snprintf(out, size, "%s", text);
  else
    snprintf(out, size, "%d", number);
}

static void
put_factors(const po_stmt *s, char *out, size_t size) {
  size_t n = (size_t)snprintf(out, size, "[");
  for (uint32_t k = 0; k < s->n_iters && n + 8 < size; k++)
    n += (size_t)snprintf(out + n, size - n, "%s%d", k ? ", " : "", pick(1, 4));
  snprintf(out + n, size - n, "]");
}

/* A function of each statement in a loop or of one: tiles that slant, by the
 * same coefficients for all of them more often than not. */
static void
put_functions(const char *place, char *out, size_t size) {
  uint32_t top = po_nest_find(p, place), loops = (uint32_t)pick(1, 2);
  size_t n = (size_t)snprintf(out, size, "\"");
  int by[2][4], width[2] = {pick(1, 4), pick(1, 4)}, many = 0;
  for (int k = 0; k < 8; k++)
    by[k / 4][k % 4] = pick(0, 2);
  for (uint32_t s = 0; s < p->stmts.len && n + 100 < size; s++) {
    const po_stmt *stmt = &p->stmts.data[s];
    if (top == PO_NO_NODE ? strcmp(stmt->name, place) != 0
                          : !po_nest_is_below(p, stmt->leaf, top))
      continue;
    n += (size_t)snprintf(out + n, size - n, "%s%s[", many++ ? "; " : "",
                          stmt->name);
    for (uint32_t k = 0; k < stmt->n_iters && n + 40 < size; k++)
      n += (size_t)snprintf(out + n, size - n, "%si%u", k ? "," : "", k);
    n += (size_t)snprintf(out + n, size - n, "]->[");
    for (uint32_t d = 0; d < loops && n + 40 < size; d++) {
      n += (size_t)snprintf(out + n, size - n, "%sfloor((%d", d ? "," : "",
                            pick(0, 3) ? 0 : pick(-2, 2));
      for (uint32_t k = 0; k < stmt->n_iters && k < 4 && n + 40 < size; k++)
        n += (size_t)snprintf(out + n, size - n, "+%d*i%u",
                              pick(0, 15) ? by[d][k] : pick(-2, 2), k);
      n += (size_t)snprintf(out + n, size - n, ")/%d)", width[d]);
    }
    n += (size_t)snprintf(out + n, size - n, "]");
  }
  snprintf(out + n, size - n, "\"");
}

/* What some of the iterations of the loops around a place have, as often as
 * not of two of them, or one that a look at remainders has. */
static void
put_condition(uint32_t place, char *out, size_t size) {
  uint32_t loops[PO_MAX_DEPTH];
  uint32_t n = place == PO_NO_NODE ? 0 : po_nest_loops(p, place, loops);
  const char *a = n ? node(loops[pick(0, (int)n - 1)])->name : "0";
  const char *b = n ? node(loops[pick(0, (int)n - 1)])->name : "1";
  switch (pick(0, 3)) {
  case 0:
    snprintf(out, size, "\"%s < %d\"", a, pick(1, 4));
    break;
  case 1:
    snprintf(out, size, "\"%s mod %d = %d\"", a, pick(2, 3), pick(0, 1));
    break;
  case 2:
    snprintf(out, size, "\"%s + %s >= %d or %s = 0\"", a, b, pick(2, 6), a);
    break;
  default:
    snprintf(out, size, "\"%s > %s\"", a, b);
  }
}

/* The letter stands alone. */
static bool
is_letter(const char *form, size_t k) {
  char before = k ? form[k - 1] : ' ', after = form[k + 1];
  return strchr("LMNIKSTXRAYBOPZECDfgsvh", form[k]) && strchr(" [\"", before) &&
         (!after || strchr(" ],\"", after));
}

static bool
is_of(const char *form, const char *name) {
  size_t n = strlen(name);
  return !strncmp(form, name, n) && form[n] == ' ';
}

/* Some loop is a GPU's, or long enough to ask how many threads there may be. */
static bool
is_for_threads(void) {
  bool wide = false;
  for (uint32_t k = 0; k < p->arrays.len; k++)
    for (uint32_t d = 0; d < p->arrays.data[k].rank; d++)
      wide |= p->arrays.data[k].dim[d] > 30;
  for (uint32_t k = 1; k < p->nest.nodes.len; k++)
    wide |= node(k)->kind == PO_LOOP && node(k)->mark == PO_BIND;
  return wide;
}

/* All are as likely, but for those that programs of a kind are made for. */
static const char *
a_primitive(void) {
  static const char *const of_threads[] = {"bind", "sync_threads",
                                           "compute_at"};
  bool updates = false;
  if (is_for_threads() && !pick(0, 2))
    return of_threads[pick(0, 2)];
  for (uint32_t k = 0; k < p->stmts.len; k++)
    updates |= p->stmts.data[k].kind == PO_UPDATE;
  return updates && !pick(0, 7)
             ? "pad_einsum"
             : po_primitives[pick(0, (int)po_n_primitives - 1)].name;
}

/* Primitives first, whatever forms they have. */
static const char *
a_form(void) {
  const char *name = a_primitive();
  const char *of[FORMS];
  int n = 0;
  for (int k = 0; k < FORMS; k++)
    if (is_of(forms[k], name))
      of[n++] = forms[k];
  return n ? of[pick(0, n - 1)] : name; /* one without a form is not read */
}

void
make_any_command(const po_program *program, char *out, size_t size) {
  p = program;
  const char *form = a_form(), *array, *loop = a_loop();
  const char *reader = a_reader(&array);
  const po_stmt *s = is_of(form, "pad_einsum") ? an_update()
                     : pick(0, 2)              ? a_stmt()
                                               : a_maker();
  size_t n = 0;
  for (size_t k = 0; form[k] && n + 64 < size; k++) {
    if (!is_letter(form, k)) {
      out[n++] = form[k];
      continue;
    }
    if (form[k] == 'Z')
      put_factors(s, out + n, size - n);
    else if (form[k] == 'E')
      put_functions(strchr(form, 'L') ? loop : s->name, out + n, size - n);
    else if (form[k] == 'C' || form[k] == 'D')
      put_condition(form[k] == 'C' ? s->leaf : po_nest_find(p, loop), out + n,
                    size - n);
    else
      put_part(form[k], out + n, size - n, loop, s, reader, array);
    n += strlen(out + n);
  }
  out[n] = '\0';
}
