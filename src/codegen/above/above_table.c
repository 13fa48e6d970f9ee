/* SPDX-License-Identifier: MIT */
/* above_table.c - the table of helpers.  In the texts `I` stands for the index
 * type. */
#include "codegen/above/above_table.h"

const char *const cg_helper_names[CG_HELPER_COUNT] = {NULL,
#define X(id, name) name,
                                                      CG_HELPERS(X)
#undef X
};

/* An attribute of GNU C, nothing elsewhere. */
#define ATTRIBUTE(name, attribute)                                             \
  .text = "#if defined(__GNUC__)\n#define " name " __attribute__((" attribute  \
          "))\n#else\n#define " name "\n#endif\n\n"

#define FUNCTION(...) .function = {__VA_ARGS__}

#define MAX(T)                                                                 \
  {                                                                            \
    FUNCTION(T, T " a, " T " b", "return a > b ? a : b;\n",                    \
             "return a > b || a != a ? a : b;\n")                              \
  }
#define MIN(T)                                                                 \
  {                                                                            \
    FUNCTION(T, T " a, " T " b", "return a < b ? a : b;\n",                    \
             "return a < b || a != a ? a : b;\n")                              \
  }

#define SELECT(T)                                                              \
  { FUNCTION(T, T " c, " T " a, " T " b", "return c > 0 ? a : b;\n", NULL) }

#define WRAPPING(operator)                                                     \
  {                                                                            \
    FUNCTION("int32_t", "int32_t a, int32_t b",                                \
             "return (int32_t)((uint32_t)a " operator" (uint32_t)b);\n", NULL) \
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
    FUNCTION(T, "double a",                                                    \
             "if (!(a > " least ".0))\n"                                       \
             "  return a != a ? 0 : " least ";\n"                              \
             "return a < " most ".0 ? (" T ")a : " most ";\n",                 \
             NULL)                                                             \
  }

const cg_row cg_rows[CG_HELPER_COUNT] = {
    [CG_TEAM] = {.put = cg_put_team_macros},
    [CG_MACS] = {.put = cg_put_mac_headers},
    /* Others decide that by themselves. */
    [CG_UNROLLED] =
        {.text =
             "/* So many iterations are written out at a time. */\n"
             "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8\n"
             "#define GLEN_PRAGMA(text) _Pragma(#text)\n"
             "#define GLEN_UNROLLED(n) GLEN_PRAGMA(GCC unroll n)\n"
             "#else\n"
             "#define GLEN_UNROLLED(n)\n"
             "#endif\n\n"},
    [CG_UNROLL] = {.text = "#define GLEN_UNROLL _Pragma(\"unroll\")\n\n"},
    /* Not every compiler sees that the parts of a loop that was cut set all of
     * an array. */
    [CG_QUIET] =
        {{CG_ALIGNED},
         .text = "#if defined(__GNUC__) && !defined(__clang__)\n"
                 "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n"
                 "#endif\n\n"},
    [CG_ALIGNED] = {ATTRIBUTE("GLEN_ALIGNED", "aligned(64)")},
    [CG_NOINLINE] = {ATTRIBUTE("GLEN_NOINLINE", "noinline")},
    [CG_EXTREMES] =
        {.text =
             "/* a > b ? a : b, and a < b ? a : b, of each lane. */\n"
             "#define GLEN_LANES_OF(v, c, a, b) \\\n"
             "  ((v)(((__typeof__(c))(a) & (c)) | ((__typeof__(c))(b) & "
             "~(c))))\n"
             "#define GLEN_LARGER(v, a, b) GLEN_LANES_OF(v, (a) > (b), a, b)\n"
             "#define GLEN_SMALLER(v, a, b) GLEN_LANES_OF(v, (a) < (b), a, b)\n"
             "#define GLEN_LARGER8(v, a, b) GLEN_LARGER(v, a, b)\n"
             "#define GLEN_SMALLER8(v, a, b) GLEN_SMALLER(v, a, b)\n"
             "#if defined(__AVX__) && defined(__has_builtin)\n"
             "#if __has_builtin(__builtin_ia32_maxps256)\n"
             "#undef GLEN_LARGER8\n"
             "#undef GLEN_SMALLER8\n"
             "#define GLEN_LARGER8(v, a, b) (v)__builtin_ia32_maxps256(a, b)\n"
             "#define GLEN_SMALLER8(v, a, b) (v)__builtin_ia32_minps256(a, b)\n"
             "#endif\n"
             "#endif\n\n"},
    [CG_LARGER] = {.needs = {CG_EXTREMES}},
    [CG_SMALLER] = {.needs = {CG_EXTREMES}},
    [CG_LARGER8] = {.needs = {CG_EXTREMES}},
    [CG_SMALLER8] = {.needs = {CG_EXTREMES}},
    /* gcc takes operations for such as may trap, and then makes no vectors of
     * a formula in which one value is picked out of two, as in clip. */
    [CG_CONTRACT] =
        {{CG_STRING, CG_HOLD, CG_AHEAD},
         .text =
             "#if defined(__GNUC__) && !defined(__clang__)\n"
             "#pragma GCC optimize(\"no-trapping-math\")\n"
             "#endif\n\n"
             "/* Products and sums are fused. */\n"
             "#if defined(__clang__)\n"
             "#define GLEN_CONTRACT\n"
             "#define GLEN_CONTRACT_BODY _Pragma(\"clang fp contract(fast)\")\n"
             "#else\n"
             "#define GLEN_CONTRACT "
             "__attribute__((optimize(\"fp-contract=fast\")))\n"
             "#define GLEN_CONTRACT_BODY\n"
             "#endif\n\n"},
    [CG_PACK] =
        {.text =
             "/* Loops of copies are made vectors, whatever is asked for. */\n"
             "#if defined(__GNUC__) && !defined(__clang__)\n"
             "#define GLEN_PACK __attribute__((optimize(\"O3\")))\n"
             "#else\n"
             "#define GLEN_PACK\n"
             "#endif\n\n"},
    [CG_HOLD] = {.put = cg_put_hold},
    [CG_HIDE] =
        {.text = "/* Nobody knows where the pointer points, so that what is "
                 "read by it is not\n"
                 " * kept for a later read by another one. */\n"
                 "#if defined(__GNUC__)\n"
                 "#define GLEN_HIDE(p) __asm__(\"\" : \"+r\"(p))\n"
                 "#else\n"
                 "#define GLEN_HIDE(p) (void)(p)\n"
                 "#endif\n\n"},
    [CG_AHEAD] =
        {.text =
             "#if defined(__GNUC__)\n"
             "#define GLEN_PREFETCH(p) __builtin_prefetch(p, 1)\n"
             "#define GLEN_AHEAD(p, bytes) \\\n"
             "  __builtin_prefetch((const void *)((uintptr_t)(p) + (bytes)))\n"
             "#define GLEN_LATER(p, bytes) \\\n"
             "  __builtin_prefetch((const void *)((uintptr_t)(p) + (bytes)), "
             "0, 2)\n"
             "#else\n"
             "#define GLEN_PREFETCH(p) (void)(p)\n"
             "#define GLEN_AHEAD(p, bytes) (void)(p)\n"
             "#define GLEN_LATER(p, bytes) (void)(p)\n"
             "#endif\n\n"},
    [CG_PARTS_F32_16] = {.put = cg_put_parts},
    [CG_PARTS_F64_8] = {.put = cg_put_parts},
    [CG_PARTS_I32_16] = {.put = cg_put_parts},
    [CG_PARTS_F32_8] = {.put = cg_put_parts},
    [CG_PARTS_F64_4] = {.put = cg_put_parts},
    [CG_PARTS_I32_8] = {.put = cg_put_parts},
    [CG_SOME_F32_16] = {{CG_PARTS_F32_16}, .put = cg_put_some},
    [CG_SOME_F64_8] = {{CG_PARTS_F64_8}, .put = cg_put_some},
    [CG_SOME_I32_16] = {{CG_PARTS_I32_16}, .put = cg_put_some},
    [CG_SOME_F32_8] = {{CG_PARTS_F32_8}, .put = cg_put_some},
    [CG_SOME_F64_4] = {{CG_PARTS_F64_4}, .put = cg_put_some},
    [CG_SOME_I32_8] = {{CG_PARTS_I32_8}, .put = cg_put_some},
    [CG_STREAM] = {{CG_STRING}, .put = cg_put_stream},
    [CG_FENCE] = {.needs = {CG_STREAM}},
    [CG_PREFETCH] = {.put = cg_put_fetch},
    [CG_PREFETCH_ROW] = {.needs = {CG_PREFETCH}},
    [CG_PREFETCH_WRITE] = {.needs = {CG_PREFETCH}},
    [CG_TURNS] = {.text = "#if defined(__has_builtin)\n"
                          "#if __has_builtin(__builtin_shufflevector)\n"
                          "#define GLEN_TURNS\n"
                          "#endif\n"
                          "#endif\n\n"},
    [CG_TURN_2] = {{CG_TURNS}, .put = cg_put_turn_macros},
    [CG_TURN_4] = {{CG_TURNS}, .put = cg_put_turn_macros},
    [CG_TURN_8] = {{CG_TURNS}, .put = cg_put_turn_macros},
    [CG_TURN_16] = {{CG_TURNS}, .put = cg_put_turn_macros},
    [CG_PICK] =
        {.text = "/* A vector of lanes of two others, by their numbers. */\n"
                 "#if defined(__clang__) || \\\n"
                 "    (defined(__GNUC__) && __GNUC__ >= 12)\n"
                 "#define GLEN_PICK(type, a, b, ...) \\\n"
                 "  __builtin_shufflevector(a, b, __VA_ARGS__)\n"
                 "#else\n"
                 "#define GLEN_PICK(type, a, b, ...) \\\n"
                 "  __builtin_shuffle(a, b, (type){__VA_ARGS__})\n"
                 "#endif\n\n"},
    [CG_MIN_INDEX] = {FUNCTION("I", "I a, I b", "return a < b ? a : b;\n",
                               NULL)},
    [CG_MAX_INDEX] = {FUNCTION("I", "I a, I b", "return a > b ? a : b;\n",
                               NULL)},
    [CG_FLOOR_DIV] = {FUNCTION("I", "I a, I b", "return a / b - (a % b < 0);\n",
                               NULL)},
    [CG_BF16_TO_F32] = {FUNCTION("float", "uint16_t a",
                                 "union { uint32_t u; float f; } x;\n"
                                 "x.u = (uint32_t)a << 16;\n"
                                 "return x.f;\n",
                                 NULL)},
    [CG_F32_TO_BF16] = {FUNCTION("uint16_t", "float a",
                                 "union { float f; uint32_t u; } x;\n"
                                 "x.f = a;\n"
                                 "if (a != a)\n"
                                 "  return (uint16_t)(x.u >> 16 | 64);\n"
                                 "x.u += 0x7fff + (x.u >> 16 & 1);\n"
                                 "return (uint16_t)(x.u >> 16);\n",
                                 NULL)},
    [CG_F64_TO_BF16] = {{CG_F32_TO_BF16},
                        FUNCTION("uint16_t", "double a",
                                 BY_WAY_OF_F32("glen_f32_to_bf16"), NULL)},
    [CG_F16_TO_F32] = {FUNCTION("float", "uint16_t a",
                                "union { uint32_t u; float f; } x;\n"
                                "uint32_t e = a >> 10 & 31u, m = a & 1023u;\n"
                                "x.f = (float)m * 5.9604644775390625e-8f;\n"
                                "if (e == 31)\n"
                                "  x.u = 0x7f800000 | m << 13;\n"
                                "else if (e)\n"
                                "  x.u = (e + 112) << 23 | m << 13;\n"
                                "x.u |= (uint32_t)(a >> 15) << 31;\n"
                                "return x.f;\n",
                                NULL)},
    /* Below 2^-14 a sum with 1/2 rounds to multiples of 2^-24. */
    [CG_F32_TO_F16] = {FUNCTION(
        "uint16_t", "float a",
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
        NULL)},
    [CG_F64_TO_F16] = {{CG_F32_TO_F16},
                       FUNCTION("uint16_t", "double a",
                                BY_WAY_OF_F32("glen_f32_to_f16"), NULL)},
    [CG_ADD_I32] = WRAPPING("+"),
    [CG_SUB_I32] = WRAPPING("-"),
    [CG_MUL_I32] = WRAPPING("*"),
    [CG_DIV_I32] = {FUNCTION("int32_t", "int32_t a, int32_t b",
                             "if (b == 0)\n"
                             "  return 0;\n"
                             "if (b == -1)\n"
                             "  return (int32_t)(0u - (uint32_t)a);\n"
                             "return a / b;\n",
                             NULL)},
    [CG_MAX_I32] = {FUNCTION("int32_t", "int32_t a, int32_t b",
                             "return a > b ? a : b;\n", NULL)},
    [CG_MIN_I32] = {FUNCTION("int32_t", "int32_t a, int32_t b",
                             "return a < b ? a : b;\n", NULL)},
    [CG_MAX_I64] = {FUNCTION("int64_t", "int64_t a, int64_t b",
                             "return a > b ? a : b;\n", NULL)},
    [CG_MIN_I64] = {FUNCTION("int64_t", "int64_t a, int64_t b",
                             "return a < b ? a : b;\n", NULL)},
    [CG_MAX_F32] = MAX("float"),
    [CG_MIN_F32] = MIN("float"),
    [CG_MAX_F64] = MAX("double"),
    [CG_MIN_F64] = MIN("double"),
    [CG_SELECT_I32] = SELECT("int32_t"),
    [CG_SELECT_I64] = SELECT("int64_t"),
    [CG_SELECT_F32] = {{CG_PICK_F32},
                       FUNCTION("float", "float c, float a, float b",
                                "return glen_pick_f32(c > 0, a, b);\n", NULL)},
    [CG_SELECT_F64] = SELECT("double"),
    [CG_SQUARE_F32] = {FUNCTION("float", "float a", "return a * a;\n", NULL)},
    [CG_SQUARE_F64] = {FUNCTION("double", "double a", "return a * a;\n", NULL)},
    [CG_SQUARE_I32] = {FUNCTION(
        "int32_t", "int32_t a",
        "return (int32_t)((uint32_t)a * (uint32_t)a);\n", NULL)},
    [CG_ABS_I32] = {FUNCTION(
        "int32_t", "int32_t a",
        "return a < 0 ? (int32_t)(0u - (uint32_t)a) : a;\n", NULL)},
    [CG_F64_TO_I32] = {FUNCTION(
        "int32_t", "double a",
        "if (!(a > -2147483648.0))\n"
        "  return a != a ? 0 : -2147483647 - 1;\n"
        "return a < 2147483647.0 ? (int32_t)a : 2147483647;\n",
        NULL)},
    [CG_F64_TO_I64] = {FUNCTION("int64_t", "double a",
                                "if (!(a > -9007199254740992.0))\n"
                                "  return a != a ? 0 : -9007199254740992;\n"
                                "return a < 9007199254740992.0 ? (int64_t)a : "
                                "9007199254740992;\n",
                                NULL)},
    [CG_F64_TO_U32] = {FUNCTION("uint32_t", "double a",
                                "if (!(a > 0.0))\n"
                                "  return 0;\n"
                                "return a < 4294967295.0 ? (uint32_t)a : "
                                "4294967295u;\n",
                                NULL)},
    [CG_F64_TO_I8] = SATURATING("int8_t", "-128", "127"),
    [CG_F64_TO_U8] = {FUNCTION("uint8_t", "double a",
                               "if (!(a > 0.0))\n"
                               "  return 0;\n"
                               "return a < 255.0 ? (uint8_t)a : 255;\n",
                               NULL)},
    [CG_F64_TO_I16] = SATURATING("int16_t", "-32768", "32767"),
    [CG_F64_TO_U16] = SATURATING("uint16_t", "0", "65535"),
    /* Functions without a branch, so that loops of them are vectors. Which of
     * two it is is decided by bits: compilers would compute either in a branch
     * of its own.  Largest errors, in units in the last place: exp 1.1,
     * erf 2.0, tanh 1.4.  exp adds 1.5 * 2^23, after which the low bits are the
     * nearest integer; it has an upper bound, beyond which the polynomial is
     * infinite by itself, and what is below the range of floats becomes zero at
     * the end, so that a NaN goes through.  Powers of two are multiplied twice,
     * as the result may be subnormal. */
    [CG_PICK_F32] = {FUNCTION("float", "uint32_t c, float a, float b",
                              "union { float f; uint32_t u; } x, y;\n"
                              "x.f = a;\n"
                              "y.f = b;\n"
                              "x.u = (x.u & (0u - c)) | (y.u & (c - 1u));\n"
                              "return x.f;\n",
                              NULL)},
    [CG_EXP_F32] = {FUNCTION(
        "float", "float a",
        "union { float f; uint32_t u; int32_t i; } z, low, high;\n"
        "z.f = a * 1.44269504f + 12582912.0f;\n"
        "z.i = z.i < 0x4b400082 ? z.i : 0x4b400082;\n"
        "z.u -= 0x4b400000u;\n"
        "const float k = (float)z.i;\n"
        "float x = a - k * 0.693359375f;\n"
        "x = x + k * 2.12194440e-4f;\n"
        "float p = 0.0013950556f;\n"
        "p = p * x + 0.008368929f;\n"
        "p = p * x + 0.041666206f;\n"
        "p = p * x + 0.16666518f;\n"
        "p = p * x + 0.5f;\n"
        "p = p * x * x + x + 1.0f;\n"
        "z.u += 254;\n"
        "low.u = (z.u >> 1) << 23;\n"
        "high.u = (z.u - (z.u >> 1)) << 23;\n"
        "z.f = p * low.f * high.f;\n"
        "z.u &= (uint32_t)(a < -104.0f) - 1u;\n"
        "return z.f;\n",
        NULL)},
    [CG_ERF_F32] = {{CG_PICK_F32, CG_EXP_F32},
                    FUNCTION(
                        "float", "float a",
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
                        NULL)},
    [CG_TANH_F32] =
        {{CG_PICK_F32, CG_EXP_F32},
         FUNCTION(
             "float", "float a",
             "union { float f; uint32_t u; } sign, r;\n"
             "sign.f = r.f = a;\n"
             "sign.u &= 0x80000000u;\n"
             "r.u &= 0x7fffffffu;\n"
             "const float x = r.f, u = a * a, y = glen_pick_f32(x > 10.0f, "
             "10.0f, "
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
             NULL)},
    /* The least k from 0 to n from which on k + from >= end, unless a
     * difference of 32 bits might wrap. */
    [CG_REACH] = {FUNCTION("I", "double end, double from, I n",
                           "const double d = end - from;\n"
                           "if (!(d > 0.0))\n"
                           "  return d < (double)n - 2147483648.0 ? n : 0;\n"
                           "if (d >= (double)n)\n"
                           "  return n;\n"
                           "const I k = (I)d;\n"
                           "return (double)k + from < end ? k + 1 : k;\n",
                           NULL)},
    [CG_CLAMP_INDEX] = {FUNCTION("I", "int32_t a, I n",
                                 "if (a < 0)\n"
                                 "  return 0;\n"
                                 "return a < n ? (I)a : n - 1;\n",
                                 NULL)},
    [CG_CLAMP_REAL] = {FUNCTION("I", "double a, I n",
                                "if (!(a > 0.0))\n"
                                "  return 0;\n"
                                "return a < (double)n ? (I)a : n - 1;\n",
                                NULL)},
};
