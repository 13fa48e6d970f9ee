/* SPDX-License-Identifier: MIT */
/* parse.h - a program being parsed (private to parse*.c).
 *
 * A term that could not be made is poison (GS_NO_TERM): what is built over it
 * is poison without a further complaint, so one fault gives one diagnostic. */
#ifndef GLENSIDE_PARSE_H
#define GLENSIDE_PARSE_H

#include "base/map.h"
#include "base/sexp.h"
#include "glenside/program.h"

/* What a name stands for. */
typedef struct parse_binding {
  bs_value name;
  gs_term term; /* GS_NO_TERM: poison */
  bs_span span; /* of the name */
  bool bound;   /* its definition was reached, or a use complained about */
} parse_binding;

/* A term whose children are being parsed. */
typedef struct parse_frame {
  uint32_t list; /* the S-expression */
  gs_op op;
  bool broken;         /* ill-formed itself: only look for more faults */
  uint32_t next, left; /* the next child and how many are left */
  uint32_t n_kids;     /* as written */
  uint32_t first_kid;  /* S-expression of the first child */
  uint32_t first_attr; /* of the first attribute, 0 = none */
  uint32_t n_attrs;    /* as written */
  uint32_t base;       /* results below belong to the frames below */
  bs_value attr;       /* read at once where attributes come first */
} parse_frame;

typedef struct gs_parser {
  const gs_context *ctx;
  const struct gs_target *target;
  gs_program *p;
  bs_sexps sx;
  BS_VEC(parse_binding) bindings;
  BS_VEC(uint32_t) binding_of; /* by symbol id: index + 1 */
  bs_map output_of;            /* by symbol id: index of the output */
  BS_VEC(parse_frame) frames;
  BS_VEC(gs_term) results;
  BS_VEC(bs_value) items; /* scratch for lists */
  gs_places *places;      /* or NULL */
} gs_parser;

static inline const bs_sx *
parse_at(const gs_parser *x, uint32_t node) {
  return &x->sx.nodes.data[node];
}

/* The text of a symbol, or NULL when the node is none. */
const char *parse_symbol(const gs_parser *, uint32_t node);
/* What stands there, for "found ...". */
const char *parse_describe(const gs_parser *, uint32_t node);
/* The binding of a name, or NULL. */
parse_binding *parse_find(gs_parser *, bs_value name);
/* The nearest name that is long enough to tell, or NULL. */
const char *parse_nearest(const char *word, const char *const *names,
                          uint32_t n);
/* Makes a name known, as poison until it is defined. */
void parse_bind(gs_parser *, bs_value name, bs_span);
/* Remembers where a term stands, when that is asked for. */
void parse_place(gs_parser *, uint32_t node, gs_term);
/* Reports a fault of an operator; false. */
bool parse_fault(gs_parser *, const gs_fault *, bs_span);

/* parse_attr.c.  Item `item` of op's attributes from one S-expression; false
 * with a diagnostic. */
bool parse_attr(gs_parser *, gs_op op, uint32_t item, uint32_t node,
                bs_value *out);

/* parse_term.c.  The term of an S-expression, or poison. */
gs_term parse_term(gs_parser *, uint32_t node);

#endif
