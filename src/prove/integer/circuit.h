/* SPDX-License-Identifier: MIT */
/* circuit.h - what one element of both sides is, as the operators say it.
 *
 * Unlike values (value.h) nothing is brought to a normal form: each gate is one
 * compute operator on one element, in the order of the definition, so that it
 * can be evaluated or handed to a solver as it stands.  Gates stand in order,
 * operands first. */
#ifndef PROVE_CIRCUIT_H
#define PROVE_CIRCUIT_H

#include "prove/relation/element.h"
#include "prove/session/session.h"

typedef enum pv_gate_kind {
  PV_GATE_LEAF,
  PV_GATE_NUMBER,
  PV_GATE_APPLY
} pv_gate_kind;

typedef struct pv_gate {
  pv_gate_kind kind;
  gs_dtype dtype, from; /* of the result, of the operands */
  gs_compute op;
  bs_value o;     /* the operator with its parameters */
  uint32_t tuple; /* of dotProd: how many items */
  uint32_t n, at; /* operands, in `args`; of a leaf: its number in n */
  double number;
} pv_gate;

typedef struct pv_circuit {
  bs_heap *heap;
  BS_VEC(pv_gate) gates;
  BS_VEC(uint32_t) args;
  BS_VEC(pv_wire) wires; /* by leaf */
  BS_VEC(uint8_t) text;  /* by pv_circuit_write */
  uint32_t left, right;  /* gates */
  uint32_t bits;         /* of all leaves together; at most UINT32_MAX */
  bool integers;         /* every gate is one of integers */
} pv_circuit;

/* The elements of the plain program's terms that `wanted` marks, apart. */
typedef struct pv_bare {
  pv_values values;
  pv_elements elements;
  BS_VEC(pv_value) stack; /* of a circuit being taken out */
  uint32_t *gate;         /* by value; counts where `seen` is `round` */
  uint32_t *seen, round;
} pv_bare;

void pv_bare_init(pv_bare *, bs_heap *, const gs_program *, const pv_options *);
/* False when it is too much, or some operator is not looked into. */
bool pv_bare_elements(pv_bare *, const uint8_t *wanted);
/* lane.c: one value for all elements of a term, whose leaves are everywhere;
 * of terms of any size. */
bool pv_bare_lanes(pv_bare *, const uint8_t *wanted);
void pv_bare_done(pv_bare *);
/* The circuit of two values; false when it is not understood, or too large. */
bool pv_circuit_take(pv_bare *, pv_value left, pv_value right, pv_circuit *);
void pv_circuit_init(pv_circuit *, bs_heap *);
void pv_circuit_done(pv_circuit *);
/* Writes the circuit into its `text`: two circuits have one text where they are
 * the same but for where their leaves are. */
void pv_circuit_write(pv_circuit *);

#endif
