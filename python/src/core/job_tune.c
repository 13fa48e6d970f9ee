/* SPDX-License-Identifier: MIT */
/* job_tune.c - layers of a program, and schedules that are measured. */
#include "core.h"

/* ---- layers ---- */

static PyObject *
text_of(job *self, glen_program *p) {
  const char *text = NULL;
  if (p)
    WITHOUT_GIL(self, text = glen_program_text(self->glen, p, false);
                glen_program_free(p));
  return Py_BuildValue("z", text);
}

PyObject *
job_canonical(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  glen_program *p;
  (void)unused;
  if (!needs(self->programs[0], "program"))
    return NULL;
  WITHOUT_GIL(self, p = glen_program_canonical(self->glen, self->programs[0]));
  return text_of(self, p);
}

static PyObject *
layer(job *self, const glen_layers *layers, uint32_t k) {
  glen_program *p;
  WITHOUT_GIL(self, p = glen_layer_program(self->glen, layers, k));
  return Py_BuildValue("(sN)", glen_layer_name(layers, k), text_of(self, p));
}

static PyObject *
list_layers(job *self, const glen_layers *layers) {
  PyObject *list = PyList_New(0);
  for (uint32_t k = 0; list && k < glen_layers_count(layers); k++) {
    PyObject *item = layer(self, layers, k);
    if (!item || PyList_Append(list, item))
      Py_CLEAR(list);
    Py_XDECREF(item);
  }
  return list;
}

PyObject *
job_layers(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  glen_layers *layers;
  (void)unused;
  if (!needs(self->programs[0], "program"))
    return NULL;
  WITHOUT_GIL(self, layers = glen_layers_new(self->glen, self->programs[0]));
  if (!layers)
    Py_RETURN_NONE;
  PyObject *list = list_layers(self, layers);
  glen_layers_free(layers);
  return list;
}

/* ---- measuring ---- */

static bool
read_tuning(glen_tune_options *o, PyObject **flags, PyObject *args,
            PyObject *names) {
  static char *words[] = {"candidates", "rounds", "seconds", "tolerance",
                          "file",       "seed",   "threads", "cc",
                          "flags",      NULL};
  unsigned long long seed = 1;
  glen_tune_defaults(o);
  if (!PyArg_ParseTupleAndKeywords(
          args, names, "|$IIddzKIzO!", words, &o->candidates, &o->rounds,
          &o->seconds, &o->tolerance, &o->file, &seed, &o->build.threads,
          &o->build.cc, &PyTuple_Type, flags))
    return false;
  o->seed = seed;
  return true;
}

static bool
measure(job *self, const glen_tune_options *o, glen_tuned *out) {
  glen_tensors *inputs =
      glen_inputs_new(self->glen, self->programs[0], o->seed);
  bool ok = inputs && glen_tune(self->glen, self->loops, inputs, o, out);
  glen_tensors_free(inputs);
  return ok;
}

/* Of the loops: the fastest schedule is theirs afterwards. */
PyObject *
job_tune(PyObject *object, PyObject *args, PyObject *names) {
  job *self = (job *)object;
  glen_tune_options o;
  glen_tuned tuned;
  PyObject *tuple = NULL;
  bool ok;
  if (!read_tuning(&o, &tuple, args, names) || !needs(self->loops, "loops"))
    return NULL;
  const char **flags = NULL;
  if (tuple && !(flags = texts_of(tuple, &o.build.n_flags)))
    return NULL;
  o.build.flags = flags;
  WITHOUT_GIL(self, ok = measure(self, &o, &tuned));
  PyMem_Free(flags);
  if (!ok)
    Py_RETURN_NONE;
  return Py_BuildValue(
      "{sssssssOsOsI}", "chosen", tuned.chosen, "script", tuned.script, "json",
      tuned.json, "stopped", tuned.stopped ? Py_True : Py_False, "wrong",
      tuned.wrong ? Py_True : Py_False, "resumed", tuned.resumed);
}
