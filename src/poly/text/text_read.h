/* SPDX-License-Identifier: MIT */
/* text_read.h - what the files of the reader of loop programs share (read*.c).
 *
 * Functions give false after a diagnostic; the first one ends the reading. */
#ifndef POLY_READ_H
#define POLY_READ_H

#include "poly/loops/affine.h"
#include "poly/loops/loops_sizes.h"
#include "poly/text/poly_text.h"

/* Loops around a statement, and indices of one. */
#define PO_MAX_LOOPS 40

typedef enum po_token_kind {
  PO_T_END,
  PO_T_NAME,
  PO_T_INT,
  PO_T_REAL,
  PO_T_SYMBOL /* of one to two characters */
} po_token_kind;

typedef struct po_token {
  po_token_kind kind;
  uint32_t lo, hi; /* bytes of the source */
  int64_t number;  /* PO_T_INT */
  double real;     /* PO_T_INT, PO_T_REAL */
} po_token;

typedef enum po_entry_kind {
  PO_E_ARRAY,
  PO_E_LOOP,
  PO_E_STMT,
  PO_E_KINDS
} po_entry_kind;

/* Names that were declared, by hash. */
typedef struct po_entries {
  uint32_t *at; /* index + 1 of the thing; 0: free */
  uint32_t size, n;
} po_entries;

/* A loop whose mark is to be checked when all has been read. */
typedef struct po_marked {
  uint32_t loop;
  bs_span span;
  struct po_marked *next;
} po_marked;

/* What the name of a size stands for. */
typedef struct po_number {
  const char *name;
  uint32_t size; /* of the program; UINT32_MAX: the value */
  int64_t value;
} po_number;

typedef struct po_reader {
  gs_context ctx;
  const gs_target *target;
  gs_program *source; /* made from the inputs and outputs */
  po_program *p;
  uint32_t file;
  const char *text;
  uint32_t size;
  po_token now;   /* the token not taken yet */
  uint32_t taken; /* the end of the one before */
  po_entries entries[PO_E_KINDS];
  const po_given_size *given;
  uint32_t n_given;
  po_number numbers[PO_MAX_SIZES];
  uint32_t n_numbers;
  po_pool pool;
  bs_arena arena;
  uint32_t nesting;
  /* The indices that expressions name. */
  const char *names[PO_MAX_LOOPS];
  uint32_t n_names;
  uint32_t n_divisions; /* in this loop or statement */
  /* The loops that are open; what their bounds say: { [t_0, ..., t_k] } */
  uint32_t loops[PO_MAX_LOOPS], n_loops;
  po_marked *marked; /* the last one first */
  isl_set *bounds[PO_MAX_LOOPS];
  po_program *result;
} po_reader;

/* ---- tokens (read_token.c) ---- */

bool po_next_token(po_reader *);
bs_span po_span_here(const po_reader *);
bs_span po_span_from(const po_reader *, uint32_t lo);
bool po_syntax(po_reader *, const char *expected);
bool po_is_symbol(const po_reader *, const char *symbol);
bool po_is_word(const po_reader *, const char *word);
/* Takes the token if it is this; *taken: whether. */
bool po_take_symbol(po_reader *, const char *symbol, bool *taken);
bool po_take_word(po_reader *, const char *word, bool *taken);
bool po_need_symbol(po_reader *, const char *symbol);
bool po_need_word(po_reader *, const char *word);
/* In the program's arena. */
bool po_need_name(po_reader *, const char *what, const char **out);
bool po_need_int(po_reader *, int64_t lo, int64_t hi, int64_t *out);
bool po_need_dtype(po_reader *, gs_dtype *out);
/* One level deeper; false with a diagnostic where it is too deep. */
bool po_go_deeper(po_reader *);

/* ---- hints for the diagnostic added last (read_hint.c); false ---- */

bool po_hint_syntax(const po_reader *, const char *expected);
bool po_hint_character(const po_reader *, char);
/* Of the word that stands here: no index, function, array or dtype. */
bool po_hint_index(po_reader *);
bool po_hint_function(po_reader *);
bool po_hint_array(po_reader *);
bool po_hint_dtype(po_reader *);
bool po_hint_dimension(const po_reader *);
/* The first element that an array does not have; none where sizes are open. */
bool po_hint_element(const po_reader *, const po_array *,
                     __isl_take isl_set *beyond);

/* ---- names (read_token.c) ---- */

/* The thing of this name, or UINT32_MAX; `name` of things is given by kind. */
uint32_t po_find_entry(const po_reader *, po_entry_kind, const char *name,
                       size_t n);
void po_add_entry(po_reader *, po_entry_kind, uint32_t thing);
/* The array named here, taken. */
bool po_need_array(po_reader *, uint32_t *array);

/* read_affine.c: a loop or a statement begins; the quotients of integers in it
 * are counted, as each makes isl slower. */
void po_begin_divisions(po_reader *);

/* ---- read_size.c ---- */

bool po_read_size(po_reader *);
/* Every number that was given is one of a size. */
bool po_check_given(po_reader *);
/* The size of a name; whether there is one; a diagnostic where there is. */
bool po_find_number(const po_reader *, const char *name, size_t n,
                    uint32_t *out);
bool po_is_no_size(po_reader *, const char *name, uint32_t from);
/* That size, and index d + offset over n of them (d == n: the number alone),
 * with the sizes as parameters. */
__isl_give isl_aff *po_number_aff(const po_reader *, uint32_t k);
__isl_give isl_aff *po_index_in(const po_reader *, uint32_t n, uint32_t d,
                                int64_t offset);
/* Dimension d of an array: an index expression of sizes. */
bool po_read_extent(po_reader *, po_array *, uint32_t d);

/* ---- read_affine.c: over r->names; results are kept by the pool ---- */

bool po_read_aff(po_reader *, isl_aff **out);
bool po_read_conditions(po_reader *, isl_set **out);
/* `lo..hi` of a loop at depth n_names: { [outer..., t] } */
bool po_read_bounds(po_reader *, isl_set **out);

/* ---- read_body.c ---- */

/* [E, E] or [E][E] */
bool po_read_index(po_reader *, uint32_t array, isl_multi_aff **out);
/* The expression; maps: of those that read, else NULL. */
typedef struct po_read_body {
  BS_VEC(po_expr) exprs;
  BS_VEC(isl_multi_aff *) maps;
  BS_VEC(uint8_t) told; /* the dtype is written */
} po_read_expr;
bool po_read_expression(po_reader *, gs_dtype root, po_read_expr *out);

/* ---- read_call.c: NAME + INT [...] = call ... after the name, or
 * NAME[E] over [...] = call ... after the element (kept) ---- */
bool po_read_call(po_reader *, uint32_t array, __isl_keep isl_multi_aff *start,
                  po_stmt *out);

/* ---- read_stmt.c ---- */
/* { S[i] -> A[x] } of { [i] -> [x] }, kept by the program's pool. */
isl_pw_multi_aff *po_named_access(po_reader *, const po_stmt *, uint32_t array,
                                  __isl_keep isl_multi_aff *);
bool po_read_stmt(po_reader *);
/* ---- read_array.c ---- */
bool po_read_array(po_reader *, po_role);
/* What no array may be named, nor a size. */
bool po_name_is_taken(const char *name);

#endif
