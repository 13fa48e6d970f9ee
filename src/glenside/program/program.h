/* SPDX-License-Identifier: MIT */
/* program.h - a typed program: a hash-consed DAG of terms.
 *
 * Terms stand in topological order (children before parents), so every pass
 * over a program is a loop, never a recursion.  Structurally equal terms are
 * one term. */
#ifndef GLENSIDE_PROGRAM_H
#define GLENSIDE_PROGRAM_H

#include "glenside/type/context.h"
#include "glenside/type/type.h"
#include <assert.h>

typedef struct gs_term {
  uint32_t i;
} gs_term;

#define GS_NO_TERM ((gs_term){UINT32_MAX})

static inline bool
gs_term_ok(gs_term t) {
  return t.i != UINT32_MAX;
}

typedef struct gs_node {
  gs_op op;
  uint32_t n_kids;
  bs_value attr;
  bs_value type; /* interned; gs_type_read gives the struct */
  const gs_term *kids;
  bs_span span; /* where it was written first; BS_NOWHERE if built */
} gs_node;

typedef struct gs_named {
  const char *name;
  gs_term term;
  bs_span span;
} gs_named;

/* The elements of a `const`, in C order. */
typedef struct gs_constant {
  const char *name;
  gs_type type;     /* access = rank */
  const void *data; /* C representation of the dtype; bf16 as uint16_t */
} gs_constant;

/* How a file says where elements stand in it. */
typedef enum gs_data_form {
  GS_DATA_RAW, /* it does not: they stand from a byte on */
  GS_DATA_NPY,
  GS_DATA_SAFETENSORS
} gs_data_form;

/* Where elements stand. What a file says of itself lies before `header`, and
 * has this hash (FNV-1a); 0 and nothing for raw elements. */
typedef struct gs_data_site {
  int64_t offset, bytes, header;
  uint64_t hash;
  bool known; /* the file was asked */
} gs_data_site;

/* An input whose elements stand in a file, as weights do: little-endian, one
 * after another. */
typedef struct gs_data {
  const char *name; /* of the input */
  const char *file; /* in or below the folder of `beside` */
  const char *beside;
  gs_data_form form;
  int64_t offset;   /* raw: of the first byte */
  const char *key;  /* safetensors: the array's name; else NULL */
  const char *held; /* the file's bytes, which outlive the program, or NULL */
  size_t held_size;
  bs_span span;       /* where the program says so */
  gs_data_site *site; /* the program's own: filled when it is needed */
} gs_data;

/* A tensor, no input, that stands for a term which depends on it. */
typedef struct gs_recurrence {
  gs_term states, result;
} gs_recurrence;

typedef struct gs_program {
  gs_context ctx;
  const struct gs_target *target; /* declares the instructions; may be NULL */
  struct gs_sizes *sizes; /* that dimensions are made of; NULL: of numbers */
  BS_VEC(gs_node) nodes;
  BS_VEC(gs_named) inputs;  /* tensors, in order of declaration */
  BS_VEC(gs_named) lets;    /* in order; consts stand in `constants` */
  BS_VEC(gs_named) outputs; /* the NAME is that of the let or tensor */
  BS_VEC(gs_constant) constants;
  BS_VEC(gs_data) data;
  BS_VEC(gs_recurrence) recurrences; /* unscan.c; else none */
  struct gs_term_table *table;       /* hash-consing */
} gs_program;

gs_program *gs_program_new(const gs_context *, const struct gs_target *);

/* Declares a size that is not known yet (sizes.h), of at most GS_MOST_SIZES,
 * and gives what stands for it. */
struct gs_size;
int64_t gs_open_size(gs_program *, const struct gs_size *);
/* program_within.c: the program for a part of its sizes, which are narrower or
 * of greater multiples, those of one value as numbers, and what each term is in
 * it; NULL where a term has no type there. */
const gs_program *gs_program_within(const gs_program *,
                                    const struct gs_size *part, gs_term *made);
/* The program at these sizes: it has none. */
const gs_program *gs_program_at(const gs_program *, const int64_t *at,
                                gs_term *made);

/* The one form of an attribute: whole reals as integers, no bare lists. */
bs_value gs_canonical_attr(bs_values *, gs_op, bs_value attr);
/* Adds or finds a term; GS_NO_TERM with `fault`, which may be NULL, filled when
 * it has no type. */
gs_term gs_add(gs_program *, gs_op, bs_value attr, const gs_term *kids,
               uint32_t n_kids, bs_span, gs_fault *fault);
/* A node of any program over what `map` has for its children; GS_NO_TERM where
 * it has none for one, too. */
gs_term gs_add_like(gs_program *, const gs_node *, const gs_term *map);
/* Declares an input, a constant (data copied), or an output.  An output whose
 * name is none of the term's gets a let of that name, which must be free. */
gs_term gs_add_tensor(gs_program *, const char *name, const gs_type *, bs_span);
gs_term gs_add_constant(gs_program *, const char *name, const gs_type *,
                        const void *data, bs_span);
void gs_add_output(gs_program *, const char *name, gs_term, bs_span);

/* A program that was made of one, or of a term of it, and is kept as long:
 * where it is, or is to be; NULL there at first.  Valid until the next call. */
#define GS_WITHOUT_SCANS UINT32_MAX /* else a scan: its step */
const gs_program **gs_derived(const gs_program *, uint32_t of);

static inline const gs_node *
gs_at(const gs_program *p, gs_term t) {
  assert(t.i < p->nodes.len);
  return &p->nodes.data[t.i];
}
void gs_type_at(const gs_program *, gs_term, gs_type *out);
/* A term that is a view, with numbers of the program's sizes if it has any. */
struct gs_view;
void gs_view_at(const gs_program *, gs_term, struct gs_view *out);
/* With sizes, the most that there can be. */
int64_t gs_elements_at(const gs_program *, gs_term);
const gs_constant *gs_find_constant(const gs_program *, const char *name);
/* Of a GS_CONST node with this attribute; NULL where the program has no such
 * constant. */
const gs_constant *gs_constant_of(const gs_program *, bs_value attr);
/* Adds the constant of a GS_CONST node with this attribute to another program;
 * GS_NO_TERM where the first one has no such constant. */
gs_term gs_copy_constant(const gs_program *from, bs_value attr, gs_program *to,
                         bs_span);
/* Says where the elements of an input stand (texts copied), where those of one
 * are, or NULL, and carries all over to a program with these inputs. */
void gs_add_data(gs_program *, const gs_data *);
const gs_data *gs_find_data(const gs_program *, const char *name);
void gs_copy_data(const gs_program *from, gs_program *to);
/* data.c: where they stand, once the file was asked whether they are of this
 * type and all there; false with a diagnostic.  A file of raw elements may be
 * missing yet. */
bool gs_data_locate(const gs_context *, const gs_data *, const gs_type *,
                    gs_data_site *out);
/* safetensors.c: the bytes that an array has in a file, of which `n` are in
 * memory, and where what the file says of itself ends. */
bool gs_safetensors_locate(const gs_context *, const gs_data *, const void *,
                           size_t n, const gs_type *expect, gs_data_site *out);
/* Maps them into memory; false with a diagnostic. */
struct gs_tensor;
bool gs_data_read(const gs_context *, const gs_data *, const gs_type *,
                  struct gs_tensor *out);
/* layers.c: by term, one more than the number of the first let that needs it,
 * or 0 (in the arena). */
uint32_t *gs_layers(const gs_program *, bs_arena *);
/* live[i] = 1 for terms that an output needs; `live` has nodes.len bytes. */
void gs_mark_live(const gs_program *, uint8_t *live);

/* parse.c.  Parses a .glen source; NULL with diagnostics.  All errors of a
 * file are reported, not just the first. */
gs_program *gs_parse(const gs_context *, const struct gs_target *,
                     uint32_t source);
/* Numbers for sizes that it declares; what is given must be declared.  A size
 * without one stays open (program->sizes). */
struct gs_given_size;
gs_program *gs_parse_at(const gs_context *, const struct gs_target *,
                        uint32_t source, const struct gs_given_size *given,
                        uint32_t n_given);
/* A term and where it is written. */
typedef struct gs_place {
  bs_span span;
  gs_term term;
} gs_place;

typedef struct gs_places {
  BS_VEC(gs_place) list; /* inner terms before the outer ones */
} gs_places;

/* As gs_parse, but gives what has a type even when there are faults, and
 * lists every place where such a term is written or named.  NULL when the
 * source is no list of forms. */
gs_program *gs_parse_places(const gs_context *, const struct gs_target *,
                            uint32_t source, gs_places *out);
gs_program *gs_parse_file(const gs_context *, const struct gs_target *,
                          const char *path);
gs_program *gs_parse_file_at(const gs_context *, const struct gs_target *,
                             const char *path,
                             const struct gs_given_size *given,
                             uint32_t n_given);

/* text_print.c.  Prints a program so that gs_parse gives it back: let names are
 * kept, terms used twice get a let of their own.  `types`: a comment with the
 * type beside each line. */
void gs_print(const gs_program *, bool types, bs_text *out);
/* One term on one line, let names not expanded; beyond 1000 nodes `...`. */
void gs_print_term(const gs_program *, gs_term, bs_text *out);
/* One node's head and attributes with `...` for its children's text. */
void gs_print_node(const gs_context *, gs_op, bs_value attr,
                   const char *const *kids, uint32_t n_kids, bs_text *out);

#endif
