/* SPDX-License-Identifier: MIT */
/* job_answers.c - what a job tells: texts, figures, verdicts, diagnostics. */
#include "borrow.h"
#include "core.h"

#include <string.h>

/* ---- diagnostics ---- */

static PyObject *
diagnostic(const glen_diagnostic *d) {
  static const char *const severities[] = {
      [GLEN_ERROR] = "error", [GLEN_WARNING] = "warning", [GLEN_NOTE] = "note"};
  return Py_BuildValue("(sssssIIIIII)", severities[d->severity], d->code,
                       d->message, d->hint, d->file, d->line, d->column,
                       d->end_line, d->end_column, d->begin, d->end);
}

static bool
add(PyObject *list, PyObject *item) {
  bool ok = item && !PyList_Append(list, item);
  Py_XDECREF(item);
  return ok;
}

static PyObject *
list_diagnostics(job *self) {
  PyObject *list = PyList_New(0);
  glen_diagnostic d;
  for (uint32_t k = 0; list && glen_diagnostic_at(self->glen, k, &d); k++)
    if (!add(list, diagnostic(&d)))
      Py_CLEAR(list);
  return list;
}

/* A list of tuples, the rendered text, and the kind of the failure; what memory
 * ran out for has a text alone.  No thread waits for Python's lock while it has
 * that of the job but one that makes progress, so this one may. */
PyObject *
job_diagnostics(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  (void)unused;
  Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(self->lock, WAIT_LOCK);
  Py_END_ALLOW_THREADS PyObject *list = list_diagnostics(self);
  PyObject *all = NULL;
  if (list)
    all = Py_BuildValue("(Nsi)", list,
                        glen_take_diagnostics(self->glen, GLEN_DIAG_TEXT),
                        (int)glen_failure(self->glen));
  PyThread_release_lock(self->lock);
  return all;
}

PyObject *
job_files(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  PyObject *list = PyList_New(0);
  (void)unused;
  for (uint32_t k = 0; list && k < glen_files_read(self->glen); k++)
    if (!add(list, Py_BuildValue("s", glen_file_read(self->glen, k))))
      Py_CLEAR(list);
  return list;
}

/* ---- texts ---- */

static const char *
result_text(job *self, const char *what) {
  glen_report report = {.json = !strcmp(what, "json"), .seconds = true};
  if (!strcmp(what, "result"))
    return glen_program_text(self->glen, glen_result_program(self->result),
                             false);
  if (!strcmp(what, "proof"))
    return glen_result_proof(self->glen, self->result);
  return glen_result_report(self->glen, self->result, &report);
}

static const char *
c_text(job *self) {
  const char *c = NULL, *h = NULL;
  return glen_emit_c(self->glen, self->loops, "kernel", NULL, &c, &h) ? c
                                                                      : NULL;
}

/* What each text is of, and whether that is there. */
static const struct text {
  const char *name, *needs;
} texts[] = {{"program", "program"}, {"types", "program"}, {"result", "result"},
             {"report", "result"},   {"json", "result"},   {"proof", "result"},
             {"target", "target"},   {"loops", "loops"},   {"c", "loops"}};

static const void *
thing(const job *self, const char *name) {
  if (!strcmp(name, "program"))
    return self->programs[0];
  if (!strcmp(name, "target"))
    return self->target;
  if (!strcmp(name, "loops"))
    return self->loops;
  return self->result;
}

static const char *
make_text(job *self, const struct text *t) {
  if (!strcmp(t->needs, "program"))
    return glen_program_text(self->glen, self->programs[0],
                             !strcmp(t->name, "types"));
  if (!strcmp(t->needs, "target"))
    return glen_target_text(self->glen, self->target);
  if (!strcmp(t->name, "loops"))
    return glen_loops_text(self->glen, self->loops);
  return !strcmp(t->name, "c") ? c_text(self) : result_text(self, t->name);
}

PyObject *
job_text(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  const char *what, *text;
  size_t k = 0;
  if (!PyArg_ParseTuple(args, "s", &what))
    return NULL;
  while (k < sizeof texts / sizeof *texts && strcmp(texts[k].name, what))
    k++;
  if (k == sizeof texts / sizeof *texts)
    return PyErr_Format(PyExc_ValueError, "no text %s", what);
  if (!needs(thing(self, texts[k].needs), texts[k].needs))
    return NULL;
  WITHOUT_GIL(self, text = make_text(self, &texts[k]));
  return Py_BuildValue("z", text);
}

/* ---- figures ---- */

PyObject *
job_summary(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  glen_summary s;
  (void)unused;
  if (!needs(self->result, "result"))
    return NULL;
  glen_result_summary(self->result, &s);
  return Py_BuildValue("{sssOsIsIsIsdsdsdsdsO}", "stop", s.stop, "saturated",
                       glen_result_saturated(self->result) ? Py_True : Py_False,
                       "iterations", s.iterations, "nodes", s.nodes, "classes",
                       s.classes, "seconds", s.seconds, "cost_before",
                       s.cost_before, "cost_after", s.cost_after, "bound",
                       s.bound, "optimal", s.optimal ? Py_True : Py_False);
}

static PyObject *
names_of(const glen_program *p, uint32_t n,
         const char *(*name)(const glen_program *, uint32_t)) {
  PyObject *list = PyList_New(0);
  for (uint32_t k = 0; list && k < n; k++)
    if (!add(list, Py_BuildValue("s", name(p, k))))
      Py_CLEAR(list);
  return list;
}

PyObject *
job_inputs(PyObject *object, PyObject *unused) {
  const glen_program *p = ((job *)object)->programs[0];
  (void)unused;
  if (!needs(p, "program"))
    return NULL;
  return Py_BuildValue("(NN)",
                       names_of(p, glen_program_inputs(p), glen_input_name),
                       names_of(p, glen_program_outputs(p), glen_output_name));
}

/* ---- weights ---- */

static bool
add_stored(job *self, uint32_t k, PyObject *dict) {
  glen_array array;
  if (!glen_input_is_stored(self->programs[0], k))
    return true;
  glen_tensor_array(self->data, k, &array);
  PyObject *lent = lend((PyObject *)self, &array);
  bool ok = lent && !PyDict_SetItemString(
                        dict, glen_input_name(self->programs[0], k), lent);
  Py_XDECREF(lent);
  return ok;
}

static bool
has_stored(const glen_program *p) {
  for (uint32_t k = 0; k < glen_program_inputs(p); k++)
    if (glen_input_is_stored(p, k))
      return true;
  return false;
}

/* Their names. */
PyObject *
job_stored(PyObject *object, PyObject *unused) {
  const glen_program *p = ((job *)object)->programs[0];
  (void)unused;
  if (!needs(p, "program"))
    return NULL;
  PyObject *list = PyList_New(0);
  for (uint32_t k = 0; list && k < glen_program_inputs(p); k++)
    if (glen_input_is_stored(p, k) &&
        !add(list, Py_BuildValue("s", glen_input_name(p, k))))
      Py_CLEAR(list);
  PyObject *names = list ? PyList_AsTuple(list) : NULL;
  Py_XDECREF(list);
  return names;
}

/* The elements of inputs that stand in files; None where they cannot be
 * read. */
PyObject *
job_data(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  glen_program *p = self->programs[0];
  (void)unused;
  if (!needs(p, "program"))
    return NULL;
  PyObject *dict = PyDict_New();
  if (!dict || !has_stored(p))
    return dict;
  if (!self->data)
    WITHOUT_GIL(self, self->data = glen_inputs_new(self->glen, p, 0));
  for (uint32_t k = 0; dict && self->data && k < glen_program_inputs(p); k++)
    if (!add_stored(self, k, dict))
      Py_CLEAR(dict);
  if (self->data)
    return dict;
  Py_DECREF(dict);
  Py_RETURN_NONE;
}

/* ---- proofs ---- */

PyObject *
job_prove(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  glen_equality e = {0};
  bool agree, ok = false;
  (void)unused;
  if (!needs(self->programs[0], "program") ||
      !needs(self->programs[1], "second program"))
    return NULL;
  WITHOUT_GIL(self, agree = glen_programs_agree(self->glen, self->programs[0],
                                                self->programs[1]);
              ok = agree && glen_programs_prove(self->glen, self->programs[0],
                                                self->programs[1], &e));
  if (!ok)
    Py_RETURN_NONE;
  return Py_BuildValue("(ss)", e.text, e.json);
}

PyObject *
job_rule_names(PyObject *object, PyObject *unused) {
  job *self = (job *)object;
  (void)unused;
  if (!needs(self->rules, "rules"))
    return NULL;
  PyObject *list = PyList_New(0);
  for (uint32_t k = 0; list && k < glen_rules_count(self->rules); k++)
    if (!add(list, Py_BuildValue("s", glen_rule_name(self->rules, k))))
      Py_CLEAR(list);
  return list;
}

static bool
prove_rule(job *self, uint32_t k, const glen_prove_options *o, glen_proof *p) {
  return glen_rule_prove(self->glen, self->rules, k, o, p);
}

/* None behind the last rule. */
PyObject *
job_prove_rule(PyObject *object, PyObject *args) {
  job *self = (job *)object;
  glen_prove_options o;
  glen_proof p;
  unsigned k;
  unsigned long long seed;
  bool ok;
  glen_prove_defaults(&o);
  seed = o.seed;
  if (!PyArg_ParseTuple(args, "I|KI", &k, &seed, &o.shapes) ||
      !needs(self->rules, "rules"))
    return NULL;
  o.seed = seed;
  if (k >= glen_rules_count(self->rules))
    Py_RETURN_NONE;
  WITHOUT_GIL(self, ok = prove_rule(self, k, &o, &p));
  if (!ok)
    return PyErr_NoMemory();
  return Py_BuildValue("(sss)", p.place, p.detail, p.json);
}
