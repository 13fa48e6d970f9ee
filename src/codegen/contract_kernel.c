/* contract_kernel.c - mr rows times nv vectors of sums, each a named local.
 *
 * Compilers keep named locals in registers; an array of sums would stay in
 * memory.  The loop over k loads nv vectors of y and multiplies them with one
 * element of x at a time.  The sums of a block of k are added to c at the
 * end; under --strict-fp they begin with what is in c, so that their order is
 * that of k.  Rows and columns that do not fill a
 * kernel get variants of their own; a vector that is not full is computed
 * whole and stored in part. */
#include "codegen/contract.h"
#include <stdarg.h>

void
cg_line(bs_text *out, uint32_t indent, const char *format, ...) {
  va_list args;
  cg_indent(out, indent);
  va_start(args, format);
  bs_putv(out, format, args);
  va_end(args);
  bs_putc(out, '\n');
}

/* Columns of the last panel, and rows; 0: it is full. */
static int64_t
tail_columns(const cg_contract *x) {
  return x->n % ((int64_t)x->c->nv * x->c->lanes);
}

static int64_t
tail_rows(const cg_contract *x) {
  return x->m % x->c->mr;
}

static int64_t
last_stride(const po_cdims *dims) {
  return dims->n ? dims->d[dims->n - 1].c : 0;
}

static void
put_type(const cg_contract *x) {
  int64_t bytes = gs_dtype_table[x->c->dtype].bytes;
  cg_line(x->out, 1,
          "typedef %s vector __attribute__((vector_size(%lld), aligned(%lld), "
          "may_alias));",
          x->c->dtype == GS_I32 ? "unsigned" : x->type,
          (long long)(bytes * x->c->lanes), (long long)bytes);
}

/* The sums, from c or zero. */
static void
put_sums(const cg_contract *x, int64_t rows, int64_t vectors) {
  for (int64_t r = 0; r < rows; r++) {
    cg_indent(x->out, 1);
    bs_put(x->out, "vector ");
    for (int64_t v = 0; v < vectors; v++)
      bs_putf(x->out, "s%lld_%lld = {0}%s", (long long)r, (long long)v,
              v + 1 < vectors ? ", " : ";\n");
  }
}

/* c[r][v] as a place in memory. */
static void
put_place(const cg_contract *x, int64_t r, int64_t v) {
  int64_t row = last_stride(&x->c->dims[PO_DIM_M]);
  int64_t column = last_stride(&x->c->dims[PO_DIM_N]);
  bs_putf(x->out, "c + %lld", (long long)(r * row + v * x->c->lanes * column));
}

typedef enum transfer { LOAD, STORE, ADD } transfer;

static void
put_sum(const cg_contract *x, int64_t r, int64_t v) {
  bs_putf(x->out, "s%lld_%lld", (long long)r, (long long)v);
}

static void
put_vector(const cg_contract *x, int64_t r, int64_t v, transfer way) {
  if (way == LOAD) {
    put_sum(x, r, v);
    bs_put(x->out, " = ");
  }
  bs_put(x->out, "*(vector *)(");
  put_place(x, r, v);
  bs_put(x->out, ")");
  if (way != LOAD) {
    bs_put(x->out, way == ADD ? " += " : " = ");
    put_sum(x, r, v);
  }
  bs_put(x->out, ";\n");
}

/* The first `width` lanes, which lie side by side in c. */
static void
put_part(const cg_contract *x, int64_t r, int64_t v, transfer way,
         int64_t width) {
  long long bytes = width * gs_dtype_table[x->c->dtype].bytes;
  if (way == ADD) {
    bs_put(x->out, "{ vector part = {0}; memcpy(&part, ");
    put_place(x, r, v);
    bs_putf(x->out, ", %lld); ", bytes);
    put_sum(x, r, v);
    bs_put(x->out, " += part; memcpy(");
    put_place(x, r, v);
    bs_put(x->out, ", &");
    put_sum(x, r, v);
    bs_putf(x->out, ", %lld); }\n", bytes);
    return;
  }
  bs_put(x->out, "memcpy(");
  if (way == LOAD) {
    bs_put(x->out, "&");
    put_sum(x, r, v);
    bs_put(x->out, ", ");
    put_place(x, r, v);
  } else {
    put_place(x, r, v);
    bs_put(x->out, ", &");
    put_sum(x, r, v);
  }
  bs_putf(x->out, ", %lld);\n", bytes);
}

/* One by one: they do not. */
static void
put_lanes(const cg_contract *x, int64_t r, int64_t v, transfer way,
          int64_t width, uint32_t indent) {
  const char *to = x->c->dtype == GS_I32 ? "(int32_t)" : "";
  const char *from = x->c->dtype == GS_I32 ? "(unsigned)" : "";
  bs_putf(x->out, "for (int t = 0; t < %lld; t++)\n", (long long)width);
  cg_indent(x->out, indent + 1);
  if (way == LOAD) {
    put_sum(x, r, v);
    bs_putf(x->out, "[t] = (");
  } else {
    bs_put(x->out, "(");
  }
  put_place(x, r, v);
  bs_putf(x->out, ")[%lld * t]", (long long)last_stride(&x->c->dims[PO_DIM_N]));
  if (way != LOAD) {
    bs_putf(x->out, " = %s(", to);
    if (way == ADD) {
      bs_putf(x->out, "%s(", from);
      put_place(x, r, v);
      bs_putf(x->out, ")[%lld * t] + ",
              (long long)last_stride(&x->c->dims[PO_DIM_N]));
    }
    put_sum(x, r, v);
    bs_put(x->out, "[t])");
  }
  bs_put(x->out, ";\n");
}

/* Loads what is in c, or stores or adds to it, vector by vector. */
static void
put_transfer(const cg_contract *x, int64_t rows, int64_t columns, transfer way,
             uint32_t indent) {

  int64_t lanes = x->c->lanes;
  int64_t step = last_stride(&x->c->dims[PO_DIM_N]);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t v = 0; v * lanes < columns; v++) {
      int64_t width = columns - v * lanes < lanes ? columns - v * lanes : lanes;
      cg_indent(x->out, indent);
      if (step == 1 && width == lanes)
        put_vector(x, r, v, way);
      else if (step == 1)
        put_part(x, r, v, way, width);
      else
        put_lanes(x, r, v, way, width, indent);
    }
}

static void
put_products(const cg_contract *x, int64_t rows, int64_t vectors) {
  const po_contraction *c = x->c;
  const po_cdims *m = &c->dims[PO_DIM_M], *k = &c->dims[PO_DIM_K];
  bool direct = c->x_mode == PO_DIRECT;
  int64_t row = direct ? (m->n ? m->d[0].x : 0) : 1;
  int64_t step = direct ? k->d[0].x : c->mr;
  int64_t ld = c->y_mode == PO_DIRECT ? k->d[0].y : x->ld;
  cg_line(x->out, 1, "for (%s k = 0; k < kc; k++) {", x->e->index);
  for (int64_t v = 0; v < vectors; v++)
    cg_line(x->out, 2, "vector y%lld = *(const vector *)(y + %lld * k + %lld);",
            (long long)v, (long long)ld, (long long)(v * c->lanes));
  for (int64_t v = 0; v < vectors; v++)
    cg_line(x->out, 2, "GLEN_HOLD(y%lld);", (long long)v);
  const char *scalar = c->dtype == GS_I32 ? "unsigned" : x->type;
  for (int64_t r = 0; r < rows; r++) {
    cg_indent(x->out, 2);
    bs_putf(x->out, "const %s x%lld = %sx[%lld * k + %lld];\n", scalar,
            (long long)r, c->dtype == GS_I32 ? "(unsigned)" : "",
            (long long)step, (long long)(r * row));
    for (int64_t v = 0; v < vectors; v++)
      cg_line(x->out, 2, "s%lld_%lld += x%lld * y%lld;", (long long)r,
              (long long)v, (long long)r, (long long)v);
  }
  cg_line(x->out, 1, "}");
}

/* What is needed last is asked for first. */
static void
put_prefetches(const cg_contract *x, int64_t rows) {
  for (int64_t r = 0; r < rows; r++)
    cg_line(x->out, 1, "GLEN_PREFETCH(c + %lld);",
            (long long)(r * last_stride(&x->c->dims[PO_DIM_M])));
}

static void
put_kernel(const cg_contract *x, int64_t rows, int64_t columns) {
  int64_t vectors = (columns + x->c->lanes - 1) / x->c->lanes;
  bool strict = x->e->p->strict_fp;
  bool contract = !strict && x->c->dtype != GS_I32;
  if (contract)
    bs_put(x->out, "GLEN_CONTRACT ");
  bs_putf(x->out,
          "static void\n%s_%lldx%lld(const %s *restrict x, const %s *restrict "
          "y,\n    %s *restrict c, %s kc, int first) {\n",
          x->name, (long long)rows, (long long)columns, x->type, x->type,
          x->type, x->e->index);
  if (contract)
    bs_put(x->out, "  GLEN_CONTRACT_BODY\n");
  put_type(x);
  put_sums(x, rows, vectors);
  if (strict) {
    cg_line(x->out, 1, "if (!first) {");
    put_transfer(x, rows, columns, LOAD, 2);
    cg_line(x->out, 1, "}");
  } else {
    put_prefetches(x, rows);
  }
  put_products(x, rows, vectors);
  if (strict) {
    put_transfer(x, rows, columns, STORE, 1);
  } else {
    cg_line(x->out, 1, "if (first) {");
    put_transfer(x, rows, columns, STORE, 2);
    cg_line(x->out, 1, "} else {");
    put_transfer(x, rows, columns, ADD, 2);
    cg_line(x->out, 1, "}");
  }
  bs_put(x->out, "}\n\n");
}

/* NAME_panel: m x n elements of c, at most one kernel's worth. */
static void
put_panel(const cg_contract *x) {
  int64_t full = (int64_t)x->c->nv * x->c->lanes, rows = x->c->mr;
  int64_t some_rows = tail_rows(x), some = tail_columns(x);
  const char *args = "(x, y, c, kc, first);";
  bool wide = x->n >= full, high = x->m >= rows;
  bs_putf(x->out,
          "static void\n%s_panel(const %s *restrict x, const %s *restrict "
          "y,\n    %s *restrict c, %s kc, int first, %s m, %s n) {\n",
          x->name, x->type, x->type, x->type, x->e->index, x->e->index,
          x->e->index);
  cg_line(x->out, 1, "(void)m;");
  cg_line(x->out, 1, "(void)n;");
  if (some && some_rows) {
    if (wide || high)
      cg_line(x->out, 1, "if (m < %lld && n < %lld) {", (long long)rows,
              (long long)full);
    else
      cg_line(x->out, 1, "{");
    cg_line(x->out, 2, "%s_%lldx%lld%s", x->name, (long long)some_rows,
            (long long)some, args);
    cg_line(x->out, 2, "return;");
    cg_line(x->out, 1, "}");
  }
  if (some && high) {
    cg_line(x->out, 1, "if (n < %lld) {", (long long)full);
    cg_line(x->out, 2, "%s_%lldx%lld%s", x->name, (long long)rows,
            (long long)some, args);
    cg_line(x->out, 2, "return;");
    cg_line(x->out, 1, "}");
  }
  if (some_rows && wide) {
    cg_line(x->out, 1, "if (m < %lld) {", (long long)rows);
    cg_line(x->out, 2, "%s_%lldx%lld%s", x->name, (long long)some_rows,
            (long long)full, args);
    cg_line(x->out, 2, "return;");
    cg_line(x->out, 1, "}");
  }
  if (wide && high)
    cg_line(x->out, 1, "%s_%lldx%lld%s", x->name, (long long)rows,
            (long long)full, args);
  bs_put(x->out, "}\n\n");
}

void
cg_put_contract_kernels(const cg_contract *x) {
  int64_t full = (int64_t)x->c->nv * x->c->lanes, rows = x->c->mr;
  int64_t some_rows = tail_rows(x), some = tail_columns(x);
  bool wide = x->n >= full, high = x->m >= rows;
  if (wide && high)
    put_kernel(x, rows, full);
  if (some_rows && wide)
    put_kernel(x, some_rows, full);
  if (some && high)
    put_kernel(x, rows, some);
  if (some && some_rows)
    put_kernel(x, some_rows, some);
  put_panel(x);
}
