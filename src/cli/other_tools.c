/* SPDX-License-Identifier: MIT */
/* other_tools.c - see other_tools.h: a table of commands, one of options, one
 * of files. */
#include "cli/other_tools.h"
#include "cli/cli_options.h"

#include <stddef.h>
#include <string.h>

typedef struct answer {
  const char *words; /* divided by spaces */
  const char *said;
} answer;

static const answer commands[] = {
    {"build cc codegen gen generate emit translate",
     "glen compile writes a program as C"},
    {"optimize optimise opt rewrite simplify egraph",
     "glen saturate finds a cheaper program"},
    {"verify equal equiv compare diff",
     "glen check compares two programs, and glen saturate --verify proves that "
     "a result equals its program"},
    {"prove proof", "glen rules prove proves rules, or refutes them"},
    {"test", "glen rules test runs the tests beside the rules"},
    {"lint", "glen rules check finds what is wrong in rule files"},
    {"tune autotune autoschedule search",
     "glen compile --tune N measures schedules and takes the fastest"},
    {"bench benchmark time profile",
     "glen run --repeat N times a program, and --profile shows its steps"},
    {"execute exec eval interpret", "glen run runs a program"},
    {"convert load onnx", "glen import turns a model into a program"},
    {"parse print show dump", "glen fmt prints a program"},
    {"version", "glen --version prints the version"},
};

static const answer options[] = {
    {"-V", "glen --version prints the version"},
    {"--threads --num-threads --jobs --cores", "--omp-threads N sets them"},
    {"--device --gpu --cuda --opencl",
     "glen compile --emit cuda, or opencl,opencl-host, writes code for a "
     "device"},
    {"--schedule --script", "--sched FILE is a script of schedule commands"},
    {"--arch --march --cpu --mcpu --isa",
     "--target native describes this machine"},
    {"--optimize --opt --opt-level --level",
     "--choose N and --tune N ask for more than the default schedule"},
    {"--rewrite --rule --ruleset", "--rules takes a file of rules"},
    {"--iterations --iters --max-iters --max-iterations",
     "--iter-limit N bounds them"},
    {"--nodes --max-nodes", "--node-limit N bounds them"},
    {"--timeout", "--time-limit SECONDS bounds the time"},
    {"--set --define", "--param NAME=VALUE sets a parameter of rule files"},
    {"--cost --cost-model --objective",
     "--target FILE says what instructions cost, and --layout-cost of glen "
     "layout how layouts are priced"},
    {"--fp16 --bf16 --half --dtype --precision",
     "a tensor has its dtype in the program: (tensor x (shape 4 8) f16)"},
    {"--verbose-ir --print-ir --dump --save-temps --print-after-all",
     "--emit FORM writes the program, its loops, the schedule or the code"},
    {"--shape --batch",
     "--dim NAME=SIZE gives a dimension of a model a size, --size NAME=NUMBER "
     "one of a program"},
};

static const answer forms[] = {
    {"llvm llvm-ir ll bc mlir asm s o obj object exe so",
     "glen writes C; a C compiler turns it into that"},
    {"ptx cubin hip metal vulkan spirv wgsl",
     "glen writes cuda and opencl for devices"},
    {"py python triton numpy", "glen writes C; the Python package calls it"},
    {"ir relay tir hlo", "loops shows what is computed, sched how"},
};

static const answer files[] = {
    {".sched", "--sched"},
    {".rules", "--rules"},
    {".target", "--target"},
    {".npy", "--input"},
};

static const char *
said_of(const answer *table, size_t n, const char *word) {
  for (size_t k = 0; k < n; k++)
    if (cl_is_choice(table[k].words, word))
      return table[k].said;
  return NULL;
}

const char *
cl_other_command(const char *word) {
  return said_of(commands, sizeof commands / sizeof *commands, word);
}

const char *
cl_other_option(const char *word) {
  return said_of(options, sizeof options / sizeof *options, word);
}

const char *
cl_other_form(const char *word) {
  return said_of(forms, sizeof forms / sizeof *forms, word);
}

const char *
cl_option_of_file(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? said_of(files, sizeof files / sizeof *files, dot) : NULL;
}
