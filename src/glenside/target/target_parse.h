/* SPDX-License-Identifier: MIT */
/* target_parse.h - a target file being read (private to target*.c). */
#ifndef GLENSIDE_TARGET_PARSE_H
#define GLENSIDE_TARGET_PARSE_H

#include "base/sexp.h"
#include "glenside/target/target.h"
#include <assert.h>

#define MAX_MEMORIES 16

/* The machine of gs_target_default, in which a target says what is other. */
enum {
  TARGET_MODEST_VECTOR = 16, /* bytes */
  TARGET_MODEST_REGISTERS = 16,
  TARGET_MODEST_LINE = 64,
  TARGET_MODEST_CACHES = 3
};
extern const gs_cache target_modest_caches[TARGET_MODEST_CACHES];

typedef struct target_file {
  const struct target_file *from; /* the file that includes this one */
  const char *path;
  const char *real; /* resolved, to tell files apart */
} target_file;

/* Shared by all files of one target. */
typedef struct target_state {
  BS_VEC(const char *) seen; /* resolved paths of files and preludes read */
  bool caches;               /* some file gave a cache */
} target_state;

typedef struct target_parser {
  const gs_context *ctx;
  gs_target *target;
  const target_file *file;
  const bs_sexps *sexps;
  target_state *state;
} target_parser;

/* The numbers of a target: `(GROUP (NAME x))` or `(NAME x)`. */
typedef struct target_number {
  const char *group; /* NULL: at the top */
  const char *name;
  size_t offset; /* in gs_target or, group "cache", in gs_cache */
  bool real;
  double least, most;
  bool power; /* of two */
} target_number;

extern const target_number target_numbers[];
extern const size_t target_number_count;

/* Reads (instr ...); adds it to the target.  False with diagnostics. */
bool target_parse_instr(target_parser *, uint32_t node);
/* target_mac.c: reads (mac ...) likewise; prints it. */
bool target_parse_mac(target_parser *, uint32_t node);
void target_print_mac(const gs_mac *, bs_text *out);
/* Forms of a text that is part of the library, into the target. */
bool target_parse_text(const gs_context *, gs_target *, const char *name,
                       const char *text);
/* Tries the declaration on a sample of sizes; fills the layouts' ranks. */
bool target_check_instr(const gs_context *, const gs_target *, gs_instr *);

/* target_memory.c.  Adds a memory, or replaces the one of that name. */
bool target_add_memory(target_parser *, const gs_memory *);
/* `(in NAME)` and, of a result, `(onto OPERAND)`, from item `x` on. */
bool target_read_place(target_parser *, uint32_t x, const gs_instr *,
                       gs_operand *, uint32_t *onto);
/* Whether the instruction moves its operand, and how. */
void target_find_moves(const gs_context *, gs_instr *);
void target_find_conversion(const gs_context *, gs_instr *);
/* target_room.c.  One tile of each operand fits into the memories, for types
 * tried; without a context nothing is said. */
bool target_check_room(const gs_context *, const gs_target *, const gs_instr *,
                       const gs_type *operands, const gs_type *result);
/* Fills the rooms of an instruction. */
void target_limit_sizes(const gs_context *, const gs_target *, gs_instr *);
/* target_ways.c.  Of a whole file: what must be loaded can be, and results come
 * back. */
bool target_check_ways(target_parser *);

/* The value of `$NAME` in a target file: a setting of the gs_target `ctx`. */
bs_value target_setting(void *ctx, const char *name);
void target_set_cache(const gs_context *, gs_target *, gs_cache);
/* target_call.c: what gs_target.type_of_call is. */
bool target_type_of_call(struct infer *);

/* target_hint.c.  Hints of the diagnostic added last: for a symbol that is a
 * number with a unit, for what is no dtype, for a part that is missing. */
void target_hint_unit(const target_parser *, uint32_t node);
void target_hint_dtype(const target_parser *, uint32_t node);
void target_hint_part(const target_parser *, const char *part);
/* Says that the symbol cannot be a name of an instruction; false. */
bool target_bad_name(const target_parser *, uint32_t node);
/* Whether the file can be a target; if not, it is said once. */
bool target_is_target(const target_parser *);

/* Small helpers over the current file. */
static inline const bs_sx *
target_at(const target_parser *p, uint32_t node) {
  assert(node < p->sexps->nodes.len);
  return &p->sexps->nodes.data[node];
}

static inline uint32_t
target_next(const target_parser *p, uint32_t node) {
  assert(node < p->sexps->nodes.len);
  return p->sexps->nodes.data[node].next;
}

static inline const char *
target_head(const target_parser *p, uint32_t node) {
  return bs_sx_head(p->sexps, p->ctx->values, node);
}

static inline const char *
target_sym(const target_parser *p, uint32_t node) {
  return bs_as_sym(p->ctx->values, p->sexps->nodes.data[node].value);
}

#endif
