/* SPDX-License-Identifier: MIT */
/* read.c - loop programs from their texts, line by line; see order.h. */
#include "order.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
  or_program *p;
  const char *s;
  int at; /* the loop that lines are in; -1: none */
  char index[OR_INDICES][OR_NAME];
  int n_index;
} reader;

static bool
fail(reader *r, const char *why) {
  if (!r->p->why)
    r->p->why = why;
  return false;
}

/* ---- words ---- */

static void
skip(reader *r) {
  while (*r->s == ' ')
    r->s++;
}

static bool
take(reader *r, const char *what) {
  skip(r);
  size_t n = strlen(what);
  if (strncmp(r->s, what, n) != 0 ||
      (isalnum((unsigned char)what[n - 1]) &&
       (isalnum((unsigned char)r->s[n]) || r->s[n] == '_')))
    return false;
  r->s += n;
  return true;
}

static bool
take_name(reader *r, char *out) {
  skip(r);
  int n = 0;
  while ((isalnum((unsigned char)r->s[n]) || r->s[n] == '_') && n < OR_NAME - 1)
    n++;
  if (!n || isdigit((unsigned char)*r->s))
    return false;
  memcpy(out, r->s, (size_t)n);
  out[n] = '\0';
  r->s += n;
  return true;
}

static int64_t
take_number(reader *r) {
  char *end;
  skip(r);
  int64_t n = strtoll(r->s, &end, 10);
  if (end == r->s)
    fail(r, "a number is missing");
  r->s = end;
  return n;
}

/* ---- index expressions ---- */

static int
term(reader *r, or_kind kind, int64_t n, int a, int b) {
  if (r->p->n_terms == OR_TERMS) {
    fail(r, "too many terms");
    return 0;
  }
  r->p->terms[r->p->n_terms] = (or_term){kind, n, a, b};
  return r->p->n_terms++;
}

static int
variable(reader *r, const char *name) {
  int loops[OR_DEPTH], n = r->at < 0 ? 0 : or_loops(r->p, r->at, loops);
  for (int k = 0; k < r->n_index; k++)
    if (!strcmp(r->index[k], name))
      return term(r, OR_VAR, k, 0, 0);
  for (int k = 0; r->at >= 0 && k <= n; k++)
    if (!strcmp(r->p->nodes[k < n ? loops[k] : r->at].name, name))
      return term(r, OR_VAR, OR_INDICES + k, 0, 0);
  fail(r, "an unknown index");
  return 0;
}

static int sum(reader *r, int deep);

static int
factor(reader *r, int deep) {
  char name[OR_NAME];
  if (deep > 40) {
    fail(r, "too deep");
    return 0;
  }
  if (take(r, "-"))
    return term(r, OR_SUB, 0, term(r, OR_NUMBER, 0, 0, 0), factor(r, deep + 1));
  if (take(r, "(")) {
    int inner = sum(r, deep + 1);
    if (!take(r, ")"))
      fail(r, ") is missing");
    return inner;
  }
  return take_name(r, name) ? variable(r, name)
                            : term(r, OR_NUMBER, take_number(r), 0, 0);
}

static int
product(reader *r, int deep) {
  int left = factor(r, deep);
  for (;;) {
    or_kind kind = take(r, "*")   ? OR_MUL
                   : take(r, "/") ? OR_DIV
                   : take(r, "%") ? OR_MOD
                                  : OR_NUMBER;
    if (kind == OR_NUMBER)
      return left;
    left = term(r, kind, 0, left, factor(r, deep));
  }
}

static int
sum(reader *r, int deep) {
  int left = product(r, deep);
  for (;;) {
    or_kind kind = take(r, "+") ? OR_ADD : take(r, "-") ? OR_SUB : OR_NUMBER;
    if (kind == OR_NUMBER)
      return left;
    left = term(r, kind, 0, left, product(r, deep));
  }
}

/* E, or WORD(E, E, ...). */
static int
bounds(reader *r, const char *word, int *out) {
  int n = 0;
  if (!take(r, word)) {
    out[n++] = sum(r, 0);
    return n;
  }
  take(r, "(");
  do
    out[n++] = sum(r, 0);
  while (n < 8 && take(r, ","));
  if (!take(r, ")"))
    fail(r, "too many bounds");
  return n;
}

static int
subscripts(reader *r, int *out, int most) {
  int n = 0;
  if (take(r, "]"))
    return 0;
  do
    out[n++] = sum(r, 0);
  while (n < most && take(r, ","));
  if (!take(r, "]"))
    fail(r, "too many subscripts");
  return n;
}

/* ---- arrays ---- */

static int
array_named(const or_program *p, const char *name) {
  for (int k = 0; k < p->n_arrays; k++)
    if (!strcmp(p->arrays[k].name, name))
      return k;
  return -1;
}

static bool
read_array(reader *r, char role) {
  or_program *p = r->p;
  if (p->n_arrays == OR_ARRAYS)
    return fail(r, "too many arrays");
  or_array *a = &p->arrays[p->n_arrays++];
  char dtype[OR_NAME];
  *a = (or_array){.role = role};
  if (!take_name(r, a->name) || !take(r, ":") || !take_name(r, dtype) ||
      !take(r, "["))
    return fail(r, "an array is not understood");
  while (!take(r, "]") && a->rank < 8 && !p->why) {
    int64_t *dim = &a->dim[a->rank], *fold = &a->fold[a->rank++];
    *dim = take_number(r);
    *fold = take(r, "fold") ? take_number(r) : 0;
    if (take(r, "pad"))
      take_number(r);
    take(r, ",");
  }
  a->shared = take(r, "shared");
  return !p->why;
}

/* ---- the tree ---- */

static or_node *
add_node(reader *r, or_node_kind kind) {
  or_program *p = r->p;
  if (p->n_nodes == OR_NODES) {
    fail(r, "too many nodes");
    return NULL;
  }
  or_node *n = &p->nodes[p->n_nodes];
  memset(n, 0, sizeof *n);
  n->kind = kind;
  n->parent = r->at;
  n->depth = r->at < 0 ? 0 : p->nodes[r->at].depth + 1;
  for (int k = 0; k < p->n_nodes; k++)
    n->place += p->nodes[k].parent == r->at;
  p->n_nodes++;
  return n;
}

static void
read_mark(reader *r, or_node *n) {
  static const char *const axes[] = {"blockIdx.x",  "blockIdx.y",
                                     "blockIdx.z",  "threadIdx.x",
                                     "threadIdx.y", "threadIdx.z"};
  if (take(r, "parallel"))
    n->mark = OR_PARALLEL;
  else if (take(r, "unroll"))
    n->mark = OR_UNROLL;
  else if (take(r, "vectorize")) {
    n->mark = OR_VECTOR;
    take(r, "(");
    n->lanes = take_number(r);
    take(r, ", mask");
    take(r, ")");
  } else if (take(r, "bind")) {
    n->mark = OR_BIND;
    take(r, "(");
    while (n->axis < 5 && !take(r, axes[n->axis]))
      n->axis++;
    if (n->axis == 5)
      take(r, axes[5]);
    take(r, ")");
  }
}

static bool
read_loop(reader *r) {
  or_node *n = add_node(r, OR_LOOP);
  if (!n)
    return false;
  take(r, "separate");
  read_mark(r, n);
  if (!take(r, "for") || !take_name(r, n->name) || !take(r, "in"))
    return fail(r, "a loop is not understood");
  if (n->depth >= OR_DEPTH - 1)
    return fail(r, "too deep");
  n->n_lo = bounds(r, "max", n->lo);
  if (!take(r, ".."))
    return fail(r, ".. is missing");
  n->n_hi = bounds(r, "min", n->hi);
  r->at = (int)(n - r->p->nodes);
  return take(r, "{") || fail(r, "{ is missing");
}

/* ---- statements ---- */

static or_reference *
add_reference(reader *r, or_node *n, int array, or_use use) {
  if (n->n_references == OR_REFERENCES || array < 0) {
    fail(r, "too many references, or an unknown array");
    return NULL;
  }
  or_reference *x = &n->references[n->n_references++];
  *x = (or_reference){.array = array, .use = use};
  return x;
}

/* SIZE by STRIDE, ... ] */
static void
read_spans(reader *r, or_reference *x) {
  while (!take(r, "]") && x->n_spans < 4 && !r->p->why) {
    x->count[x->n_spans] = take_number(r);
    if (!take(r, "by"))
      fail(r, "by is missing");
    x->stride[x->n_spans++] = take_number(r);
    take(r, ",");
  }
}

/* Behind an array's name: its subscripts, or the distance from its start, and
 * what of it is meant. */
static void
read_reference(reader *r, or_reference *x) {
  if (take(r, "+")) {
    x->from_start = true;
    x->index[x->n++] = term(r, OR_NUMBER, take_number(r), 0, 0);
    take(r, "[");
    read_spans(r, x);
    return;
  }
  take(r, "[");
  x->n = subscripts(r, x->index, 8);
  if (take(r, "over ["))
    read_spans(r, x);
}

/* Behind the array of a look-up: , STRIDE, COUNT */
static void
read_look_up(reader *r, or_reference *x) {
  take(r, ",");
  x->stride[0] = take_number(r);
  take(r, ",");
  x->count[0] = take_number(r);
  x->n_spans = 1;
}

/* All arrays that the body names, up to its end. */
static void
read_body(reader *r, or_node *n) {
  bool look_up = false;
  char name[OR_NAME];
  while (*r->s && !r->p->why && !take(r, "where") && !take(r, "at ")) {
    if (!take_name(r, name)) {
      r->s += *r->s != '\0';
      if (isdigit((unsigned char)r->s[-1]) || r->s[-1] == '.')
        while (isalnum((unsigned char)*r->s) || *r->s == '.')
          r->s++; /* 1.5e3 */
      continue;
    }
    skip(r);
    int array = array_named(r->p, name);
    bool place =
        *r->s == '[' || (*r->s == '+' && array >= 0 && strstr(r->s, " by "));
    or_reference *x =
        place && array >= 0 ? add_reference(r, n, array, OR_READ) : NULL;
    if (x)
      read_reference(r, x);
    if (x && look_up)
      read_look_up(r, x);
    look_up = !strcmp(name, "gather");
  }
}

/* A < B <= C and ... or ... */
static void
read_conditions(reader *r, or_node *n) {
  n->n_tests[n->n_ways = 0] = 0;
  do {
    int left = sum(r, 0);
    for (;;) {
      int *k = &n->n_tests[n->n_ways];
      char how = take(r, "<=")   ? '['
                 : take(r, ">=") ? ']'
                 : take(r, "<")  ? '<'
                 : take(r, ">")  ? '>'
                 : take(r, "=")  ? '='
                                 : '\0';
      if (!how)
        break;
      int right = sum(r, 0);
      bool turned = how == '>' || how == ']';
      if (*k == OR_TESTS) {
        fail(r, "too many conditions");
        return;
      }
      n->tests[n->n_ways][(*k)++] =
          (or_test){turned ? right : left, turned ? left : right,
                    how == '>'   ? '<'
                    : how == ']' ? '['
                                 : how};
      left = right;
    }
    if (take(r, "and"))
      continue;
    if (!take(r, "or"))
      break;
    if (++n->n_ways == OR_WAYS) {
      fail(r, "too many ways");
      return;
    }
    n->n_tests[n->n_ways] = 0;
  } while (!r->p->why);
  n->n_ways++;
}

static bool
read_indices(reader *r) {
  r->n_index = 0;
  while (!take(r, "]")) {
    if (r->n_index == OR_INDICES || !take_name(r, r->index[r->n_index++]))
      return fail(r, "indices are not understood");
    take(r, ",");
  }
  return true;
}

/* The operator in front of the body; `=`: none. */
static char
take_operator(reader *r) {
  static const char *const all[] = {"+=", "-=", "*=", "/=", "max=", "min="};
  /* What is subtracted may change places with what is added. */
  static const char class[] = "++*/xn";
  for (int k = 0; k < 6; k++)
    if (take(r, all[k]))
      return class[k];
  if (!take(r, "="))
    fail(r, "an operator is missing");
  return '=';
}

static void
read_times(reader *r, or_node *n, bool own) {
  bool given = r->s[-1] == ' ' ? !strncmp(r->s - 3, "at ", 3) : false;
  if (!given)
    given = take(r, "at");
  for (int k = 0; k < n->depth; k++) {
    n->time[k] =
        own && given ? sum(r, 0) : term(r, OR_VAR, OR_INDICES + k, 0, 0);
    take(r, ",");
  }
  skip(r);
  if (*r->s || (own && !given && n->depth))
    fail(r, "times are not understood");
}

static bool
read_stmt(reader *r) {
  or_node *n = add_node(r, OR_STMT);
  char array[OR_NAME];
  if (!n || !take_name(r, n->name))
    return fail(r, "a statement is not understood");
  bool own = take(r, "[");
  r->n_index = 0;
  if (own && !read_indices(r))
    return false;
  if (!take(r, ":") || !take_name(r, array))
    return fail(r, "a statement's array is not understood");
  or_reference *x = add_reference(r, n, array_named(r->p, array), OR_WRITE);
  if (!x)
    return false;
  skip(r);
  read_reference(r, x);
  n->n_indices = r->n_index;
  n->op = take_operator(r);
  if (n->op != '=')
    x->use = OR_UPDATE;
  read_body(r, n);
  if (!strncmp(r->s - 5, "where", 5))
    read_conditions(r, n);
  read_times(r, n, own);
  r->n_index = 0;
  return !r->p->why;
}

static bool
read_line(reader *r) {
  static const char *const roles[] = {"input", "output", "constant",
                                      "workspace", "local"};
  skip(r);
  const char *line = r->s;
  if (!*line || *line == '#')
    return true;
  if (take(r, "strict"))
    return r->p->strict = true;
  for (int k = 0; k < 5; k++)
    if (take(r, roles[k]))
      return read_array(r, roles[k][0]);
  if (take(r, "}")) {
    r->at = r->at < 0 ? -1 : r->p->nodes[r->at].parent;
    return true;
  }
  if (take(r, "sync"))
    return add_node(r, OR_SYNC) != NULL;
  return line[strlen(line) - 1] == '{' ? read_loop(r) : read_stmt(r);
}

bool
or_read(or_program *p, const char *text) {
  reader r = {.p = p, .at = -1};
  static char line[8192];
  p->n_arrays = p->n_nodes = p->n_terms = 0;
  p->n_instances = p->n_accesses = 0;
  p->strict = false;
  p->why = NULL;
  while (*text && !p->why) {
    size_t n = strcspn(text, "\n");
    if (n >= sizeof line)
      return fail(&r, "a line is too long");
    memcpy(line, text, n);
    line[n] = '\0';
    text += n + (text[n] == '\n');
    r.s = line;
    if (!strncmp(line, "  ", 2) && p->n_nodes == 0 && p->n_arrays &&
        p->arrays[p->n_arrays - 1].role == 'c')
      continue; /* more numbers of a constant */
    read_line(&r);
  }
  return !p->why;
}

int
or_loops(const or_program *p, int node, int loops[OR_DEPTH]) {
  int n = p->nodes[node].depth;
  for (int k = n, at = p->nodes[node].parent; k-- > 0; at = p->nodes[at].parent)
    loops[k] = at;
  return n;
}

bool
or_is_below(const or_program *p, int k, int loop) {
  while (k >= 0 && k != loop)
    k = p->nodes[k].parent;
  return k == loop;
}

int
or_loop_named(const or_program *p, const char *name) {
  for (int k = 0; k < p->n_nodes; k++)
    if (p->nodes[k].kind == OR_LOOP && !strcmp(p->nodes[k].name, name))
      return k;
  return -1;
}
