/* SPDX-License-Identifier: MIT */
/* commands.c - the table of commands: how each is called, and what its help
 * says.  The functions behind it are in cli_main.c, so that what prints help
 * does not depend on every command. */
#include "cli/cli_options.h"
#include "cli/options_table.h"

const cl_command cl_commands[] = {
    {"saturate", "F.glen", 1, 1,
     "explore with rules, extract the cheapest program, report",
     "Puts the program into an e-graph, applies the rules until nothing new\n"
     "appears or a limit is hit, and extracts the cheapest equal program for\n"
     "the target.  Prints that program with its types, the cost before and\n"
     "after, the rules that led to it, and why the run stopped.  Ctrl-C stops\n"
     "early and keeps the best so far.  Without --rules, the rules that come\n"
     "with glen are used.\n\n"
     "  glen saturate examples/conv.glen\n"
     "  glen saturate examples/conv.glen --target systolic -o mapped.glen\n"
     "  glen saturate examples/conv.glen --rules my.rules\n"},
    {"compile", "F.glen", 1, 1, "compile a program to C and a header",
     "Writes a C function and, beside it, its header; without -o, prints the\n"
     "function alone.  With --rules, the program is saturated first.  Without\n"
     "--rules, it is saturated by the rules that come with glen if the target\n"
     "has instructions; otherwise it is compiled as it is written.\n\n"
     "  glen compile examples/conv.glen -o conv.c\n"
     "  glen compile examples/conv.glen --target systolic \\\n"
     "      --emit=glen,c,h -o conv.c\n"
     "  glen compile examples/conv.glen --emit=loops\n"},
    {"run", "F.glen", 1, 1, "compile and run a program, or interpret it",
     "Runs the program on .npy files, or on inputs made from a seed, and "
     "shows\n"
     "the first elements of each output.\n\n"
     "  glen run examples/matmul.glen --check\n"
     "  glen run examples/matmul.glen --input A=a.npy --output out.npy\n"
     "  glen run examples/matmul.glen --interpret\n"},
    {"check", "A.glen B.glen", 2, 2,
     "check whether two programs compute the same",
     "Answers \"proved\" (for every input); \"refuted\", with an input and "
     "the\n"
     "element that differs (exit 4); or, if neither is possible, \"tested\":\n"
     "the programs agreed on several seeded inputs.\n\n"
     "  glen check examples/conv.glen mapped.glen "
     "--target targets/systolic.target\n"},
    {"schedule", "PROGRAM", 0, 1, "apply a script of schedule commands",
     "Applies loop transformations to the loops of a .glen program or to a\n"
     ".loops file, and checks each against the dependences.  If a command is\n"
     "not legal, it names two instances that would run in the wrong order,\n"
     "writes nothing and exits with 1.\n\n"
     "  glen schedule matmul.loops --sched tile.sched --print loops\n"
     "  glen schedule examples/matmul.glen --sched tile.sched -o matmul.c\n"
     "  glen schedule --list\n"},
    {"layout", "PROGRAM", 1, 1, "find layouts for a program's arrays",
     "Predicts the cost of the order in which arrays lie in memory, tries to\n"
     "transpose and cut their first two dimensions, and keeps the change that\n"
     "lowers the cost most, until none does.  Prints a schedule script whose\n"
     "commands make the layouts and whose comments show the search; inputs "
     "are\n"
     "copied.\n\n"
     "  glen layout examples/matmul.glen\n"
     "  glen layout matmul.loops --widths 4,8,16 -o pack.sched\n"
     "  glen layout stencil.loops --layout-cost lines --keep-order\n"},
    {"explain", "A.glen [B.glen]", 1, 2, "explain why two programs are equal",
     "Saturates both programs in one e-graph until they meet, and prints the\n"
     "shortest chain of rule applications that it found between them.  Each\n"
     "step shows its rule, its place and direction, what it changed, and the\n"
     "values of the variables; --verbose shows all steps of a long chain.  "
     "With\n"
     "one program, the chain leads to what saturate extracts.  Each step is\n"
     "checked by replaying its rule alone.  Exits with 1 if the programs were\n"
     "not found equal.\n\n"
     "  glen explain a.glen b.glen --rules rules/\n"
     "  glen explain examples/conv.glen --rules rules/ \\\n"
     "      --target targets/systolic.target\n"},
    {"map", "F.glen", 1, 1, "show which part went to which instruction",
     "Saturates and extracts the program, and shows what became of each "
     "part.\n"
     "For an instruction that was not used, tells where its rule came nearest\n"
     "to a match, what was missing, and what you could do about it.  "
     "--why-not\n"
     "asks about one instruction or any rule.  --all lists the calls that "
     "each\n"
     "part may become, with their costs.\n\n"
     "  glen map examples/conv.glen --rules rules/ \\\n"
     "      --target targets/systolic.target\n"
     "  glen map my.glen --rules rules/ --target targets/systolic16.target \\\n"
     "      --why-not systolicArray\n"},
    {"rules test", "PATH...", 0, CL_MAX_LIST, "run the tests beside the rules",
     "Runs every (test ...) in the rule files, and in a folder tests/NAME "
     "that\n"
     "stands beside a folder NAME of rules.  With --random N, it runs each "
     "rule\n"
     "on N random programs instead and compares with the reference\n"
     "interpreter.\n\n"
     "  glen rules test rules/\n"
     "  glen rules test rules/ --filter im2col --verbose\n"},
    {"rules check", "[PATH...]", 0, CL_MAX_LIST,
     "find what is wrong in rule files",
     "Reads rule files and reports what looks wrong in them: right sides that\n"
     "have no type, or another one than the left, on small generated shapes;\n"
     "rules that are written twice, that a more general rule covers, that can\n"
     "feed themselves, that can never apply, or that no strategy runs; and\n"
     "names that nothing uses.  Exits with 1 for errors and, with --strict, "
     "for\n"
     "warnings.  --verbose adds remarks.  --list prints the functions of\n"
     "expressions.\n\n"
     "  glen rules check rules/\n"
     "  glen rules check my.rules --strict --json\n"
     "  glen rules check --list\n"},
    {"rules prove", "[PATH...]", 0, CL_MAX_LIST, "prove rules, or refute them",
     "Asks the prover about every rule in the files, and about those of the\n"
     "instructions of --target.  Prints the rules that are not proved: "
     "tested,\n"
     "with the reason; refuted (exit 4), with the smallest shape, the inputs,\n"
     "the element and both values; or unknown (exit 1 with --strict).\n"
     "--verbose prints the proved rules, too.\n\n"
     "  glen rules prove rules/\n"
     "  glen rules prove my.rules --filter transpose --verbose\n"
     "  glen rules prove --target targets/systolic.target --json\n"},
    {"rules fmt", "PATH...", 1, CL_MAX_LIST, "format source files",
     "Formats .rules, .glen and .target files, or all of a directory, in "
     "place.\n"
     "Only white space changes, and comments stay.  - reads stdin and writes\n"
     "stdout.  --check writes nothing, lists the files that would change, and\n"
     "exits with 1 if there are any.\n\n"
     "  glen rules fmt rules/ my.glen\n"
     "  glen rules fmt --check rules/\n"},
    {"rules ablate", "F.glen", 1, 1,
     "measure what each rule is worth to a program",
     "Saturates the program with all rules, then once without each rule that\n"
     "was applied, and prints how the cost and the size of the e-graph "
     "change:\n"
     "first the rules without which the result is worse, then those that cost\n"
     "the most nodes.\n\n"
     "  glen rules ablate examples/matmul.glen --rules rules/ \\\n"
     "      --target targets/systolic.target --iter-limit 50\n"
     "  glen rules ablate examples/conv.glen --rules rules/ --filter concat\n"},
    {"target test", "F.target...", 1, CL_MAX_LIST,
     "check that C templates do what instructions mean",
     "Compiles calls of each instruction with the sanitizers, runs them, and\n"
     "compares the results with the semantics.  Prints for each instruction\n"
     "\"tested\"; \"refuted\" (exit 4), with the smallest call that goes "
     "wrong;\n"
     "or \"untested\" (exit 3), if its C cannot be built here.  This executes\n"
     "the C in the target file.\n\n"
     "  glen target test targets/systolic.target\n"
     "  glen target test my.target --filter conv --json\n"},
    {"target", "[F.target]", 0, 1, "show a target, or describe this machine",
     "Prints a target as glen reads it, in a form that can be read again.\n\n"
     "  glen target --detect > my.target\n"
     "  glen target targets/systolic.target\n"},
    {"extract", "F.json", 1, 1, "find the cheapest term of a foreign e-graph",
     "Reads an e-graph in the JSON of egraph-serialize, and prints the chosen\n"
     "nodes and their cost.\n\n"
     "  glen extract graph.json --extractor exact\n"},
    {"import", "MODEL.onnx", 0, 1,
     "turn a model in the ONNX format into a program",
     "Writes MODEL.glen and, beside it, MODEL.weights with the elements of "
     "its\n"
     "weights; -o names another place.  --dim gives the sizes that the model\n"
     "leaves open, or bounds of sizes that stay open in the program.  One run\n"
     "reports all nodes that are not supported.\n\n"
     "  glen import resnet50.onnx --dim batch=1\n"
     "  glen import bert.onnx --dim batch=1 --dim words=1..512\n"
     "  glen run resnet50.glen --input image=img.npy --output y.npy\n"
     "  glen import --list-operators\n"},
    {"lsp", "", 0, 0, "serve an editor: LSP over stdin and stdout",
     "The language server: findings as you type, types of terms, definitions,\n"
     "completion and formatting, for .glen, .rules, .target and .sched files.\n"
     "--target declares the instructions that programs and rules may call.\n"
     "docs/EDITOR.md explains how to set up VS Code and Neovim.\n\n"
     "  glen lsp --target targets/systolic.target\n"},
    {"completions", "SHELL", 1, CL_MAX_LIST,
     "print shell completions or a man page",
     "Prints the script that a shell needs to complete command lines, a "
     "manual\n"
     "page, or the names of the targets or rules that come with glen.  An\n"
     "installed glen has all of these in their places.  With words, it prints\n"
     "the candidates for the last word of a command line: one per line, with "
     "a\n"
     "tab and a description.\n\n"
     "  glen completions bash > /etc/bash_completion.d/glen\n"
     "  glen completions man rules test | man -l -\n"
     "  glen completions targets\n"
     "  glen completions words -- saturate --extractor e\n"},
    {"fmt", "PATH...", 1, CL_MAX_LIST, "format programs, or expand definitions",
     "Formats .glen, .rules and .target files in place, as glen rules fmt\n"
     "does.  With --expand, it writes nothing.  It prints the program, with\n"
     "each use of a definition, such as (matmul a b), replaced by the term\n"
     "that it stands for.\n\n"
     "  glen fmt my.glen\n"
     "  glen fmt --expand examples/attention.glen\n"},
    {"simulate", "PROGRAM", 1, 1,
     "run a program on the machine of a target file",
     "Maps a .glen program, or reads a .loops file, and runs its loops one "
     "call\n"
     "at a time.  A call computes what its semantics say, occupies its queue "
     "for\n"
     "the cycles of its declaration, and can read from a memory only what was\n"
     "written there for it.  Prints the cycles by queue and by instruction, "
     "and\n"
     "compares the result of a .glen program with the interpreter (exit 4 on "
     "a\n"
     "mismatch).\n\n"
     "  glen simulate my.glen --target my.target\n"
     "  glen simulate my.loops --target my.target --trace\n"},
    {"tiling", "F.glen", 1, 1, "show which code takes a call of given sizes",
     "A program that leaves sizes open is compiled to several versions, each "
     "for\n"
     "a part of the sizes.  Prints which of them takes a call of the sizes "
     "given\n"
     "by --size: its kernels, its blocks, the bytes of its workspace, and the\n"
     "predicted cost of each version.  For a model (.onnx), --dim says which\n"
     "dimensions stay open.\n\n"
     "  glen tiling attention.glen --target native --size n=77\n"
     "  glen tiling bert.onnx --dim batch=1 --dim words=1..512 --size "
     "words=77\n"
     "  glen tiling attention.glen --size n=77 --keys 4 --json\n"},
};

const size_t cl_command_count = sizeof cl_commands / sizeof cl_commands[0];

_Static_assert(1 << sizeof cl_commands / sizeof cl_commands[0] == LAST << 1,
               "each command has its bit");
