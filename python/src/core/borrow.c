/* SPDX-License-Identifier: MIT */
/* borrow.c - tensors of other libraries, by DLPack, as buffers.
 *
 * The structs are those of the protocol (version 0.x and 1.x); what they
 * describe stays where it lies, and its owner is told when it is not needed any
 * more. */
#include "borrow.h"

#include <string.h>

enum { ON_CPU = 1, MOST_DIMENSIONS = 64 };
enum { INTEGER = 0, UNSIGNED = 1, REAL = 2, BRAIN = 4, BOOLEAN = 6 };

typedef struct dl_tensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides; /* strides in elements; NULL: C order */
  uint64_t byte_offset;
} dl_tensor;

typedef struct dl_managed {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct dl_managed *);
} dl_managed;

enum { READ_ONLY = 1 };

typedef struct dl_versioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(struct dl_versioned *);
  uint64_t flags;
  dl_tensor tensor;
} dl_versioned;

typedef struct borrowed {
  PyObject_HEAD dl_managed *old; /* one of the three is there */
  dl_versioned *newer;
  PyObject *owner;
  char *data;
  int ndim;
  const char *format;
  Py_ssize_t element;
  int read_only;
  Py_ssize_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
} borrowed;

static PyTypeObject *borrowed_type;

/* ---- its type ---- */

static const struct kind {
  uint8_t code, bits;
  const char *format;
} kinds[] = {
    {REAL, 16, "e"},     {REAL, 32, "f"},     {REAL, 64, "d"},
    {BRAIN, 16, "H"},    {INTEGER, 8, "b"},   {INTEGER, 16, "h"},
    {INTEGER, 32, "i"},  {INTEGER, 64, "q"},  {UNSIGNED, 8, "B"},
    {UNSIGNED, 16, "H"}, {UNSIGNED, 32, "I"}, {UNSIGNED, 64, "Q"},
    {BOOLEAN, 8, "?"},
};

static bool
find_format(borrowed *self, const dl_tensor *t) {
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (t->dtype.code == kinds[k].code && t->dtype.bits == kinds[k].bits &&
        t->dtype.lanes == 1) {
      self->format = kinds[k].format;
      self->element = kinds[k].bits / 8;
      return true;
    }
  PyErr_Format(PyExc_BufferError,
               "a tensor of elements of kind %d with %d bits cannot be taken",
               t->dtype.code, t->dtype.bits);
  return false;
}

/* strides count elements; NULL: C order. */
static void
measure(borrowed *self, int ndim, const int64_t *shape,
        const int64_t *strides) {
  Py_ssize_t stride = self->element;
  self->ndim = ndim;
  for (int d = ndim; d-- > 0; stride *= shape[d]) {
    self->shape[d] = (Py_ssize_t)shape[d];
    self->strides[d] =
        strides ? (Py_ssize_t)strides[d] * self->element : stride;
  }
}

static bool
describe(borrowed *self, const dl_tensor *t) {
  if (t->device.type != ON_CPU) {
    PyErr_SetString(PyExc_BufferError, "the tensor is not in the memory of the "
                                       "CPU: move it there first");
    return false;
  }
  if (t->ndim < 0 || t->ndim > MOST_DIMENSIONS) {
    PyErr_SetString(PyExc_BufferError, "the tensor has too many dimensions");
    return false;
  }
  if (!find_format(self, t))
    return false;
  measure(self, t->ndim, t->shape, t->strides);
  self->data = (char *)t->data + t->byte_offset;
  return true;
}

/* ---- its life ---- */

static void
borrowed_free(PyObject *object) {
  borrowed *self = (borrowed *)object;
  PyTypeObject *type = Py_TYPE(object);
  if (self->old && self->old->deleter)
    self->old->deleter(self->old);
  if (self->newer && self->newer->deleter)
    self->newer->deleter(self->newer);
  Py_XDECREF(self->owner);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* A capsule that was consumed is renamed, as the protocol wants it.  NULL with
 * an exception. */
static const dl_tensor *
consume_newer(borrowed *self, PyObject *capsule) {
  self->newer = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  if (!self->newer || PyCapsule_SetName(capsule, "used_dltensor_versioned"))
    return NULL;
  self->read_only = (self->newer->flags & READ_ONLY) != 0;
  if (self->newer->version.major == 1)
    return &self->newer->tensor;
  PyErr_SetString(PyExc_BufferError, "this version of DLPack is not known");
  return NULL;
}

static const dl_tensor *
consume(borrowed *self, PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    return consume_newer(self, capsule);
  self->old = PyCapsule_GetPointer(capsule, "dltensor");
  if (!self->old || PyCapsule_SetName(capsule, "used_dltensor"))
    return NULL;
  return &self->old->tensor;
}

/* Asks for the newer form first, which older exporters do not know. */
static PyObject *
capsule_of(PyObject *given) {
  PyObject *method = PyObject_GetAttrString(given, "__dlpack__");
  PyObject *none = method ? PyTuple_New(0) : NULL;
  PyObject *words = none ? Py_BuildValue("{s(ii)}", "max_version", 1, 0) : NULL;
  PyObject *capsule = words ? PyObject_Call(method, none, words) : NULL;
  if (words && !capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    capsule = PyObject_Call(method, none, NULL);
  }
  Py_XDECREF(words);
  Py_XDECREF(none);
  Py_XDECREF(method);
  return capsule;
}

PyObject *
borrow(PyObject *module, PyObject *given) {
  (void)module;
  PyObject *capsule = capsule_of(given);
  borrowed *self =
      capsule ? (borrowed *)PyType_GenericNew(borrowed_type, NULL, NULL) : NULL;
  const dl_tensor *tensor = self ? consume(self, capsule) : NULL;
  if (self && (!tensor || !describe(self, tensor))) {
    Py_DECREF((PyObject *)self);
    self = NULL;
  }
  Py_XDECREF(capsule);
  return (PyObject *)self;
}

PyObject *
lend(PyObject *owner, const glen_array *a) {
  static const char *const formats[] = {
      [GLEN_F32] = "f", [GLEN_F64] = "d",  [GLEN_BF16] = "H", [GLEN_I8] = "b",
      [GLEN_U8] = "B",  [GLEN_I32] = "i",  [GLEN_F16] = "e",  [GLEN_I16] = "h",
      [GLEN_U16] = "H", [GLEN_BOOL] = "?", [GLEN_I64] = "q",  [GLEN_U32] = "I"};
  borrowed *self = (borrowed *)PyType_GenericNew(borrowed_type, NULL, NULL);
  if (!self)
    return NULL;
  self->owner = Py_NewRef(owner);
  self->read_only = 1;
  self->data = a->data;
  self->format = formats[a->dtype];
  self->element = (Py_ssize_t)glen_dtype_bytes(a->dtype);
  measure(self, (int)a->rank, a->shape, NULL);
  return (PyObject *)self;
}

/* ---- as a buffer ---- */

static int
get_buffer(PyObject *object, Py_buffer *view, int flags) {
  borrowed *self = (borrowed *)object;
  if (self->read_only && (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    PyErr_SetString(PyExc_BufferError, "the tensor cannot be written to");
    view->obj = NULL;
    return -1;
  }
  *view = (Py_buffer){.buf = self->data,
                      .obj = Py_NewRef(object),
                      .len = self->element,
                      .itemsize = self->element,
                      .readonly = self->read_only,
                      .ndim = self->ndim,
                      .format = (char *)self->format,
                      .shape = self->shape,
                      .strides = self->strides};
  for (int d = 0; d < self->ndim; d++)
    view->len *= self->shape[d];
  return 0;
}

static PyType_Slot slots[] = {{Py_tp_dealloc, (void *)borrowed_free},
                              {Py_bf_getbuffer, (void *)get_buffer},
                              {Py_tp_doc, "A tensor of another library."},
                              {0, NULL}};

static PyType_Spec spec = {"glen._core.Borrowed", sizeof(borrowed), 0,
                           Py_TPFLAGS_DEFAULT, slots};

bool
make_borrowed_type(void) {
  borrowed_type = (PyTypeObject *)PyType_FromSpec(&spec);
  return borrowed_type != NULL;
}
