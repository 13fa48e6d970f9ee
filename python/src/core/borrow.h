/* SPDX-License-Identifier: MIT */
/* borrow.h - tensors of other libraries by DLPack, and those of a job, as
 * buffers. */
#ifndef GLEN_PYTHON_BORROW_H
#define GLEN_PYTHON_BORROW_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <glen/glen.h>

bool make_borrowed_type(void);
/* An object with the buffer protocol where the tensor lies; NULL with an
 * exception. */
PyObject *borrow(PyObject *module, PyObject *given);
/* An object with the buffer protocol, read-only, where an array lies that lives
 * as long as its owner; NULL with an exception. */
PyObject *lend(PyObject *owner, const glen_array *);

#endif
