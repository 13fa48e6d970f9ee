/* SPDX-License-Identifier: MIT */
/* parse.h - a program being parsed (private to parse*.c and define*.c).
 *
 * A term that could not be made is poison (GS_NO_TERM): what is built over it
 * is poison without a further complaint, so one fault gives one diagnostic. */
#ifndef GLENSIDE_PARSE_H
#define GLENSIDE_PARSE_H

#include "base/map.h"
#include "base/sexp.h"
#include "glenside/expr/expr.h"
#include "glenside/program/program.h"
#include <assert.h>

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
  uint64_t numbers;    /* bit k: attribute k is any number */
  uint32_t base;       /* results below belong to the frames below */
  bs_value attr;       /* read at once where attributes come first */
  bool applied;        /* a compute operator is the head itself: (relu x) */
  uint32_t env;        /* the body that it stands in: see parse_use */
  bool is_use;         /* of a definition: the last of the parser's uses */
} parse_frame;

/* (define (NAME PARAMETER...) ITEM... TERM) */
typedef struct parse_definition {
  bs_value name;
  uint32_t list, header;
  uint32_t n_params, n_places; /* the first n_places are not named in uses */
  const uint32_t *defaults;    /* by parameter: S-expression, 0 = none */
  bool built_in;
  gs_scope scope; /* the parameters, then what its lets name */
} parse_definition;

/* A definition being used: first its parameters get their values, then its
 * items are gone through. */
typedef struct parse_use {
  uint32_t definition;
  uint32_t list;    /* the S-expression of the use */
  uint32_t env;     /* that the use stands in: index + 1 of a use, or 0 */
  uint32_t slots;   /* the first of its variables' */
  uint32_t param;   /* the next that gets its value */
  uint32_t item;    /* the next, 0 = none */
  uint32_t waiting; /* the slot of the term that was asked for */
  bool broken, last;
} parse_use;

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
  BS_VEC(parse_definition) definitions;
  BS_VEC(parse_use) uses; /* nested */
  BS_VEC(uint32_t) slots; /* of the variables of uses: UINT32_MAX, unset */
  uint32_t env;           /* the use whose body is read: index + 1, or 0 */
  uint32_t n_uses;        /* of the whole program, up to a limit */
  gs_places *places;      /* or NULL */
  bool in_step;           /* what is read is the step of a scan */
  /* parse_size.c: the names of sizes, and the values that these stand for. */
  gs_scope sizes;
  BS_VEC(uint32_t) size_values;
  const struct gs_given_size *given;
  uint32_t n_given;
} gs_parser;

static inline const bs_sx *
parse_at(const gs_parser *x, uint32_t node) {
  assert(node < x->sx.nodes.len);
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
/* What terms are read with: names, frames, uses of definitions. */
void parse_scratch_done(gs_parser *);
/* Remembers where a term stands, when that is asked for. */
void parse_place(gs_parser *, uint32_t node, gs_term);
/* Reports a fault of an operator; false. */
bool parse_fault(gs_parser *, const gs_fault *, bs_span);

/* form_hints.c.  What to write instead of what stands behind `output`, and of a
 * form with too few or too many items, which is written as `usage` says. */
void parse_hint_output(gs_parser *, uint32_t node);
void parse_hint_form(gs_parser *, uint32_t form, const char *usage);
void parse_hint_unknown(gs_parser *, const char *name);
/* Sets the hint to how a number is written, if what was found is one as other
 * languages write it. */
void parse_hint_number(const gs_context *, const bs_sx *found, bool whole);
const char *parse_unquoted(const char *name);
/* Whether terms begin with the word: an operator, or a definition in use. */
bool parse_heads_term(const gs_parser *, const char *word);
/* Names end up in file names and generated code. */
bool parse_is_plain_name(const char *);

/* parse_attr.c.  Item `item` of op's attributes from one S-expression; false
 * with a diagnostic. */
bool parse_attr(gs_parser *, gs_op op, uint32_t item, uint32_t node,
                bs_value *out);

/* parse_step.c.  The step of a scan of these operands; false with a diagnostic.
 */
bool parse_step(gs_parser *, uint32_t node, const gs_term *operands, uint32_t n,
                bs_value *attr);

/* Whether a name is a size, and whether an integer may be read there as an
 * expression over sizes. */
bool parse_is_size(const gs_parser *, const char *name);
bool parse_is_sized(const gs_parser *, uint32_t node);

/* The parameter of an applied compute operator, of a letter of ops.def. */
bool parse_parameter(gs_parser *, char letter, uint32_t node, bs_value *out);

/* parse_size.c.  Reads all (size NAME LEAST MOST [MULTIPLE]), before anything
 * else of the file. */
void parse_sizes(gs_parser *);

/* parse_data.c.  `:data "FILE" ...` behind the dtype of a tensor, which is
 * noted in the program; false with a diagnostic. */
bool parse_data(gs_parser *, const char *name, uint32_t word);

/* parse_term.c.  The term of an S-expression, or poison. */
gs_term parse_term(gs_parser *, uint32_t node);
void parse_open_node(gs_parser *, uint32_t node);

/* define.c.  Reads the definitions that come with the language where a head
 * of the file might be one of them; and a form of the file. */
void parse_built_in(gs_parser *);
void parse_language(gs_parser *); /* whether they are used or not */
void parse_define(gs_parser *, uint32_t list, bool built_in);
void parse_definitions_done(gs_parser *);
/* What `NAME` means where it is used now; NULL: no definition. */
const parse_definition *parse_find_definition(const gs_parser *,
                                              const char *name);
/* How a use is written. */
void parse_put_usage(bs_text *, const parse_definition *);
/* How a use is written, behind its name, as a sentence: sorts stand behind the
 * parentheses, within which they would be taken for syntax. */
void parse_put_call(bs_text *, const parse_definition *);

/* define_use.c.  Opens a list that uses a definition, ill-formed or not; false
 * where it does not. */
bool parse_open_use(gs_parser *, uint32_t list);
/* Asks for the next term of the innermost use; false where it is done, and its
 * result on the stack. */
bool parse_step_use(gs_parser *);
/* Forgets the innermost use, whose terms stood from `base` on. */
gs_term parse_close_use(gs_parser *, uint32_t base);

/* define_value.c.  Where a body is read: the term of a parameter, and an
 * attribute as an expression; false with a diagnostic. */
gs_term parse_variable(gs_parser *, uint32_t node);
bool parse_value(gs_parser *, gs_sort, uint32_t node, bs_value *out);
/* Whether a condition holds; where that depends on sizes, it is said not to, or
 * there is a diagnostic. */
bool parse_holds(gs_parser *, uint32_t node, bool needed, bool *out);
/* The outermost use around what is read. */
const parse_use *parse_outermost(const gs_parser *);
/* Says what is wrong with a use, and of what types its operands are. */
void parse_blame(gs_parser *, const char *code, const char *message,
                 bs_span body);
/* Says `hint` behind the types of the operands, where it is not empty. */
void parse_blame_hint(gs_parser *, const char *code, const char *message,
                      const char *hint, bs_span body);

#endif
