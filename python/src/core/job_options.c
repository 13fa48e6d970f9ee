/* SPDX-License-Identifier: MIT */
/* job_options.c - the steps that take many options: saturation, lowering, the
 * C compiler. */
#include "core.h"

/* ---- saturation ---- */

/* Called in the middle of a run, without Python's lock.  Signals are looked at
 * here, so that Ctrl-C ends a long run. */
static void
on_progress(void *ctx, const glen_progress *p) {
  job *self = ctx;
  PyGILState_STATE state = PyGILState_Ensure();
  PyObject *done = NULL;
  if (!self->raised && !PyErr_CheckSignals())
    done = self->progress
               ? PyObject_CallFunction(self->progress, "IIId", p->iteration,
                                       p->nodes, p->classes, p->seconds)
               : Py_BuildValue("");
  if (!done && !self->raised) {
    self->raised = 1;
    glen_interrupt(self->glen);
  }
  Py_XDECREF(done);
  PyGILState_Release(state);
}

typedef struct saturation {
  glen_saturate_options o;
  PyObject *disabled, *progress;
  int backoff, explain, strict;
  unsigned long long matches, work;
  Py_ssize_t bytes;
} saturation;

static bool
read_saturation(saturation *s, PyObject *args, PyObject *names) {
  static char *words[] = {"iterations", "nodes",     "seconds", "bytes",
                          "matches",    "work",      "backoff", "strategy",
                          "disabled",   "extractor", "explain", "progress",
                          "strict_fp",  NULL};
  const char *extractor = NULL;
  glen_saturate_defaults(&s->o);
  s->progress = Py_None;
  s->disabled = NULL;
  s->matches = s->o.matches_a_rule;
  s->work = s->o.work;
  s->backoff = s->o.backoff;
  s->explain = s->o.explain;
  s->strict = s->o.strict_fp;
  s->bytes = (Py_ssize_t)s->o.bytes;
  if (!PyArg_ParseTupleAndKeywords(
          args, names, "|$IIdnKKpzO!spOp", words, &s->o.iterations, &s->o.nodes,
          &s->o.seconds, &s->bytes, &s->matches, &s->work, &s->backoff,
          &s->o.strategy, &PyTuple_Type, &s->disabled, &extractor, &s->explain,
          &s->progress, &s->strict))
    return false;
  if (extractor && !glen_extractor_find(extractor, &s->o.extractor)) {
    PyErr_Format(PyExc_ValueError, "there is no extractor named %s", extractor);
    return false;
  }
  s->o.matches_a_rule = s->matches;
  s->o.work = s->work;
  s->o.backoff = s->backoff;
  s->o.explain = s->explain;
  s->o.strict_fp = s->strict;
  s->o.bytes = (size_t)s->bytes;
  return true;
}

static void
run(job *self, glen_saturate_options *o) {
  glen_result_free(self->result);
  self->result = glen_saturate(self->glen, self->programs[0], self->rules,
                               self->target, o);
}

PyObject *
job_saturate(PyObject *object, PyObject *args, PyObject *names) {
  job *self = (job *)object;
  saturation s;
  const char **disabled = NULL;
  if (!read_saturation(&s, args, names) ||
      !needs(self->programs[0], "program") || !needs(self->rules, "rules"))
    return NULL;
  if (s.disabled && !(disabled = texts_of(s.disabled, &s.o.n_disabled)))
    return NULL;
  s.o.disabled = disabled;
  s.o.progress = on_progress;
  s.o.progress_ctx = self;
  self->raised = 0;
  Py_CLEAR(self->progress);
  if (s.progress != Py_None)
    self->progress = Py_NewRef(s.progress);
  WITHOUT_GIL(self, run(self, &s.o));
  Py_CLEAR(self->progress);
  PyMem_Free(disabled);
  return self->raised ? NULL : PyBool_FromLong(self->result != NULL);
}

/* ---- loops ---- */

static bool
read_code(glen_code_options *o, PyObject **prepack, PyObject *args,
          PyObject *names) {
  static char *words[] = {"strict_fp", "choose",  "fusion", "layout",
                          "script",    "prepack", NULL};
  int strict = 0;
  const char *fusion = NULL, *layout = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, names, "|$pIzzzO!", words, &strict,
                                   &o->choose, &fusion, &layout, &o->script,
                                   &PyTuple_Type, prepack))
    return false;
  o->strict_fp = strict;
  if (fusion && !glen_fusion_find(fusion, &o->fusion))
    PyErr_Format(PyExc_ValueError, "there is no way to fuse named %s", fusion);
  else if (layout && !glen_layout_cost_find(layout, &o->layout))
    PyErr_Format(PyExc_ValueError, "there is no cost of layouts named %s",
                 layout);
  return !PyErr_Occurred();
}

static void
lower(job *self, const glen_code_options *o) {
  glen_scheduled unused;
  glen_loops_free(self->loops);
  self->loops = glen_lower_scheduled(
      self->glen,
      self->result ? glen_result_program(self->result) : self->programs[0],
      self->target, o, &unused);
}

PyObject *
job_lower(PyObject *object, PyObject *args, PyObject *names) {
  job *self = (job *)object;
  glen_code_options o;
  PyObject *prepack = NULL;
  const char **inputs = NULL;
  glen_code_defaults(&o);
  if (!read_code(&o, &prepack, args, names) ||
      !needs(self->programs[0], "program"))
    return NULL;
  if (prepack && !(inputs = texts_of(prepack, &o.n_prepack)))
    return NULL;
  o.prepack = inputs;
  WITHOUT_GIL(self, lower(self, &o));
  PyMem_Free(inputs);
  return PyBool_FromLong(self->loops != NULL);
}

/* ---- the C compiler ---- */

PyObject *
job_jit(PyObject *object, PyObject *args, PyObject *names) {
  static char *words[] = {"type", "cc", "flags", "threads", "cache", NULL};
  job *self = (job *)object;
  glen_jit_options o = {.size = sizeof o};
  PyObject *type, *tuple = NULL;
  glen_kernel *kernel;
  const char **flags = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, names, "O!|$zO!Iz", words,
                                   &PyType_Type, &type, &o.cc, &PyTuple_Type,
                                   &tuple, &o.threads, &o.cache) ||
      !needs(self->loops, "loops"))
    return NULL;
  if (tuple && !(flags = texts_of(tuple, &o.n_flags)))
    return NULL;
  o.flags = flags;
  WITHOUT_GIL(self, kernel = glen_jit(self->glen, self->loops, &o));
  PyMem_Free(flags);
  return kernel_new(type, self, kernel);
}
