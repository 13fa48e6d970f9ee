/* SPDX-License-Identifier: MIT */
/* core.h - the extension module of the Python package: jobs and kernels.
 *
 * A job is a context of libglen with what was read into it and made in it, so
 * that everything goes when the job does.  It is used by one thread at a time,
 * which a lock sees to, while Python's own lock is released. */
#ifndef GLEN_PYTHON_CORE_H
#define GLEN_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <glen/glen.h>

enum { PROGRAMS = 2 };

typedef struct job {
  PyObject_HEAD glen_context *glen;
  PyThread_type_lock lock;
  glen_target *target;
  glen_program *programs[PROGRAMS];
  glen_rules *rules;
  glen_result *result;
  glen_loops *loops;
  glen_tensors *data; /* inputs of the first program */
  PyObject *progress; /* called after an iteration, or NULL */
  int raised;         /* it failed, and its exception is pending */
} job;

extern PyTypeObject *job_type, *kernel_type;

bool make_job_type(PyObject *module);
bool make_kernel_type(PyObject *module);
/* An object of the type, which is that of kernels or below it, that keeps the
 * job.  None where there is no kernel, NULL with an exception. */
PyObject *kernel_new(PyObject *type, job *, glen_kernel *);

/* Runs the call with the job's lock and without Python's. */
#define WITHOUT_GIL(self, call)                                                \
  do {                                                                         \
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock((self)->lock, WAIT_LOCK);     \
    call;                                                                      \
    PyThread_release_lock((self)->lock);                                       \
    Py_END_ALLOW_THREADS                                                       \
  } while (0)

/* Strings of Python as those of C: a borrowed list of UTF-8 texts, to be freed
 * by PyMem_Free; NULL with an exception.  The sequence is a tuple. */
const char **texts_of(PyObject *tuple, uint32_t *n);

/* job_options.c: the methods that take many options. */
PyObject *job_saturate(PyObject *self, PyObject *args, PyObject *names);
PyObject *job_lower(PyObject *self, PyObject *args, PyObject *names);
PyObject *job_jit(PyObject *self, PyObject *args, PyObject *names);
/* job_answers.c: what a job tells. */
PyObject *job_diagnostics(PyObject *self, PyObject *unused);
PyObject *job_text(PyObject *self, PyObject *args);
PyObject *job_summary(PyObject *self, PyObject *unused);
PyObject *job_prove(PyObject *self, PyObject *unused);
PyObject *job_rule_names(PyObject *self, PyObject *unused);
PyObject *job_prove_rule(PyObject *self, PyObject *args);
PyObject *job_inputs(PyObject *self, PyObject *unused);
PyObject *job_data(PyObject *self, PyObject *unused);
PyObject *job_stored(PyObject *self, PyObject *unused);
PyObject *job_files(PyObject *self, PyObject *unused);
/* job_tune.c */
PyObject *job_canonical(PyObject *self, PyObject *unused);
PyObject *job_layers(PyObject *self, PyObject *unused);
PyObject *job_tune(PyObject *self, PyObject *args, PyObject *names);

/* True, or false with an exception that says what is not there yet. */
bool needs(const void *thing, const char *what);

#endif
