/* SPDX-License-Identifier: MIT */
/* kernel.c - compiled kernels as Python objects: what they are called with. */
#include "kernel.h"

#include <string.h>

PyTypeObject *kernel_type;

/* ---- its life ---- */

/* By number of glen_dtype. */
static const char *const formats[] = {
    [GLEN_F32] = "f", [GLEN_F64] = "d",  [GLEN_BF16] = "H", [GLEN_I8] = "b",
    [GLEN_U8] = "B?", [GLEN_I32] = "il", [GLEN_F16] = "e",  [GLEN_I16] = "h",
    [GLEN_U16] = "H", [GLEN_BOOL] = "?", [GLEN_I64] = "ql", [GLEN_U32] = "I",
};

static bool
describe(kernel *self, uint32_t k) {
  argument *a = &self->arguments[k];
  a->is = glen_kernel_argument(self->kernel, k);
  a->name = PyUnicode_InternFromString(a->is->name);
  a->formats = formats[a->is->type.dtype];
  a->element = (Py_ssize_t)glen_dtype_bytes(a->is->type.dtype);
  a->bytes = a->element;
  for (uint32_t d = 0; d < a->is->type.rank; d++)
    a->bytes *= (Py_ssize_t)a->is->type.shape[d];
  self->n_in += !a->is->output;
  return a->name != NULL;
}

static bool
fill(kernel *self, job *owner, glen_kernel *k) {
  self->kernel = k;
  self->owner = (job *)Py_NewRef((PyObject *)owner);
  self->n = glen_kernel_arguments(k);
  self->arguments = PyMem_Calloc(self->n + 1, sizeof *self->arguments);
  for (uint32_t j = 0; self->arguments && j < self->n; j++)
    if (!describe(self, j))
      return false;
  if (!self->arguments)
    PyErr_NoMemory();
  self->n_free = self->n_in;
  return self->arguments != NULL;
}

PyObject *
kernel_new(PyObject *type, job *owner, glen_kernel *k) {
  if (!k)
    Py_RETURN_NONE;
  kernel *self = NULL;
  if (!PyType_IsSubtype((PyTypeObject *)type, kernel_type))
    PyErr_SetString(PyExc_TypeError, "this is no type of kernels");
  else
    self = (kernel *)PyType_GenericNew((PyTypeObject *)type, NULL, NULL);
  if (self && fill(self, owner, k))
    return (PyObject *)self;
  if (self)
    Py_DECREF(self);
  else
    glen_kernel_free(k);
  return NULL;
}

static PyObject *
refuse_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  (void)type, (void)args, (void)names;
  PyErr_SetString(PyExc_TypeError, "glen.compile makes kernels");
  return NULL;
}

static void
free_arguments(kernel *self) {
  for (uint32_t k = 0; self->arguments && k < self->n; k++) {
    argument *a = &self->arguments[k];
    if (a->bound.obj)
      PyBuffer_Release(&a->bound);
    Py_XDECREF(a->name);
    Py_XDECREF(a->empty);
  }
  PyMem_Free(self->arguments);
}

static void
kernel_free(PyObject *object) {
  kernel *self = (kernel *)object;
  PyTypeObject *type = Py_TYPE(object);
  free_arguments(self);
  glen_kernel_free(self->kernel);
  Py_XDECREF((PyObject *)self->owner);
  Py_XDECREF(self->make);
  Py_XDECREF(self->convert);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- what it is ---- */

static PyObject *
shape_of(const glen_array *type) {
  PyObject *shape = PyTuple_New(type->rank);
  for (uint32_t d = 0; shape && d < type->rank; d++) {
    PyObject *size = PyLong_FromLongLong(type->shape[d]);
    if (!size || PyTuple_SetItem(shape, d, size))
      Py_CLEAR(shape);
  }
  return shape;
}

/* (name, is an output, dtype, shape, is bound, is to be packed). */
static PyObject *
kernel_arguments(PyObject *object, void *unused) {
  kernel *self = (kernel *)object;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (uint32_t k = 0; list && k < self->n; k++) {
    argument *a = &self->arguments[k];
    PyObject *item =
        Py_BuildValue("(OOsNOO)", a->name, a->is->output ? Py_True : Py_False,
                      glen_dtype_name(a->is->type.dtype),
                      shape_of(&a->is->type), is_given(a) ? Py_False : Py_True,
                      a->is->prepacked ? Py_True : Py_False);
    if (!item || PyList_Append(list, item))
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

static PyObject *
kernel_file(PyObject *object, void *unused) {
  const char *path = glen_kernel_file(((kernel *)object)->kernel);
  (void)unused;
  if (!path)
    Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(path);
}

static PyObject *
kernel_cached(PyObject *object, void *unused) {
  (void)unused;
  return PyBool_FromLong(glen_kernel_cached(((kernel *)object)->kernel));
}

static PyObject *
kernel_workspace(PyObject *object, void *unused) {
  (void)unused;
  return PyLong_FromSize_t(glen_kernel_workspace(((kernel *)object)->kernel));
}

static void
replace(PyObject **place, PyObject *with) {
  PyObject *before = *place;
  *place = Py_NewRef(with);
  Py_XDECREF(before);
}

/* make(*empties[k]) is a new array for output k; convert(kernel, name, dtype,
 * shape, object, is output) an array in C order, for what is none. */
static PyObject *
kernel_prepare(PyObject *object, PyObject *args) {
  kernel *self = (kernel *)object;
  PyObject *make, *convert, *empties;
  if (!PyArg_ParseTuple(args, "OOO!", &make, &convert, &PyTuple_Type, &empties))
    return NULL;
  if (PyTuple_Size(empties) != (Py_ssize_t)(self->n - self->n_in))
    return PyErr_Format(PyExc_ValueError, "one for each output");
  replace(&self->make, make);
  replace(&self->convert, convert);
  for (uint32_t k = self->n_in; k < self->n; k++)
    replace(&self->arguments[k].empty,
            PyTuple_GetItem(empties, k - self->n_in));
  Py_RETURN_NONE;
}

/* An input that is the same in all calls from now on. */
static PyObject *
kernel_bind(PyObject *object, PyObject *args) {
  kernel *self = (kernel *)object;
  unsigned k;
  PyObject *array;
  Py_buffer view;
  if (!PyArg_ParseTuple(args, "IO", &k, &array))
    return NULL;
  if (k >= self->n_in || !is_given(&self->arguments[k]))
    return PyErr_Format(PyExc_ValueError, "there is no input %u to bind", k);
  if (!kernel_take(self, k, array, &view))
    return NULL;
  self->arguments[k].bound = view;
  self->n_free--;
  Py_RETURN_NONE;
}

/* ---- inputs that are packed once ---- */

typedef struct packing {
  Py_buffer *views; /* one an input; obj NULL: not taken */
  void **pointers;
} packing;

/* The inputs that are to be packed, from a dictionary by name. */
static bool
take_packed(kernel *self, PyObject *arrays, packing *p) {
  for (uint32_t k = 0; k < self->n_in; k++) {
    argument *a = &self->arguments[k];
    PyObject *given = a->is->prepacked ? PyDict_GetItem(arrays, a->name) : NULL;
    if (a->is->prepacked && !given)
      return PyErr_Format(PyExc_TypeError, "the input %U is missing",
                          a->name) != NULL;
    if (given && !kernel_take(self, k, given, &p->views[k]))
      return false;
    p->pointers[k] = p->views[k].buf;
  }
  return true;
}

static bool
pack(kernel *self, packing *p) {
  int failed;
  Py_BEGIN_ALLOW_THREADS failed =
      glen_kernel_prepare(self->kernel, p->pointers);
  Py_END_ALLOW_THREADS if (failed) return PyErr_NoMemory() != NULL;
  for (uint32_t k = 0; k < self->n_in; k++) {
    argument *a = &self->arguments[k];
    self->n_free -= a->is->prepacked && !a->packed;
    a->packed = a->is->prepacked;
  }
  return true;
}

static PyObject *
kernel_pack(PyObject *object, PyObject *args) {
  kernel *self = (kernel *)object;
  PyObject *arrays;
  if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &arrays))
    return NULL;
  packing p = {PyMem_Calloc(self->n + 1, sizeof *p.views),
               PyMem_Calloc(self->n + 1, sizeof *p.pointers)};
  bool ok = p.views && p.pointers ? take_packed(self, arrays, &p)
                                  : PyErr_NoMemory() != NULL;
  ok = ok && pack(self, &p);
  for (uint32_t k = 0; p.views && k < self->n_in; k++)
    if (p.views[k].obj)
      PyBuffer_Release(&p.views[k]);
  PyMem_Free(p.views);
  PyMem_Free(p.pointers);
  if (!ok)
    return NULL;
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_pack", kernel_pack, METH_VARARGS, "_pack({name: array})"},
    {"_prepare", kernel_prepare, METH_VARARGS,
     "_prepare(make, convert, empties)"},
    {"_bind", kernel_bind, METH_VARARGS, "_bind(k, array)"},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef properties[] = {
    {"_arguments", kernel_arguments, NULL,
     "(name, output, dtype, shape, bound, packed)", NULL},
    {"file", kernel_file, NULL, "The shared object in the cache, or None.",
     NULL},
    {"cached", kernel_cached, NULL, "Was it found in the cache?", NULL},
    {"workspace", kernel_workspace, NULL, "The bytes of its workspace.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)refuse_new},
                              {Py_tp_dealloc, (void *)kernel_free},
                              {Py_tp_call, (void *)kernel_call},
                              {Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_doc, "A kernel in this process."},
                              {0, NULL}};

static PyType_Spec spec = {"glen._core.Kernel", sizeof(kernel), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

bool
make_kernel_type(PyObject *module) {
  kernel_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!kernel_type)
    return false;
  return PyModule_AddObjectRef(module, "Kernel", (PyObject *)kernel_type) == 0;
}
