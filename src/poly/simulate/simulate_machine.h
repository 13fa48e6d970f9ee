/* SPDX-License-Identifier: MIT */
/* simulate_machine.h - the state of a simulated machine (private). */
#ifndef POLY_SIMULATE_MACHINE_H
#define POLY_SIMULATE_MACHINE_H

#include "glenside/array/tensor.h"
#include "poly/loops/quasi.h"
#include "poly/simulate/simulate.h"

/* Bytes whose use is told apart, in memories without rows. */
enum { PO_UNIT = 16 };
/* Arrays of a statement on the host that its time depends on, and patches of
 * one call with its result. */
enum { PO_HOST_PATCHES = 8, PO_MOST_PATCHES = GS_MAX_INSTR_VARS + 1 };

/* A memory: bytes, whose they are, and until when rows are in use. */
typedef struct po_bank {
  const gs_memory *memory;
  unsigned char *bytes;
  uint32_t *owner; /* by byte: 1 + array; 0: never written */
  int64_t unit, n_units;
  double *read, *written; /* by unit: when the last use ends */
} po_bank;

/* A rectangle of elements: an operand of the instance that runs. */
typedef struct po_patch {
  const po_operand *operand;
  const po_array *array;
  uint32_t number; /* of the array */
  int64_t first;   /* element, from the array's start */
} po_patch;

/* A statement, its operands' addresses as numbers and its meaning. */
typedef struct po_prepared {
  bool ready;
  po_quasi *start; /* by operand: elements from the array's start */
  gs_program *meaning;
  gs_tensor *operands;
  gs_tensor result;
  double cycles, bytes;
  uint32_t queue, instr;
  po_patch patches[PO_HOST_PATCHES]; /* on the host: the arrays, as a whole */
  uint32_t n_patches;
} po_prepared;

typedef struct po_machine_state {
  const po_program *p;
  bs_arena arena;   /* of the run */
  bs_arena scratch; /* of one call */
  po_pool pool;
  po_simulation *out;
  bs_text *trace;
  po_bank *banks;         /* by memory */
  po_prepared *stmts;     /* by statement */
  double *read, *written; /* by array of dram: when the last use ends */
  int64_t *room;          /* for quotients */
  const int64_t *index;   /* of the instance that runs */
  const po_stmt *stmt;
  gs_tensor *arrays;
} po_machine_state;

/* place.c: the patch lies where operands may; false with a diagnostic. */
bool po_patch_is_placed(const po_machine_state *, const po_patch *);
/* What one call reads lies in different banks. */
bool po_banks_differ(const po_machine_state *, const po_patch *, uint32_t n);
bool po_read_patch(const po_machine_state *, const po_patch *, gs_tensor *out);
void po_write_patch(const po_machine_state *, const po_patch *,
                    const gs_tensor *from);

/* time.c: when the instance runs, after what it reads and overwrites. */
void po_take_time(po_machine_state *, uint32_t queue, double cycles,
                  const po_patch *patches, uint32_t n);
uint32_t po_find_queue(po_machine_state *, const char *name);

__attribute__((format(printf, 3, 4))) bool
po_sim_fault(const po_machine_state *, const char *code, const char *format,
             ...);

#endif
