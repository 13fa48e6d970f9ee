/* SPDX-License-Identifier: MIT */
/* helpers.c - see helpers.h.  In the texts `I` stands for the index type. */
#include "codegen/print/helpers.h"
#include <string.h>

const char *const cg_helper_names[CG_HELPER_COUNT] = {
#define X(id, name) name,
    CG_HELPERS(X)
#undef X
};

typedef struct helper {
  uint64_t needs;
  const char *type, *parameters, *body;
  const char *strict; /* body under --strict-fp, where it differs */
} helper;

#define BIT(id) (UINT64_C(1) << CG_##id)

#define MINMAX(T)                                                              \
  {0, T, T " a, " T " b", "return a > b ? a : b;\n",                           \
   "return a > b || a != a ? a : b;\n"},                                       \
  {                                                                            \
    0, T, T " a, " T " b", "return a < b ? a : b;\n",                          \
        "return a < b || a != a ? a : b;\n"                                    \
  }

#define SELECT(T)                                                              \
  { 0, T, T " c, " T " a, " T " b", "return c > 0 ? a : b;\n", NULL }

#define WRAPPING(operator)                                                     \
  {                                                                            \
    0, "int32_t", "int32_t a, int32_t b",                                      \
        "return (int32_t)((uint32_t)a " operator" (uint32_t)b);\n", NULL       \
  }

/* Rounded to odd first, so that the second rounding sees what was cut. */
#define BY_WAY_OF_F32(rounded)                                                 \
  "union { float f; uint32_t u; } x;\n"                                        \
  "x.f = (float)a;\n"                                                          \
  "if ((double)x.f != a && a == a && x.f - x.f == 0) {\n"                      \
  "  if (((double)x.f > a) == (a > 0))\n"                                      \
  "    x.u--;\n"                                                               \
  "  x.u |= 1;\n"                                                              \
  "}\n"                                                                        \
  "return " rounded "(x.f);\n"

#define SATURATING(T, least, most)                                             \
  {                                                                            \
    0, T, "double a",                                                          \
        "if (!(a > " least ".0))\n"                                            \
        "  return a != a ? 0 : " least ";\n"                                   \
        "return a < " most ".0 ? (" T ")a : " most ";\n",                      \
        NULL                                                                   \
  }

static const helper helpers[CG_HELPER_COUNT] = {
    [CG_MIN_INDEX] = {0, "I", "I a, I b", "return a < b ? a : b;\n", NULL},
    [CG_MAX_INDEX] = {0, "I", "I a, I b", "return a > b ? a : b;\n", NULL},
    [CG_FLOOR_DIV] = {0, "I", "I a, I b", "return a / b - (a % b < 0);\n",
                      NULL},
    [CG_BF16_TO_F32] = {0, "float", "uint16_t a",
                        "union { uint32_t u; float f; } x;\n"
                        "x.u = (uint32_t)a << 16;\n"
                        "return x.f;\n",
                        NULL},
    [CG_F32_TO_BF16] = {0, "uint16_t", "float a",
                        "union { float f; uint32_t u; } x;\n"
                        "x.f = a;\n"
                        "if (a != a)\n"
                        "  return (uint16_t)(x.u >> 16 | 64);\n"
                        "x.u += 0x7fff + (x.u >> 16 & 1);\n"
                        "return (uint16_t)(x.u >> 16);\n",
                        NULL},
    [CG_F64_TO_BF16] = {BIT(F32_TO_BF16), "uint16_t", "double a",
                        BY_WAY_OF_F32("glen_f32_to_bf16"), NULL},
    [CG_F16_TO_F32] = {0, "float", "uint16_t a",
                       "union { uint32_t u; float f; } x;\n"
                       "uint32_t e = a >> 10 & 31u, m = a & 1023u;\n"
                       "x.f = (float)m * 5.9604644775390625e-8f;\n"
                       "if (e == 31)\n"
                       "  x.u = 0x7f800000 | m << 13;\n"
                       "else if (e)\n"
                       "  x.u = (e + 112) << 23 | m << 13;\n"
                       "x.u |= (uint32_t)(a >> 15) << 31;\n"
                       "return x.f;\n",
                       NULL},
    /* Below 2^-14 a sum with 1/2 rounds to multiples of 2^-24. */
    [CG_F32_TO_F16] = {0, "uint16_t", "float a",
                       "union { float f; uint32_t u; } x;\n"
                       "x.f = a;\n"
                       "uint32_t s = x.u >> 16 & 0x8000;\n"
                       "x.u &= 0x7fffffff;\n"
                       "if (x.u >= 0x477ff000)\n"
                       "  return (uint16_t)(s | (a != a ? 0x7e00 : 0x7c00));\n"
                       "if (x.u < 0x38800000) {\n"
                       "  x.f += 0.5f;\n"
                       "  return (uint16_t)(s | (x.u - 0x3f000000));\n"
                       "}\n"
                       "x.u += 0xc8000fff + (x.u >> 13 & 1);\n"
                       "return (uint16_t)(s | x.u >> 13);\n",
                       NULL},
    [CG_F64_TO_F16] = {BIT(F32_TO_F16), "uint16_t", "double a",
                       BY_WAY_OF_F32("glen_f32_to_f16"), NULL},
    [CG_ADD_I32] = WRAPPING("+"),
    [CG_SUB_I32] = WRAPPING("-"),
    [CG_MUL_I32] = WRAPPING("*"),
    [CG_DIV_I32] = {0, "int32_t", "int32_t a, int32_t b",
                    "if (b == 0)\n"
                    "  return 0;\n"
                    "if (b == -1)\n"
                    "  return (int32_t)(0u - (uint32_t)a);\n"
                    "return a / b;\n",
                    NULL},
    [CG_MAX_I32] = {0, "int32_t", "int32_t a, int32_t b",
                    "return a > b ? a : b;\n", NULL},
    [CG_MIN_I32] = {0, "int32_t", "int32_t a, int32_t b",
                    "return a < b ? a : b;\n", NULL},
    [CG_MAX_F32] = MINMAX("float"),
    [CG_MAX_F64] = MINMAX("double"),
    [CG_SELECT_I32] = SELECT("int32_t"),
    [CG_SELECT_F32] = SELECT("float"),
    [CG_SELECT_F64] = SELECT("double"),
    [CG_SQUARE_F32] = {0, "float", "float a", "return a * a;\n", NULL},
    [CG_SQUARE_F64] = {0, "double", "double a", "return a * a;\n", NULL},
    [CG_SQUARE_I32] = {0, "int32_t", "int32_t a",
                       "return (int32_t)((uint32_t)a * (uint32_t)a);\n", NULL},
    [CG_ABS_I32] = {0, "int32_t", "int32_t a",
                    "return a < 0 ? (int32_t)(0u - (uint32_t)a) : a;\n", NULL},
    [CG_F64_TO_I32] = {0, "int32_t", "double a",
                       "if (!(a > -2147483648.0))\n"
                       "  return a != a ? 0 : -2147483647 - 1;\n"
                       "return a < 2147483647.0 ? (int32_t)a : 2147483647;\n",
                       NULL},
    [CG_F64_TO_I8] = {0, "int8_t", "double a",
                      "if (!(a > -128.0))\n"
                      "  return a != a ? 0 : -128;\n"
                      "return a < 127.0 ? (int8_t)a : 127;\n",
                      NULL},
    [CG_F64_TO_U8] = {0, "uint8_t", "double a",
                      "if (!(a > 0.0))\n"
                      "  return 0;\n"
                      "return a < 255.0 ? (uint8_t)a : 255;\n",
                      NULL},
    [CG_F64_TO_I16] = SATURATING("int16_t", "-32768", "32767"),
    [CG_F64_TO_U16] = SATURATING("uint16_t", "0", "65535"),
    /* Functions without a branch, so that loops of them are vectors. Which of
     * two it is is decided by bits: compilers would compute either in a branch
     * of its own.  Largest errors, in units in the last place: exp 1.1,
     * erf 2.0, tanh 1.4; of exp, powers of two are multiplied twice, as the
     * result may be subnormal. */
    [CG_PICK_F32] = {0, "float", "uint32_t c, float a, float b",
                     "union { float f; uint32_t u; } x, y;\n"
                     "x.f = a;\n"
                     "y.f = b;\n"
                     "x.u = (x.u & (0u - c)) | (y.u & (c - 1u));\n"
                     "return x.f;\n",
                     NULL},
    [CG_EXP_F32] = {BIT(PICK_F32), "float", "float a",
                    "union { uint32_t u; float f; } low, high;\n"
                    "float x = glen_pick_f32(a > 89.0f, 89.0f, a);\n"
                    "x = glen_pick_f32(a < -104.0f, -104.0f, x);\n"
                    "const float z = x * 1.44269504f + glen_pick_f32(a < 0, "
                    "-0.5f, 0.5f);\n"
                    "const int32_t n = (int32_t)glen_pick_f32(z == z, z, 0);\n"
                    "const float k = (float)n;\n"
                    "x = x - k * 0.693359375f;\n"
                    "x = x + k * 2.12194440e-4f;\n"
                    "float p = 0.0013950556f;\n"
                    "p = p * x + 0.008368929f;\n"
                    "p = p * x + 0.041666206f;\n"
                    "p = p * x + 0.16666518f;\n"
                    "p = p * x + 0.5f;\n"
                    "p = p * x * x + x + 1.0f;\n"
                    "low.u = (uint32_t)(n / 2 + 127) << 23;\n"
                    "high.u = (uint32_t)(n - n / 2 + 127) << 23;\n"
                    "return p * low.f * high.f;\n",
                    NULL},
    [CG_ERF_F32] = {BIT(PICK_F32) | BIT(EXP_F32), "float", "float a",
                    "union { float f; uint32_t u; } sign, r;\n"
                    "sign.f = r.f = a;\n"
                    "sign.u &= 0x80000000u;\n"
                    "r.u &= 0x7fffffffu;\n"
                    "const float x = r.f, u = a * a, y = glen_pick_f32(x > "
                    "4.0f, 4.0f, x);\n"
                    "float s = 8.19378e-05f;\n"
                    "s = s * u - 0.00080998777f;\n"
                    "s = s * u + 0.0051971548f;\n"
                    "s = s * u - 0.026857791f;\n"
                    "s = s * u + 0.11283666f;\n"
                    "s = s * u - 0.37612632f;\n"
                    "s = s * u + 0.12837923f;\n"
                    "s = s * x + x;\n"
                    "float t = 2.1390026e-05f;\n"
                    "t = t * y - 0.0004378694f;\n"
                    "t = t * y + 0.0041875578f;\n"
                    "t = t * y - 0.025162848f;\n"
                    "t = t * y + 0.10834724f;\n"
                    "t = t * y + 0.63328589f;\n"
                    "t = t * y + 1.1295451f;\n"
                    "t = t * y - 0.00018097529f;\n"
                    "t = 1.0f - glen_exp_f32(-t);\n"
                    "r.f = glen_pick_f32(x < 0.94f, s, t);\n"
                    "r.u |= sign.u;\n"
                    "return r.f;\n",
                    NULL},
    [CG_TANH_F32] =
        {BIT(PICK_F32) | BIT(EXP_F32), "float", "float a",
         "union { float f; uint32_t u; } sign, r;\n"
         "sign.f = r.f = a;\n"
         "sign.u &= 0x80000000u;\n"
         "r.u &= 0x7fffffffu;\n"
         "const float x = r.f, u = a * a, y = glen_pick_f32(x > 10.0f, 10.0f, "
         "x);\n"
         "float s = -0.0056607882f;\n"
         "s = s * u + 0.020602006f;\n"
         "s = s * u - 0.053729229f;\n"
         "s = s * u + 0.13331328f;\n"
         "s = s * u - 0.33333278f;\n"
         "s = s * u * x + x;\n"
         "const float t = 1.0f - 2.0f / (glen_exp_f32(2.0f * y) + 1.0f);\n"
         "r.f = glen_pick_f32(x < 0.625f, s, t);\n"
         "r.u |= sign.u;\n"
         "return r.f;\n",
         NULL},
    [CG_CLAMP_INDEX] = {0, "I", "int32_t a, I n",
                        "if (a < 0)\n"
                        "  return 0;\n"
                        "return a < n ? (I)a : n - 1;\n",
                        NULL},
    [CG_CLAMP_REAL] = {0, "I", "double a, I n",
                       "if (!(a > 0.0))\n"
                       "  return 0;\n"
                       "return a < (double)n ? (I)a : n - 1;\n",
                       NULL},
};

/* `text` with every word `I` made the index type, indented. */
static void
put_text(bs_text *out, const char *text, const char *index, bool body) {
  bool start = body;
  for (const char *at = text; *at; at++) {
    bool alone = *at == 'I' && (at == text || at[-1] == ' ' || at[-1] == '(') &&
                 (!at[1] || at[1] == ' ' || at[1] == ')');
    if (start)
      bs_put(out, "  ");
    start = body && *at == '\n';
    if (alone)
      bs_put(out, index);
    else
      bs_putc(out, *at);
  }
}

void
cg_put_helpers(bs_text *out, uint64_t used, const char *index, bool strict) {
  for (int k = 0; k < CG_HELPER_COUNT; k++)
    if (used >> k & 1)
      used |= helpers[k].needs;
  for (int k = 0; k < CG_HELPER_COUNT; k++) {
    const helper *h = &helpers[k];
    if (!(used >> k & 1))
      continue;
    bs_put(out, "static inline ");
    put_text(out, h->type, index, false);
    bs_putf(out, "\n%s(", cg_helper_names[k]);
    put_text(out, h->parameters, index, false);
    bs_put(out, ") {\n");
    put_text(out, strict && h->strict ? h->strict : h->body, index, true);
    bs_put(out, "}\n\n");
  }
}
