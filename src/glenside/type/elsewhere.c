/* SPDX-License-Identifier: MIT */
/* elsewhere.c - see elsewhere.h: one table of words, one of files. */
#include "base/text.h"
#include "glenside/type/elsewhere.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define MATRIX                                                                 \
  "a matrix product is (compute dotProd (cartProd (access a 1) (access "       \
  "(transpose b (list 1 0)) 1)))"
#define CONVOLUTION                                                            \
  "a convolution is (compute dotProd (cartProd (windows (access image 1) "     \
  "(shape C 3 3) (stride 1 1 1)) (access weights 1)))"
#define PAIR(op) "operands go into a pair: (compute " op " (pair a b))"
#define BATCH_NORM_WORDS                                                       \
  " batchNorm batchnorm batch_norm BatchNorm BatchNorm2d batchNorm2d "         \
  "BatchNormalization "
#define BATCH_NORM                                                             \
  "a trained network scales and shifts each channel: (add (mul x a) b), "      \
  "where a, gain / sqrt(variance + epsilon), and b, bias - mean * a, have "    \
  "(shape C 1 1)"
#define DROPOUT_WORDS " dropout Dropout identity Identity "
#define DROPOUT       "it changes nothing in a trained network: leave it out"
#define EXP2          "2 to the power of x is (exp (scale x 0.6931471805599453))"
#define LOG2          "the logarithm to base 2 is (scale (log x) 1.4426950408889634)"
#define LOG10         "the logarithm to base 10 is (scale (log x) 0.4342944819032518)"
#define EXPM1         "it is written (offset (exp x) -1)"
#define LOG1P         "it is written (log (offset x 1))"
#define PROGRAM                                                                \
  "this is a form of programs, and this file is read as rules: pass it to "    \
  "saturate, compile or run; a rule is (rule NAME \"why\" LEFT => RIGHT)"
#define EGGLOG                                                                 \
  "a rule is (rule NAME \"why\" LEFT => RIGHT), with <=> for both "            \
  "directions, and variables are written ?a"
#define NO_SORTS "terms have types of their own, so nothing has to be declared"

static const struct {
  gs_word_place place;
  const char *words; /* between spaces */
  const char *hint;
} table[] = {
    {GS_AS_TERM, " mm bmm gemm dot Gemm MatMul einsum contract tensordot @ ",
     "a matrix product is (matmul a b)"},
    {GS_AS_TERM, " dense Dense fc ", "a dense layer is (linear x weights)"},
    {GS_AS_TERM, " Conv convolution convolve ",
     "a convolution is (conv2d image weights :stride 1 :pad 0)"},
    {GS_AS_TERM, " maxpool maxpool2d max_pool2d MaxPool ",
     "pooling is (maxPool image 2 :stride 2)"},
    {GS_AS_TERM, " avgpool avgpool2d avg_pool2d AveragePool ",
     "pooling is (avgPool image 2 :stride 2)"},
    {GS_AS_TERM, " layernorm layer_norm LayerNormalization ",
     "it is written (layerNorm x gain bias AXIS EPSILON)"},
    {GS_AS_TERM, BATCH_NORM_WORDS, BATCH_NORM},
    {GS_AS_TERM, DROPOUT_WORDS, DROPOUT},
    {GS_AS_TERM, " quote quasiquote ",
     "nothing is quoted: write the name alone"},
    {GS_AS_TERM, " + plus ", "a sum is (add a b)"},
    {GS_AS_TERM, " - minus subtract ", "a difference is (sub a b)"},
    {GS_AS_TERM, " * times multiply ", "a product is (mul a b)"},
    {GS_AS_TERM, " / divide ", "a quotient is (div a b)"},
    {GS_AS_TERM, " reduce_sum ", "a sum is (sum a AXIS)"},
    {GS_AS_TERM, " reduce_mean ", "a mean is (mean a AXIS)"},
    {GS_AS_TERM, " exp2 pow2 ", EXP2},
    {GS_AS_TERM, " log2 ", LOG2},
    {GS_AS_TERM, " log10 ", LOG10},
    {GS_AS_TERM, " expm1 ", EXPM1},
    {GS_AS_TERM, " log1p ", LOG1P},
    {GS_AS_COMPUTE, " exp2 pow2 ", EXP2},
    {GS_AS_COMPUTE, " log2 ", LOG2},
    {GS_AS_COMPUTE, " log10 ", LOG10},
    {GS_AS_COMPUTE, " expm1 ", EXPM1},
    {GS_AS_COMPUTE, " log1p ", LOG1P},
    {GS_AS_TERM, " tan ", "a tangent is (div (sin a) (cos a))"},
    {GS_AS_TERM, " swish SiLU ", "it is written (silu a)"},
    {GS_AS_TERM, " GELU ", "it is written (gelu a)"},
    {GS_AS_TERM, " relu6 ReLU6 hardtanh ", "it is written (clip a 0 6)"},
    {GS_AS_TERM, " leakyRelu leaky_relu LeakyReLU ",
     "it is written (max a (scale a 0.01))"},
    {GS_AS_TERM, " logSoftmax log_softmax LogSoftmax ",
     "it is written (log (softmax a AXIS))"},
    {GS_AS_TERM, " ones full eye arange linspace iota ",
     "elements are listed: (const NAME (shape 4) f32 0 1 2 3) is a form of its "
     "own, before the term that uses NAME"},
    {GS_AS_TERM, " argmax argmin topk sort argsort ",
     "there is no operator for indices of elements, or for sorting"},
    {GS_AS_TERM, " astype to convert as_type ", "it is written (cast a f16)"},
    {GS_AS_TERM, " select if cond ", "it is written (where condition a b)"},
    {GS_AS_TERM, " chunk split index narrow ",
     "a part is (slice a DIMENSION FROM TO)"},
    {GS_AS_TERM, " lstm LSTM gru GRU rnn RNN while for loop ",
     "steps that carry a state are (scan ...)"},
    {GS_AS_TERM, " lambda fn map forall reduce_axis compute_at te.compute ",
     "operators take whole arrays, without variables for indices; "
     "(define (NAME x) TERM) gives a term with operands a name"},
    {GS_AS_RULE_TERM,
     " matmul mm bmm gemm dot Gemm MatMul linear dense einsum contract "
     "tensordot @ ",
     MATRIX},
    {GS_AS_RULE_TERM, " conv conv1d conv2d conv3d Conv convolution convolve ",
     CONVOLUTION},
    {GS_AS_RULE_TERM, " + plus ", PAIR("add")},
    {GS_AS_RULE_TERM, " - minus subtract ", PAIR("sub")},
    {GS_AS_RULE_TERM, " * times multiply ", PAIR("mul")},
    {GS_AS_RULE_TERM, " / divide ", PAIR("div")},
    {GS_AS_TERM, " permute swapaxes T ",
     "axes are exchanged by (transpose a (list 1 0))"},
    {GS_AS_TERM, " view ", "write (reshape a (shape 2 3) (shape))"},
    {GS_AS_TERM, " unsqueeze expand_dims ", "write (insertAxis a 0)"},
    {GS_AS_TERM, " expand broadcast_to tile ",
     "write (broadcast a (shape 4 8)), or (repeat a 0 4)"},
    {GS_AS_TERM, " cat concatenate stack ", "write (concat a b 0)"},
    {GS_AS_COMPUTE, " dot mm gemm ", MATRIX},
    {GS_AS_COMPUTE, " + ", PAIR("add")},
    {GS_AS_COMPUTE, " - ", PAIR("sub")},
    {GS_AS_COMPUTE, " * ", PAIR("mul")},
    {GS_AS_COMPUTE, " / ", PAIR("div")},
    {GS_AS_COMPUTE, BATCH_NORM_WORDS, BATCH_NORM},
    {GS_AS_COMPUTE, DROPOUT_WORDS, DROPOUT},
    {GS_AS_ARITY, " reshape ",
     "write (reshape a (shape s...) (shape c...)); the second shape is that of "
     "one item, which is (shape) for a whole array: (reshape a (shape 16) "
     "(shape))"},
    {GS_AS_ARITY, " transpose ",
     "write (transpose a (list p...)), such as (transpose a (list 1 0)); "
     "(turned a) exchanges the last two dimensions"},
    {GS_AS_ARITY, " concat ",
     "write (concat a b ... d), where d is the dimension: (concat a b 0)"},
    {GS_AS_ARITY, " slice ",
     "write (slice a d lo hi), where d is the dimension and hi is one past the "
     "last index: (slice a 0 2 5) keeps 2, 3 and 4"},
    {GS_AS_ARITY, " gather ",
     "rows of a table are chosen by (embedding table indices); gather itself "
     "takes the table and the indices in a pair: (gather (pair table "
     "indices))"},
    {GS_AS_DTYPE,
     " int4 i4 uint4 u4 fp8 f8 float8 fp4 float8_e4m3fn float8_e5m2 e4m3 e5m2 ",
     "the narrowest are i8 and u8, f16 and bf16"},
    {GS_AS_DTYPE, " complex complex64 complex128 c64 c128 ",
     "there are no complex numbers: keep their real and imaginary parts in two "
     "arrays"},
    {GS_AS_DTYPE, " u64 uint64 uint64_t ",
     "the integers are i8, u8, i16, u16, i32, u32 and i64"},
    {GS_AS_FORM, " input placeholder param parameter array var ",
     "an input is (tensor NAME (shape 4 8) f32)"},
    {GS_AS_FORM, " # // /* -- % ", "a comment begins with ;"},
    {GS_AS_FORM, " set = assign ", "a name is given by (let NAME TERM)"},
    {GS_AS_FORM, " program module graph main begin do ",
     "the forms of a program follow one another in the file, with nothing "
     "around them"},
    {GS_AS_FORM, " def fn defun function lambda ",
     "a definition is (define (NAME x y) TERM)"},
    {GS_AS_FORM, " return result ", "a result is (output NAME)"},
    {GS_AS_FORM, " datatype sort function relation constructor ",
     "a program has no sorts: its operators are given, and (define (NAME x y) "
     "TERM) adds others"},
    {GS_AS_FORM, " rule ruleset strategy param test rewrite birewrite ",
     "this is a form of rule files: pass the file with --rules FILE"},
    {GS_AS_FORM, " target instr ",
     "this is a form of target files: pass the file with --target FILE"},
    {GS_AS_RULE_FORM, " rewrite birewrite bi-rewrite ", EGGLOG},
    {GS_AS_RULE_FORM, " datatype sort function relation constructor ",
     NO_SORTS},
    {GS_AS_RULE_FORM, " rw rw! multi_rewrite pattern Pattern ",
     "this is egg's Rust; a rule is (rule NAME \"why\" LEFT => RIGHT)"},
    {GS_AS_RULE_FORM, " union extract check saturate ",
     "what to do with a program is said on the command line, for example by "
     "glen saturate"},
    {GS_AS_RULE_FORM, " tensor const let output ", PROGRAM},
    {GS_AS_RULE_FORM, " target instr ",
     "this is a form of target files: pass the file with --target FILE"},
    {GS_AS_RULE_CLAUSE, " :if :when :guard :require :assert ",
     "a condition is :where COND"},
    {GS_AS_RULE_CLAUSE, " :unless :if-not ",
     "a condition is :where COND, and its opposite :where (not COND)"},
    {GS_AS_RULE_CLAUSE, " :ruleset :group :tag :in ",
     "rules do not name their set: (ruleset NAME RULE...) lists them"},
    {GS_AS_RULE_CLAUSE, " :priority :weight :cost :order ",
     "rules have no priority: (strategy NAME (seq ...)) says which run first"},
    {GS_AS_RULE_CLAUSE, " :name :doc :description :comment :because ",
     "a rule begins with its name and what it is for: (rule NAME \"why\" "
     "LEFT => RIGHT)"},
    {GS_AS_TARGET_FORM, " clock freq frequency mhz ghz clock-ghz hz ",
     "it is written (frequency-ghz 2.4)"},
    {GS_AS_TARGET_FORM, " l1 l2 l3 L1 L2 L3 l1d l1-cache caches llc ",
     "a cache is written by its level: (cache 1 (bytes 32768))"},
    {GS_AS_TARGET_FORM,
     " scratchpad spad sram bank banks buffer accumulator ram ",
     "a memory is written (memory NAME (bytes 65536))"},
    {GS_AS_TARGET_FORM, " bandwidth dram memory-bandwidth ",
     "it is written (memory (bytes-per-cycle 8))"},
    {GS_AS_TARGET_FORM, " flops gflops peak ",
     "it is written (host (flops-per-cycle 16))"},
    {GS_AS_TARGET_FORM, " simd simd-width vector-width vector-bits vlen ",
     "it is written (vector-bytes 32)"},
    {GS_AS_TARGET_FORM, " arch cpu isa mcpu ",
     "it is written (march \"x86-64-v3\")"},
    {GS_AS_TARGET_FORM, " threads ", "it is written (cores 4)"},
    {GS_AS_TARGET_FORM, " size capacity ", "it is written (bytes 32768)"},
    {GS_AS_TARGET_FORM, " header headers prelude_file ",
     "a header is named by (prelude-file \"unit.h\")"},
    {GS_AS_TARGET_FORM, " instruction intrinsic op operation ",
     "an instruction is (instr NAME ...), beside (target ...)"},
    {GS_AS_TARGET_FORM, " instr mac target ",
     "it belongs beside (target ...), not in it"},
    {GS_AS_TARGET_FORM,
     " cores frequency-ghz vector-bytes vector-registers march cache memory "
     "host set default prelude prelude-file ",
     "it belongs in (target NAME ...)"},
    {GS_AS_INSTR_PART, " args arguments inputs input operand ",
     "operands are (operands (a ((n) ()) f32) ...)"},
    {GS_AS_INSTR_PART, " output outputs returns out ",
     "the result is (result ((n) ()) f32)"},
    {GS_AS_INSTR_PART, " meaning compute body spec semantic definition ",
     "what it computes is (semantics TERM)"},
    {GS_AS_INSTR_PART, " cycles latency price issue ",
     "it is written (cost (cycles 16))"},
    {GS_AS_INSTR_PART, " template code asm c call intrinsic emits ",
     "its C is (emit \"f({n}, {a}, {result});\")"},
    {GS_AS_INSTR_PART, " if when condition requires require constraint ",
     "for which sizes it exists is (where CONDITION)"},
    {GS_AS_TARGET_FORM, " tensor const let output ",
     "this is a form of programs, and this file is read as a target"},
    {GS_AS_TARGET_FORM, " rule ruleset strategy test ",
     "this is a form of rule files: pass the file with --rules FILE"},
};

/* What is the same thing under another name. */
static const struct {
  gs_word_place place;
  const char *words; /* between spaces */
  const char *name;
} renamed[] = {
    {GS_AS_COMPUTE, " sum Sum reduce_sum ", "reduceSum"},
    {GS_AS_COMPUTE, " mean avg reduce_mean ", "reduceMean"},
    {GS_AS_COMPUTE, " prod product ", "reduceProd"},
    {GS_AS_DTYPE, " float float32 fp32 single ", "f32"},
    {GS_AS_DTYPE, " double float64 fp64 ", "f64"},
    {GS_AS_DTYPE, " bfloat16 bfloat ", "bf16"},
    {GS_AS_DTYPE, " int8 int8_t char ", "i8"},
    {GS_AS_DTYPE, " uint8 uint8_t ", "u8"},
    {GS_AS_DTYPE, " float16 half fp16 ", "f16"},
    {GS_AS_DTYPE, " int16 int16_t short ", "i16"},
    {GS_AS_DTYPE, " uint16 uint16_t ", "u16"},
    {GS_AS_DTYPE, " boolean bool_ logical ", "bool"},
    {GS_AS_DTYPE, " int int32 int32_t long ", "i32"},
    {GS_AS_DTYPE, " int64 int64_t ", "i64"},
    {GS_AS_DTYPE, " uint32 uint32_t ", "u32"},
};

bool
gs_hint_elsewhere(bs_diags *diags, gs_word_place place, const char *word) {
  if (!word)
    return false;
  for (size_t k = 0; k < sizeof renamed / sizeof *renamed; k++)
    if (renamed[k].place == place && bs_has_word(renamed[k].words, word)) {
      bs_meant(diags, "`", renamed[k].name);
      return true;
    }
  for (size_t k = 0; k < sizeof table / sizeof *table; k++)
    if (table[k].place == place && bs_has_word(table[k].words, word)) {
      bs_hint(diags, "%s", table[k].hint);
      return true;
    }
  return false;
}

void
gs_hint_variable(bs_diags *diags, const char *word) {
  const char *name = word + strspn(word, "'`,:$");
  if (*name == '_' || isalpha((unsigned char)*name))
    bs_hint(diags, "a variable is written ?%s", name);
}

static const struct {
  const char *suffix, *hint;
} files[] = {
    {".py", "this is Python; glen reads programs in its own language "
            "(docs/LANGUAGE.md) and models in the ONNX format, as "
            "torch.onnx.export writes them"},
    {".c", "this is C, which glen writes but does not read; programs are "
           "written in a language of their own (docs/LANGUAGE.md)"},
    {".h", "this is C, which glen writes but does not read"},
    {".cu", "this is CUDA, which glen writes but does not read"},
    {".json", "to read an e-graph in JSON, use glen extract"},
    {".npy", "pass an array to glen run with --input NAME=F.npy"},
    {".mlir", "glen does not read MLIR; convert the model to the ONNX format"},
    {".pt", "glen does not read PyTorch weights; export the model with "
            "torch.onnx.export"},
    {".pth", "glen does not read PyTorch weights; export the model with "
             "torch.onnx.export"},
    {".tflite", "glen does not read models of TensorFlow Lite; tf2onnx turns "
                "them into the ONNX format"},
    {".pb", "glen does not read TensorFlow graphs; tf2onnx turns them into the "
            "ONNX format"},
    {".keras", "glen does not read Keras models; tf2onnx turns them into the "
               "ONNX format"},
    {".h5", "glen does not read Keras models; tf2onnx turns them into the ONNX "
            "format"},
    {".sched", "this is a schedule script: pass it with --schedule FILE"},
    {".md", "this is a document; programs are written in a language of their "
            "own (docs/LANGUAGE.md)"},
};

const char *
gs_elsewhere_file(const char *path) {
  const char *dot = strrchr(path, '.');
  for (size_t k = 0; dot && k < sizeof files / sizeof *files; k++)
    if (!strcasecmp(dot, files[k].suffix))
      return files[k].hint;
  return "a program consists of tensor, const, let and output forms "
         "(docs/LANGUAGE.md)";
}
