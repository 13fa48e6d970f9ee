/* SPDX-License-Identifier: MIT */
/* place.c - what calls read and write, element by element. */
#include "poly/simulate/simulate_machine.h"
#include <string.h>

static const char *
name_of(const po_patch *x) {
  return x->array->name;
}

static int64_t
size_of(const po_patch *x) {
  return gs_dtype_table[x->array->dtype].bytes;
}

static po_bank *
bank_of(const po_machine_state *m, const po_patch *x) {
  return x->array->role == PO_MEMORY ? &m->banks[x->array->memory - 1] : NULL;
}

/* ---- elements ---- */

/* The next index of the patch and how far behind its first element it lies;
 * false past the last. */
static bool
advance(const po_operand *o, int64_t *index, int64_t *behind) {
  for (uint32_t d = o->rank; d-- > 0;) {
    *behind += o->stride[d];
    if (++index[d] < o->dim[d])
      return true;
    *behind -= o->dim[d] * o->stride[d];
    index[d] = 0;
  }
  return false;
}

static int64_t
last_of(const po_patch *x) {
  int64_t last = x->first;
  for (uint32_t d = 0; d < x->operand->rank; d++)
    last += (x->operand->dim[d] - 1) * x->operand->stride[d];
  return last;
}

/* ---- placed ---- */

static bool
is_within_dram(const po_machine_state *m, const po_patch *x) {
  int64_t n = m->arrays[x->number].elements;
  if (x->first >= 0 && last_of(x) < n)
    return true;
  return po_sim_fault(m, "beyond-array",
                      "reaches element %lld of %s, which has %lld",
                      (long long)(x->first < 0 ? x->first : last_of(x)),
                      name_of(x), (long long)n);
}

static bool
is_aligned(const po_machine_state *m, const po_patch *x, int64_t at) {
  const gs_memory *memory = bank_of(m, x)->memory;
  if (x->array->offset % memory->row)
    return po_sim_fault(m, "misaligned",
                        "uses %s, which begins at address %lld of %s, within a "
                        "row of %lld bytes",
                        name_of(x), (long long)x->array->offset, memory->name,
                        (long long)memory->row);
  if (at % size_of(x) || at % memory->align)
    return po_sim_fault(m, "misaligned",
                        "uses %s at address %lld of %s, whose alignment is "
                        "%lld",
                        name_of(x), (long long)at, memory->name,
                        (long long)memory->align);
  return true;
}

bool
po_patch_is_placed(const po_machine_state *m, const po_patch *x) {
  const po_bank *b = bank_of(m, x);
  if (!b)
    return is_within_dram(m, x);
  int64_t lo = x->array->offset + x->first * size_of(x);
  int64_t hi = x->array->offset + (last_of(x) + 1) * size_of(x);
  int64_t bank = b->memory->bytes / b->memory->banks;
  if (lo < 0 || hi > b->memory->bytes)
    return po_sim_fault(m, "beyond-memory",
                        "uses %s at bytes %lld to %lld of %s, which has %lld",
                        name_of(x), (long long)lo, (long long)hi - 1,
                        b->memory->name, (long long)b->memory->bytes);
  if (lo / bank != (hi - 1) / bank)
    return po_sim_fault(m, "crosses-banks",
                        "uses %s at bytes %lld to %lld of %s, across banks of "
                        "%lld",
                        name_of(x), (long long)lo, (long long)hi - 1,
                        b->memory->name, (long long)bank);
  return is_aligned(m, x, lo);
}

static int64_t
bank_number(const po_machine_state *m, const po_patch *x) {
  const gs_memory *memory = bank_of(m, x)->memory;
  int64_t at = x->array->offset + x->first * size_of(x);
  return at / (memory->bytes / memory->banks);
}

bool
po_banks_differ(const po_machine_state *m, const po_patch *x, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < i; j++) {
      const po_bank *a = bank_of(m, &x[i]), *b = bank_of(m, &x[j]);
      bool same = x[i].number == x[j].number && x[i].first == x[j].first;
      if (!a || a != b || a->memory->banks < 2 || same ||
          bank_number(m, &x[i]) != bank_number(m, &x[j]))
        continue;
      return po_sim_fault(m, "bank-conflict",
                          "reads %s and %s at one time, both from bank %lld "
                          "of %s",
                          name_of(&x[j]), name_of(&x[i]),
                          (long long)bank_number(m, &x[i]), a->memory->name);
    }
  return true;
}

/* ---- reading and writing ---- */

static bool
is_own(const po_machine_state *m, const po_patch *x, int64_t at) {
  const po_bank *b = bank_of(m, x);
  uint32_t owner = b->owner[at];
  if (owner == x->number + 1)
    return true;
  if (!owner)
    return po_sim_fault(m, "never-written",
                        "reads %s at address %lld of %s, where nothing was "
                        "written",
                        name_of(x), (long long)at, b->memory->name);
  return po_sim_fault(m, "lost-value",
                      "reads %s at address %lld of %s, where %s was written "
                      "last",
                      name_of(x), (long long)at, b->memory->name,
                      m->p->arrays.data[owner - 1].name);
}

bool
po_read_patch(const po_machine_state *m, const po_patch *x, gs_tensor *out) {
  const po_bank *b = bank_of(m, x);
  int64_t index[GS_MAX_RANK] = {0}, behind = 0, size = size_of(x);
  char *to = out->data;
  do {
    const char *from =
        (const char *)m->arrays[x->number].data + (x->first + behind) * size;
    int64_t at = x->array->offset + (x->first + behind) * size;
    if (b && !is_own(m, x, at))
      return false;
    memcpy(to, b ? (const char *)b->bytes + at : from, (size_t)size);
    to += size;
  } while (advance(x->operand, index, &behind));
  return true;
}

void
po_write_patch(const po_machine_state *m, const po_patch *x,
               const gs_tensor *from) {
  const po_bank *b = bank_of(m, x);
  int64_t index[GS_MAX_RANK] = {0}, behind = 0, size = size_of(x);
  const char *data = from->data;
  do {
    int64_t at = x->array->offset + (x->first + behind) * size;
    char *to =
        b ? (char *)b->bytes + at
          : (char *)m->arrays[x->number].data + (x->first + behind) * size;
    memcpy(to, data, (size_t)size);
    for (int64_t k = 0; b && k < size; k++)
      b->owner[at + k] = x->number + 1;
    data += size;
  } while (advance(x->operand, index, &behind));
}
