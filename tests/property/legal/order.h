/* SPDX-License-Identifier: MIT */
/* order.h - the instances of a loop program in the order in which its text
 * says that they run, and what each reads and writes.
 *
 * Made from the text alone (docs/LOOPS.md), by a reader of its own and by
 * trying values: nothing of what it judges, neither the integer set library
 * nor the analysis of dependences, is used.  Texts are those that `print
 * program` writes, a statement a line. */
#ifndef TESTS_PROPERTY_LEGAL_ORDER_H
#define TESTS_PROPERTY_LEGAL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

enum {
  OR_ARRAYS = 48,
  OR_NODES = 256,
  OR_INDICES = 10, /* of a statement */
  OR_DEPTH = 14,   /* loops around it */
  OR_VARS = OR_INDICES + OR_DEPTH,
  OR_TERMS = 16384,
  OR_INSTANCES = 40000,
  OR_ACCESSES = 160000,
  OR_NAME = 48
};

/* ---- index expressions ---- */

typedef enum or_kind {
  OR_NUMBER,
  OR_VAR, /* index n, or loop n - OR_INDICES by depth */
  OR_ADD,
  OR_SUB,
  OR_MUL,
  OR_DIV, /* rounds down */
  OR_MOD
} or_kind;

typedef struct or_term {
  or_kind kind;
  int64_t n;
  int a, b;
} or_term;

/* Both sides of a comparison: `<`, `[` for <=, `=`. */
typedef struct or_test {
  int left, right;
  char how;
} or_test;

/* ---- the program ---- */

typedef struct or_array {
  char name[OR_NAME];
  char role; /* i, o, c, w, l: the first letter */
  bool shared;
  int rank;
  int64_t dim[8], fold[8];
} or_array;

typedef enum or_use { OR_READ, OR_WRITE, OR_UPDATE } or_use;

/* Elements from one on, of a call or a look-up: count by stride, of each
 * dimension. */
typedef struct or_reference {
  int array;
  or_use use;
  int n, index[8];
  bool from_start; /* index[0] is the distance from the array's first */
  int n_spans;
  int64_t count[4], stride[4];
} or_reference;

typedef enum or_mark {
  OR_SERIAL,
  OR_PARALLEL,
  OR_VECTOR,
  OR_UNROLL,
  OR_BIND
} or_mark;

enum { OR_TESTS = 24, OR_WAYS = 24, OR_REFERENCES = 24 };

typedef enum or_node_kind { OR_LOOP, OR_STMT, OR_SYNC } or_node_kind;

typedef struct or_node {
  or_node_kind kind;
  char name[OR_NAME];
  int parent, place, depth; /* depth: loops around it */
  /* loops: all of lo <= value, value < all of hi */
  or_mark mark;
  int64_t lanes;
  int axis; /* 0..2: blocks, 3..5: threads */
  int n_lo, lo[8], n_hi, hi[8];
  /* statements: the ways of which one must hold, and times */
  int n_indices, n_ways, n_tests[OR_WAYS];
  or_test tests[OR_WAYS][OR_TESTS];
  int time[OR_DEPTH];
  int n_references;
  or_reference references[OR_REFERENCES];
  char op; /* of an update: the class whose members may change places, by its
              first letter; `/`: none */
} or_node;

/* ---- instances ---- */

typedef struct or_instance {
  int stmt; /* node */
  int64_t index[OR_INDICES], loop[OR_DEPTH];
  int rank;     /* that of another one: their order is not given */
  int first, n; /* accesses */
} or_instance;

typedef struct or_access {
  int instance; /* the number in the order */
  int array;
  or_use use;
  int64_t element, place;
} or_access;

typedef struct or_program {
  or_array arrays[OR_ARRAYS];
  or_node nodes[OR_NODES];
  or_term terms[OR_TERMS];
  or_instance instances[OR_INSTANCES]; /* in the order in which they run */
  or_access accesses[OR_ACCESSES];
  int n_arrays, n_nodes, n_terms, n_instances, n_accesses;
  bool strict;
  const char *why; /* it could not be read or has too many; else NULL */
} or_program;

/* read.c: false with `why`. */
bool or_read(or_program *, const char *text);
/* enumerate.c: fills in instances and accesses. */
bool or_enumerate(or_program *);
/* Node k is loop `loop` or below it; -1 is the root. */
bool or_is_below(const or_program *, int k, int loop);
/* The loops around a node, outermost first; their number. */
int or_loops(const or_program *, int node, int loops[OR_DEPTH]);
int or_loop_named(const or_program *, const char *name);
int64_t or_value(const or_program *, int term, const int64_t *vars);

#endif
