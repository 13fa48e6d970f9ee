/* SPDX-License-Identifier: MIT */
/* job.c - a context of libglen and what is read into it. */
#include "core.h"

PyTypeObject *job_type;

/* ---- helpers ---- */

bool
needs(const void *thing, const char *what) {
  if (!thing)
    PyErr_Format(PyExc_RuntimeError, "the job has no %s yet", what);
  return thing != NULL;
}

const char **
texts_of(PyObject *tuple, uint32_t *n) {
  Py_ssize_t size = PyTuple_Size(tuple);
  if (size < 0)
    return NULL;
  const char **texts = PyMem_Calloc((size_t)size + 1, sizeof *texts);
  if (!texts)
    return (const char **)PyErr_NoMemory();
  for (Py_ssize_t k = 0; k < size; k++) {
    texts[k] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, k), NULL);
    if (!texts[k]) {
      PyMem_Free(texts);
      return NULL;
    }
  }
  *n = (uint32_t)size;
  return texts;
}

/* ---- its life ---- */

static PyObject *
job_new(PyTypeObject *type, PyObject *args, PyObject *names) {
  Py_ssize_t bytes = 0;
  double seconds = 0;
  static char *words[] = {"seconds", "bytes", NULL};
  if (!PyArg_ParseTupleAndKeywords(args, names, "|dn", words, &seconds, &bytes))
    return NULL;
  job *self = (job *)PyType_GenericNew(type, NULL, NULL);
  if (!self)
    return NULL;
  self->lock = PyThread_allocate_lock();
  self->glen = glen_context_new(NULL, 0);
  if (!self->lock || !self->glen) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  glen_limit(self->glen, seconds, bytes > 0 ? (size_t)bytes : 0);
  return (PyObject *)self;
}

static void
job_free(PyObject *object) {
  job *self = (job *)object;
  PyTypeObject *type = Py_TYPE(object);
  /* What is only freed with its context is freed by that. */
  glen_loops_free(self->loops);
  glen_tensors_free(self->data);
  glen_result_free(self->result);
  glen_context_free(self->glen);
  if (self->lock)
    PyThread_free_lock(self->lock);
  Py_XDECREF(self->progress);
  PyObject_Free(object);
  Py_DECREF(type);
}

/* ---- reading ---- */

/* True for what was read; false is the answer that diagnostics explain. */
static PyObject *
answer(const void *thing) {
  return PyBool_FromLong(thing != NULL);
}

static PyObject *
job_target(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  const char *name, *text;
  Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "zz#", &name, &text, &size))
    return NULL;
  WITHOUT_GIL(self, self->target = text ? glen_target_parse(self->glen, name,
                                                            text, (size_t)size)
                                        : glen_target_named(self->glen, name));
  return answer(self->target);
}

static bool
is_place(unsigned slot) {
  if (slot >= PROGRAMS)
    PyErr_Format(PyExc_ValueError, "no place %u for a program", slot);
  return slot < PROGRAMS;
}

/* With numbers for its sizes. */
static glen_program *
parse_program(job *self, const char *name, const char *text, size_t size,
              const char **sizes, uint32_t n) {
  return n ? glen_program_parse_at(self->glen, self->target, name, text, size,
                                   sizes, n)
           : glen_program_parse(self->glen, self->target, name, text, size);
}

static PyObject *
job_program(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  PyObject *sizes = NULL;
  const char *name, *text;
  Py_ssize_t size;
  unsigned slot;
  uint32_t n = 0;
  if (!PyArg_ParseTuple(args, "Iss#|O!", &slot, &name, &text, &size,
                        &PyTuple_Type, &sizes) ||
      !is_place(slot))
    return NULL;
  const char **texts = sizes ? texts_of(sizes, &n) : NULL;
  if (sizes && !texts)
    return NULL;
  WITHOUT_GIL(self, self->programs[slot] = parse_program(
                        self, name, text, (size_t)size, texts, n));
  PyMem_Free(texts);
  return answer(self->programs[slot]);
}

/* A model with the sizes that it leaves open. */
static PyObject *
job_model(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  PyObject *sizes;
  const char *path;
  unsigned slot;
  uint32_t n;
  if (!PyArg_ParseTuple(args, "IsO!", &slot, &path, &PyTuple_Type, &sizes) ||
      !is_place(slot))
    return NULL;
  const char **texts = texts_of(sizes, &n);
  if (!texts)
    return NULL;
  WITHOUT_GIL(self, glen_model_dims(self->glen, texts, n);
              self->programs[slot] =
                  glen_program_load(self->glen, self->target, path);
              glen_model_dims(self->glen, NULL, 0));
  PyMem_Free(texts);
  return answer(self->programs[slot]);
}

static void
read_rules(job *self, const char **paths, uint32_t n, const char **params,
           uint32_t n_params, const char *name, const char *text, size_t size) {
  self->rules = text ? glen_rules_parse(self->glen, self->target, paths, n,
                                        name, text, size)
                     : glen_rules_load(self->glen, self->target, paths, n,
                                       params, n_params);
}

static PyObject *
job_rules(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  PyObject *path_tuple, *param_tuple;
  const char *name, *text;
  Py_ssize_t size;
  uint32_t n, n_params;
  if (!PyArg_ParseTuple(args, "O!O!zz#", &PyTuple_Type, &path_tuple,
                        &PyTuple_Type, &param_tuple, &name, &text, &size))
    return NULL;
  const char **paths = texts_of(path_tuple, &n);
  const char **params = paths ? texts_of(param_tuple, &n_params) : NULL;
  if (params)
    WITHOUT_GIL(self, read_rules(self, paths, n, params, n_params, name, text,
                                 (size_t)size));
  PyMem_Free(paths);
  PyMem_Free(params);
  return params ? answer(self->rules) : NULL;
}

/* Forgets what was said, so that a job that is used on does not grow. */
static PyObject *
job_clear(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  (void)unused;
  WITHOUT_GIL(self, glen_clear_diagnostics(self->glen));
  Py_RETURN_NONE;
}

static PyObject *
job_load_kernel(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  glen_kernel *kernel;
  const char *path;
  PyObject *type;
  unsigned threads;
  if (!PyArg_ParseTuple(args, "O!sI", &PyType_Type, &type, &path, &threads))
    return NULL;
  WITHOUT_GIL(self, kernel = glen_kernel_load(self->glen, path, threads));
  return kernel_new(type, self, kernel);
}

static PyObject *
job_verify(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  const char *verdict;
  (void)unused;
  if (!needs(self->result, "result"))
    return NULL;
  WITHOUT_GIL(self, verdict = glen_result_verify(self->glen, self->result));
  return Py_BuildValue("z", verdict);
}

static PyObject *
job_is_mapped_to(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  (void)unused;
  if (!needs(self->target, "target"))
    return NULL;
  return PyBool_FromLong(glen_target_is_mapped_to(self->target));
}

/* Safe beside a call that another thread is in: that is what it is for. */
static PyObject *
job_interrupt(PyObject *object, PyObject *unused) {
  (void)unused;
  return PyBool_FromLong(glen_interrupt(((job *)object)->glen));
}

#define WORDS(f) (PyCFunction)(void (*)(void))(f), METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"target", job_target, METH_VARARGS, "target(name, text) -> bool"},
    {"program", job_program, METH_VARARGS,
     "program(slot, name, text, sizes=()) -> bool"},
    {"model", job_model, METH_VARARGS, "model(slot, path, sizes) -> bool"},
    {"rules", job_rules, METH_VARARGS,
     "rules(paths, params, name, text) -> bool"},
    {"saturate", WORDS(job_saturate), "saturate(**options) -> bool"},
    {"lower", WORDS(job_lower), "lower(**options) -> bool"},
    {"canonical", job_canonical, METH_NOARGS, "canonical() -> str | None"},
    {"layers", job_layers, METH_NOARGS, "layers() -> [(name, text)] | None"},
    {"tune", WORDS(job_tune), "tune(**options) -> dict | None"},
    {"jit", WORDS(job_jit), "jit(**options) -> Kernel | None"},
    {"load_kernel", job_load_kernel, METH_VARARGS,
     "load_kernel(type, path, threads) -> Kernel | None"},
    {"is_mapped_to", job_is_mapped_to, METH_NOARGS, "is_mapped_to() -> bool"},
    {"verify", job_verify, METH_NOARGS, "verify() -> str | None"},
    {"text", job_text, METH_VARARGS, "text(what) -> str"},
    {"summary", job_summary, METH_NOARGS, "summary() -> dict"},
    {"prove", job_prove, METH_NOARGS, "prove() -> dict | None"},
    {"rule_names", job_rule_names, METH_NOARGS, "rule_names() -> list"},
    {"prove_rule", job_prove_rule, METH_VARARGS,
     "prove_rule(k, seed, shapes) -> dict | None"},
    {"inputs", job_inputs, METH_NOARGS, "inputs() -> (names, outputs)"},
    {"data", job_data, METH_NOARGS, "data() -> {name: buffer} | None"},
    {"stored", job_stored, METH_NOARGS, "stored() -> names of inputs"},
    {"files", job_files, METH_NOARGS, "files() -> list of paths"},
    {"diagnostics", job_diagnostics, METH_NOARGS, "diagnostics() -> list"},
    {"clear", job_clear, METH_NOARGS, "clear()"},
    {"interrupt", job_interrupt, METH_NOARGS, "interrupt() -> bool"},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)job_new},
    {Py_tp_dealloc, (void *)job_free},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A context of libglen with what was read into it."},
    {0, NULL}};

static PyType_Spec spec = {"glen._core.Job", sizeof(job), 0, Py_TPFLAGS_DEFAULT,
                           slots};

bool
make_job_type(PyObject *module) {
  job_type = (PyTypeObject *)PyType_FromSpec(&spec);
  if (!job_type)
    return false;
  return PyModule_AddObjectRef(module, "Job", (PyObject *)job_type) == 0;
}
