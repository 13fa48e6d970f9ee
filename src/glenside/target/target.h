/* SPDX-License-Identifier: MIT */
/* target.h - machine and accelerator descriptions (`.target` files).
 *
 *   (target NAME
 *     (include "cpu.target")
 *     (cores 2) (frequency-ghz 2.5) (vector-bytes 32) (vector-registers 16)
 *     (march "native")
 *     (cache 1 (bytes 32768) (line 64) (ways 8) (bytes-per-cycle 64))
 *     (memory (bytes-per-cycle 6))
 *     (memory pad (bytes 65536) (row 16) (banks 2) (align 16))
 *     (host (flops-per-cycle 16) (scalar-ops-per-cycle 2))
 *     (set split-quantum 16)               ; parameters of rule files, $NAME
 *     (default array-rows 0)               ; only where nothing is set yet
 *     (prelude-file "systolic_array.h"))   ; C text put before the kernels
 *   (instr NAME "intent" (params ..) (operands ..) (result ..) (semantics ..)
 *     (where ..) (cost (cycles ..) ..) (emit "..") (layout OPERAND ..)
 *     (queue NAME))
 *
 * What comes later replaces what came before; docs/TARGETS.md is the reference.
 *
 * An instruction is its meaning: the lowering rule, the interpreter, the
 * prover and the code generator all read this one declaration. */
#ifndef GLENSIDE_TARGET_H
#define GLENSIDE_TARGET_H

#include "glenside/target/mac.h"
#include "glenside/program/skeleton.h"

typedef struct gs_operand {
  const char *name;
  uint32_t slot; /* the hole in the semantics */
  uint8_t access, rank;
  const gs_expr *const *dims; /* S ++ C; a plain variable binds on first use */
  gs_dtype dtype;
  bs_span span;
  /* (layout NAME TERM): how the operand must lie in memory, as a view of it
   * that is materialized before the call; NULL = row-major. */
  const gs_skeleton *layout;
  uint8_t layout_rank; /* dimensions of that view; 0 when no size was tried */
  uint32_t
      memory; /* (in NAME): 1 + index into the target's memories; 0: dram */
} gs_operand;

/* A memory of the accelerator: `bytes` from address 0 on.  Of what lies there
 * the last dimension begins at a multiple of `row` bytes, and everything at a
 * multiple of `align`.  What one call reads at a time lies in different ones
 * of `banks` equal parts. */
typedef struct gs_memory {
  const char *name;
  bs_span span;
  int64_t bytes, row, banks, align;
} gs_memory;

typedef struct gs_cost_item {
  const char *name; /* cycles, bytes, weights, ... */
  const gs_expr *value;
} gs_cost_item;

#define GS_MAX_INSTR_VARS 128 /* parameters, operands and dimensions */

/* What one call needs of a memory, or an operand of it of a bank, and what
 * there is. */
typedef struct gs_room {
  const gs_expr *bytes; /* over the sizes of the call */
  const gs_expr *fits;  /* (<= bytes most) */
  int64_t most;
  const char *memory;
  const char *what; /* lies in one bank; NULL: all that the call has there */
} gs_room;

typedef struct gs_instr {
  const char *name;
  bs_span span;
  gs_scope scope;    /* params first, then operands, then dimensions */
  uint32_t n_params; /* the attributes of a call, slots 0.. */
  gs_operand *operands;
  uint32_t n_operands;
  gs_operand result; /* name "result", slot unused */
  uint32_t onto; /* (onto NAME): 1 + the operand in whose place the result is
                    written; 0: none */
  /* The semantics are the operand itself, transposed at most: a load, a store
   * or a move.  Dimension d of the result is dimension from[d] of it.  A load
   * may repeat what it reads: bit d: along dimension d of the result, which its
   * operand has one of; what parameters there are say how often. */
  bool moves;
  uint8_t from[GS_MAX_RANK];
  uint32_t repeats;
  /* The semantics are operators that work element by element on the operand,
   * which lies in a memory.  Where the result does not, that is what a unit
   * does to values on their way out: it converts them. */
  bool pointwise, converts;
  const char *queue; /* that runs it beside the others; NULL: "main" */
  const gs_skeleton *semantics;
  const gs_expr *where; /* NULL = always */
  /* What else has to hold where sizes are open: not what holds for all that
   * `where` admits. */
  const gs_room *rooms;
  uint32_t n_rooms;
  const gs_cost_item *costs;
  uint32_t n_costs;
  const char *emit;   /* C statement template */
  const char *intent; /* doc string or NULL */
} gs_instr;

typedef struct gs_cache {
  int level;
  int64_t bytes, line, ways;
  double bytes_per_cycle;
} gs_cache;

typedef struct gs_setting {
  const char *name;
  bs_value value;
} gs_setting;

struct infer;

typedef struct gs_target {
  const char *name, *path;
  /* The type of a call, for gs_infer; false with a fault. */
  bool (*type_of_call)(struct infer *);
  int64_t cores, vector_bytes;
  int64_t vector_registers;
  double frequency_ghz;
  double flops_per_cycle;      /* vector, one core, f32 multiply-adds as 2 */
  double scalar_ops_per_cycle; /* what is not vectorised */
  double memory_bytes_per_cycle;
  double stored_bytes_per_cycle; /* past the caches; 0: as many as are read */
  const char *march;             /* -march, or NULL */
  BS_VEC(gs_cache) caches;       /* by level */
  BS_VEC(gs_memory) memories;    /* beside dram */
  BS_VEC(gs_setting) settings;
  BS_VEC(const char *) preludes; /* C text */
  BS_VEC(const char *) files;    /* every file read */
  BS_VEC(gs_instr *) instrs;
  BS_VEC(const gs_mac *) macs; /* see mac.h */
} gs_target;

/* NULL with diagnostics. */
gs_target *gs_target_parse_file(const gs_context *, const char *path);
gs_target *gs_target_parse(const gs_context *, uint32_t source);
/* A modest machine, when no target is named. */
gs_target *gs_target_default(const gs_context *);
/* This machine, read from the system; what cannot be read stays as in the
 * default. `_in`: from the files below `root` ("" = the real ones). */
gs_target *gs_target_detect(const gs_context *);
gs_target *gs_target_detect_in(const gs_context *, const char *root);
/* As a file without includes, from which the same target is read. */
void gs_target_print(const gs_target *, const bs_values *, bs_text *out);

/* What some processors of a family have, for code that asks which it is on. */
typedef struct gs_variant {
  const char *name;
  const char *features; /* as compilers and CPUID name them, comma between */
  int64_t vector_bytes, vector_registers;
  double flops_per_cycle;
} gs_variant;

/* "base", "avx2", "avx512"; or NULL. */
const gs_variant *gs_find_variant(const char *name);
/* The widest one with vectors of at most so many bytes; the base otherwise. */
const gs_variant *gs_variant_of_vectors(int64_t bytes);
/* The target with the vectors of the variant. */
const gs_target *gs_target_variant(const gs_context *, const gs_target *,
                                   const gs_variant *);

/* What `(set NAME VALUE)` says; BS_NIL. */
bs_value gs_target_setting(const gs_target *, const char *name);
const gs_instr *gs_find_instr(const gs_target *, const char *name);
/* Products a cycle of the multiply-accumulate instruction that takes factors of
 * these dtypes fastest; 0 where none takes them. */
double gs_multiplies(const gs_target *, gs_dtype x, gs_dtype y, gs_dtype sum);

/* ---- memories (target_memory.c) ---- */

/* By `1 + index`; NULL: dram. */
const gs_memory *gs_memory_at(const gs_target *, uint32_t memory);
/* 1 + index; 0: there is none of that name. */
uint32_t gs_find_memory(const gs_target *, const char *name);
/* "dram", or the name. */
const char *gs_memory_name(const gs_target *, uint32_t memory);
/* Elements from one row of a two-dimensional array to the next: so many of the
 * last dimension that rows begin where rows of the memory do. */
int64_t gs_memory_pitch(const gs_memory *, gs_dtype, int64_t last);
/* Bytes: places are multiples of it, since they begin rows and are aligned. */
int64_t gs_memory_unit(const gs_memory *);
/* Bytes of a dense array of that shape there, rows as above, aligned. */
int64_t gs_memory_bytes(const gs_memory *, gs_dtype, const int64_t *dim,
                        uint32_t rank);
/* Of what moves, the dimension of the operand, or of the result, that is
 * dimension d of a tile: those stand as in the memory that a load fills or a
 * store empties. */
uint32_t gs_move_dim(const gs_instr *, bool result, uint32_t d);
/* Binds an instruction of one operand, which moves or converts it, so that its
 * result has those sizes; false where it admits none.  `like`: slots with the
 * parameters of a call of what converts, or NULL. */
bool gs_bind_piece(bs_values *, const gs_instr *, gs_dtype of_operand,
                   const int64_t *dim, const uint32_t *like, uint32_t *slots);
/* The next smaller divisors of the dimensions, as an odometer; false past the
 * last, where the piece is whole again. */
bool gs_next_piece(const int64_t *dim, uint32_t rank, int64_t *piece);
/* Whether what moves or converts, without parameters of a call, takes a tile in
 * pieces of some size: its last dimensions are those of the tile. */
bool gs_takes_tile(bs_values *, const gs_instr *, gs_dtype of_operand,
                   const int64_t *dim, uint32_t rank);
/* Whether instruction `k` of the target moves elements of that type from one
 * memory to another on a shortest way from `from` to `to`; hops: of the whole
 * way, 0 where there is none. */
bool gs_is_on_way(const gs_target *, uint32_t k, gs_dtype, uint32_t from,
                  uint32_t to);
uint32_t gs_hops(const gs_target *, gs_dtype, uint32_t from, uint32_t to);
/* Binds params from the call's attribute and dimensions from the operand types
 * into `slots` (scope.vars.len values), checks `where`, gives the result's
 * type. */
bool gs_instr_bind(bs_values *, const gs_instr *, bs_value attr,
                   const gs_type *const *kids, uint32_t n_kids, uint32_t *slots,
                   gs_type *result, gs_fault *);
/* The meaning of one call: the semantics as terms of `p` over `operands`. Where
 * they have a type, and it is not that of the result, the fault has this code.
 */
#define GS_UNDECLARED_TYPE "undeclared-type"
gs_term gs_instr_expand(const gs_instr *, gs_program *p, bs_value attr,
                        const gs_term *operands, gs_fault *);
/* What a multiply-accumulate instruction is for, as an instruction of any
 * sizes: a product of matrices of a dtype that it takes.  NULL where it takes
 * no two factors of one dtype. */
const gs_instr *gs_mac_product(const gs_context *, const gs_mac *);
/* A cost item's value under bound slots, or `otherwise`. */
double gs_instr_cost(const gs_instr *, bs_values *, const uint32_t *slots,
                     const char *name, double otherwise);

/* The C template, piece by piece.  `{NAME}` is a parameter or dimension, the
 * pointer to the first element of an operand, or `{result}`; `{a0.stride.K}`
 * the distance in elements of neighbours along dimension K, `{a0.dim.K}` its
 * size; of an operand with a layout, dimensions are those of the layout.  An
 * operand in a memory has no pointer: `{a0.address}` is where it begins there,
 * in bytes, `{a0.row}` the same in rows.
 * Braces around anything but a name stand for themselves. */
typedef enum gs_emit_kind {
  GS_EMIT_TEXT,
  GS_EMIT_VALUE,   /* slots[slot], an integer */
  GS_EMIT_POINTER, /* of operand; n_operands = the result */
  GS_EMIT_STRIDE,
  GS_EMIT_DIM,
  GS_EMIT_ADDRESS,
  GS_EMIT_ROW,
  GS_EMIT_BAD /* a name that means nothing; never in a parsed target */
} gs_emit_kind;

typedef struct gs_emit_piece {
  gs_emit_kind kind;
  const char *text; /* the piece as written */
  size_t len;
  uint32_t slot, operand, dim;
} gs_emit_piece;

/* The next piece from *at on; false at the end.  Start at instr->emit. */
bool gs_emit_next(const gs_instr *, const char **at, gs_emit_piece *out);

#endif
