/* SPDX-License-Identifier: MIT */
/* kernel.h - a kernel and its arguments. */
#ifndef GLEN_PYTHON_KERNEL_H
#define GLEN_PYTHON_KERNEL_H

#include "core.h"

typedef struct argument {
  PyObject *name;
  const char *formats; /* letters that a buffer's elements may have */
  const glen_argument *is;
  Py_ssize_t element, bytes; /* of one element, of the whole array */
  PyObject *empty;           /* outputs: what a new array is made of */
  Py_buffer bound;           /* obj NULL: not bound */
  bool packed;               /* by kernel_pack: not needed any more */
} argument;

typedef struct kernel {
  PyObject_HEAD job *owner;
  glen_kernel *kernel;
  uint32_t n, n_in, n_free; /* arguments, inputs, inputs that are not bound */
  argument *arguments;
  PyObject *make, *convert;
} kernel;

/* Whether a call is given the input. */
static inline bool
is_given(const argument *a) {
  return !a->bound.obj && !a->packed;
}

/* call.c */
PyObject *kernel_call(PyObject *self, PyObject *args, PyObject *names);
/* The array for input k, converted where it must be; false with an exception.
 */
bool kernel_take(kernel *, uint32_t k, PyObject *given, Py_buffer *out);

#endif
