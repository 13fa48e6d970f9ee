/* SPDX-License-Identifier: MIT */
/* call.c - a call of a kernel: arrays are taken where they lie if their type,
 * order and alignment allow, and converted if not. */
#include "kernel.h"
#include "borrow.h"

#include <string.h>

/* Calls with few arguments need no memory of their own. */
enum { FEW = 12 };

typedef struct frame {
  kernel *kernel;
  Py_buffer *views;   /* one an argument; obj NULL: not taken */
  PyObject **results; /* one an output: what the caller gets */
  void **pointers;
  char *beside; /* 1: the array is not the caller's, but made for the call */
  Py_buffer few_views[FEW];
  PyObject *few_results[FEW];
  void *few_pointers[FEW];
  char few_beside[FEW];
} frame;

/* ---- one array ---- */

static bool
has_format(const argument *a, const char *format) {
  format += format && (*format == '@' || *format == '=' ||
                       *format == (PY_BIG_ENDIAN ? '>' : '<'));
  return format && *format && strchr(a->formats, *format) && !format[1];
}

static bool
fits(const argument *a, const Py_buffer *view) {
  const glen_array *type = &a->is->type;
  if (view->itemsize != a->element || view->ndim != (int)type->rank ||
      !has_format(a, view->format) || (size_t)view->buf % (size_t)a->element)
    return false;
  Py_ssize_t stride = a->element;
  for (uint32_t d = type->rank; d-- > 0; stride *= view->shape[d])
    if (view->shape[d] != type->shape[d] ||
        (view->shape[d] > 1 && view->strides && view->strides[d] != stride))
      return false;
  return true;
}

static bool
take_buffer(const argument *a, PyObject *given, Py_buffer *out) {
  int flags = PyBUF_FORMAT | PyBUF_STRIDES | PyBUF_WRITABLE * a->is->output;
  if (!PyObject_GetBuffer(given, out, flags)) {
    if (fits(a, out))
      return true;
    PyBuffer_Release(out);
  }
  PyErr_Clear();
  out->obj = NULL;
  return false;
}

/* Whether the object itself can be taken; no exception where it cannot. */
static bool
take_as_it_is(const argument *a, PyObject *given, Py_buffer *out) {
  if (PyObject_CheckBuffer(given))
    return take_buffer(a, given, out);
  PyObject *tensor = borrow(NULL, given);
  bool ok = tensor && take_buffer(a, tensor, out);
  Py_XDECREF(tensor); /* the view keeps it */
  PyErr_Clear();
  return ok;
}

/* A new reference to an array in C order. */
static PyObject *
convert(kernel *self, uint32_t k, PyObject *given) {
  const argument *a = &self->arguments[k];
  return PyObject_CallFunction(self->convert, "OOsIOO", (PyObject *)self,
                               a->name, glen_dtype_name(a->is->type.dtype), k,
                               given, a->is->output ? Py_True : Py_False);
}

static bool
take_converted(kernel *self, uint32_t k, PyObject *given, Py_buffer *out) {
  PyObject *array = convert(self, k, given);
  if (!array)
    return false;
  bool ok = take_as_it_is(&self->arguments[k], array, out);
  Py_DECREF(array); /* the view keeps it */
  if (!ok)
    PyErr_Format(PyExc_TypeError, "the array for %U cannot be read",
                 self->arguments[k].name);
  return ok;
}

bool
kernel_take(kernel *self, uint32_t k, PyObject *given, Py_buffer *out) {
  return take_as_it_is(&self->arguments[k], given, out) ||
         take_converted(self, k, given, out);
}

/* ---- inputs ---- */

static PyObject *
by_name(const kernel *self, uint32_t k, PyObject *names) {
  return names ? PyDict_GetItem(names, self->arguments[k].name) : NULL;
}

static Py_ssize_t
count_named(const kernel *self, PyObject *names) {
  Py_ssize_t n = 0;
  for (uint32_t k = 0; names && k < self->n_in; k++)
    n += is_given(&self->arguments[k]) && by_name(self, k, names);
  return n;
}

static bool
give_each(frame *f, PyObject *args, PyObject *names) {
  kernel *self = f->kernel;
  Py_ssize_t place = 0;
  for (uint32_t k = 0; k < self->n_in; k++) {
    f->pointers[k] = self->arguments[k].bound.buf;
    if (!is_given(&self->arguments[k]))
      continue;
    PyObject *given = by_name(self, k, names);
    if (!given && place < PyTuple_Size(args))
      given = PyTuple_GetItem(args, place++);
    if (!given)
      return PyErr_Format(PyExc_TypeError, "the input %U is missing",
                          self->arguments[k].name) != NULL;
    if (!kernel_take(self, k, given, &f->views[k]))
      return false;
    f->pointers[k] = f->views[k].buf;
  }
  return true;
}

/* Positional arguments are for the inputs that no name was given for, in
 * order. */
static bool
take_inputs(frame *f, PyObject *args, PyObject *names, Py_ssize_t named) {
  Py_ssize_t all = PyTuple_Size(args) + named;
  if (all <= (Py_ssize_t)f->kernel->n_free)
    return give_each(f, args, names);
  PyErr_Format(PyExc_TypeError, "%zd arrays are given for %u inputs", all,
               f->kernel->n_free);
  return false;
}

/* ---- outputs ---- */

static bool
overlap(const void *a, Py_ssize_t size_a, const void *b, Py_ssize_t size_b) {
  const char *p = a, *q = b;
  return p < q + size_b && q < p + size_a;
}

/* The kernel may read an input after it wrote there. */
static bool
meets_another(const frame *f, uint32_t k) {
  const argument *a = f->kernel->arguments;
  for (uint32_t j = 0; j < k; j++)
    if (f->pointers[j] &&
        overlap(f->pointers[j], a[j].bytes, f->pointers[k], a[k].bytes))
      return true;
  return false;
}

static bool
take_beside(frame *f, uint32_t k, PyObject *given) {
  f->beside[k] = 1;
  if (!take_converted(f->kernel, k, given, &f->views[k]))
    return false;
  f->pointers[k] = f->views[k].buf;
  return true;
}

static bool
take_output(frame *f, uint32_t k, PyObject *given) {
  kernel *self = f->kernel;
  f->results[k - self->n_in] = Py_NewRef(given);
  if (!take_as_it_is(&self->arguments[k], given, &f->views[k]))
    return take_beside(f, k, given);
  f->pointers[k] = f->views[k].buf;
  if (!meets_another(f, k))
    return true;
  PyBuffer_Release(&f->views[k]);
  f->views[k].obj = NULL;
  return take_beside(f, k, given);
}

static bool
make_output(frame *f, uint32_t k) {
  kernel *self = f->kernel;
  PyObject *made = PyObject_CallObject(self->make, self->arguments[k].empty);
  bool ok = made && take_output(f, k, made);
  Py_XDECREF(made);
  return ok;
}

/* out: an array, or a sequence of them where there are several outputs. */
static bool
take_given(frame *f, PyObject *out) {
  uint32_t first = f->kernel->n_in, n = f->kernel->n - first;
  if (n == 1 && !PyTuple_Check(out) && !PyList_Check(out))
    return take_output(f, first, out);
  if (PySequence_Size(out) != (Py_ssize_t)n) {
    PyErr_Format(PyExc_TypeError, "out is a sequence of %u arrays", n);
    return false;
  }
  bool ok = true;
  for (uint32_t k = 0; ok && k < n; k++) {
    PyObject *given = PySequence_GetItem(out, k);
    ok = given && take_output(f, first + k, given);
    Py_XDECREF(given);
  }
  return ok;
}

static bool
take_outputs(frame *f, PyObject *out) {
  if (out && out != Py_None)
    return take_given(f, out);
  for (uint32_t k = f->kernel->n_in; k < f->kernel->n; k++)
    if (!make_output(f, k))
      return false;
  return true;
}

/* What was computed beside its place goes there. */
static bool
write_back(frame *f) {
  kernel *self = f->kernel;
  for (uint32_t k = self->n_in; k < self->n; k++) {
    PyObject *to = f->results[k - self->n_in];
    if (!f->beside[k])
      continue;
    PyObject *done = PyObject_CallMethod((PyObject *)self, "_write_back", "IOO",
                                         k, f->views[k].obj, to);
    if (!done)
      return false;
    Py_DECREF(done);
  }
  return true;
}

/* ---- the call ---- */

static bool
begin(frame *f, kernel *self) {
  f->kernel = self;
  f->views = f->few_views;
  f->results = f->few_results;
  f->pointers = f->few_pointers;
  f->beside = f->few_beside;
  if (self->n > FEW) {
    size_t one =
        sizeof *f->views + sizeof *f->results + sizeof *f->pointers + 1;
    f->views = PyMem_Malloc(self->n * one);
    if (!f->views)
      return PyErr_NoMemory() != NULL;
    f->results = (PyObject **)(f->views + self->n);
    f->pointers = (void **)(f->results + self->n);
    f->beside = (char *)(f->pointers + self->n);
  }
  for (uint32_t k = 0; k < self->n; k++) {
    f->views[k].obj = NULL;
    f->results[k] = NULL;
    f->beside[k] = 0;
  }
  return true;
}

static void
end(frame *f) {
  for (uint32_t k = 0; k < f->kernel->n; k++) {
    if (f->views[k].obj)
      PyBuffer_Release(&f->views[k]);
    Py_XDECREF(f->results[k]);
  }
  if (f->views != f->few_views)
    PyMem_Free(f->views);
}

static bool
know_names(kernel *self, PyObject *names, Py_ssize_t named) {
  PyObject *name, *value;
  Py_ssize_t at = 0;
  if (!names || PyDict_Size(names) == named)
    return true;
  while (PyDict_Next(names, &at, &name, &value)) {
    bool known = PyUnicode_CompareWithASCIIString(name, "out") == 0;
    for (uint32_t k = 0; k < self->n_in && !known; k++)
      known = is_given(&self->arguments[k]) &&
              PyUnicode_Compare(name, self->arguments[k].name) == 0;
    if (!known)
      PyErr_Format(PyExc_TypeError, "the kernel has no input named %U", name);
  }
  return false;
}

static bool
run(frame *f) {
  int failed;
  glen_kernel *k = f->kernel->kernel;
  Py_BEGIN_ALLOW_THREADS failed = glen_kernel_call(k, f->pointers, NULL);
  Py_END_ALLOW_THREADS if (failed == GLEN_KERNEL_NO_MEMORY) PyErr_NoMemory();
  else if (failed)
      PyErr_Format(PyExc_RuntimeError, "the kernel failed: %d", failed);
  return !failed;
}

static PyObject *
results_of(frame *f) {
  uint32_t n = f->kernel->n - f->kernel->n_in;
  if (n == 1)
    return Py_NewRef(f->results[0]);
  PyObject *all = PyTuple_New(n);
  for (uint32_t k = 0; all && k < n; k++)
    PyTuple_SetItem(all, k, Py_NewRef(f->results[k]));
  return all;
}

PyObject *
kernel_call(PyObject *object, PyObject *args, PyObject *names) {
  kernel *self = (kernel *)object;
  frame f;
  PyObject *out = names ? PyDict_GetItemString(names, "out") : NULL;
  PyObject *answer = NULL;
  Py_ssize_t named = count_named(self, names);
  if (!self->make)
    return PyErr_Format(PyExc_RuntimeError, "the kernel is not prepared");
  if (!begin(&f, self))
    return NULL;
  if (know_names(self, names, named + (out != NULL)) &&
      take_inputs(&f, args, names, named) && take_outputs(&f, out) && run(&f) &&
      write_back(&f))
    answer = results_of(&f);
  end(&f);
  return answer;
}
