/* SPDX-License-Identifier: MIT */
/* borrow.h - tensors of other libraries by DLPack. */
#ifndef GLEN_PYTHON_BORROW_H
#define GLEN_PYTHON_BORROW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

bool make_borrowed_type(void);
/* An object with the buffer protocol where the tensor lies; NULL with an
 * exception. */
PyObject *borrow(PyObject *module, PyObject *given);

#endif
