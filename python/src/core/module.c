/* SPDX-License-Identifier: MIT */
/* module.c - the module glen._core. */
#include "borrow.h"
#include "core.h"

static PyObject *
find(PyObject *module, PyObject *args) {
  const char *kind, *name;
  char path[4096];
  (void)module;
  if (!PyArg_ParseTuple(args, "sz", &kind, &name))
    return NULL;
  glen_data what = kind[0] == 'r' ? GLEN_DATA_RULES : GLEN_DATA_TARGET;
  if (!glen_find(what, name, path, sizeof path))
    Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(path);
}

static PyObject *
data_folder(PyObject *module, PyObject *unused) {
  char path[4096];
  (void)module, (void)unused;
  if (!glen_data_folder(path, sizeof path))
    Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(path);
}

static PyMethodDef functions[] = {
    {"find", find, METH_VARARGS, "find(kind, name) -> path | None"},
    {"data_folder", data_folder, METH_NOARGS, "data_folder() -> path | None"},
    {"borrow", borrow, METH_O, "borrow(tensor) -> buffer"},
    {NULL, NULL, 0, NULL}};

static int
fill(PyObject *module) {
  if (!make_job_type(module) || !make_kernel_type(module) ||
      !make_borrowed_type())
    return -1;
  return PyModule_AddStringConstant(module, "version", glen_version());
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "glen._core",
                                 .m_doc = "The binding of libglen.",
                                 .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC
PyInit__core(void) {
  return PyModuleDef_Init(&definition);
}
