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
     "Predicts what the layouts of arrays in memory cost, tries to transpose\n"
     "the first two dimensions of each and to cut them, and keeps the change\n"
     "that lowers the cost most, until none does.  Prints a schedule script\n"
     "whose commands make the layouts and whose comments show the search.\n"
     "Inputs are copied into their layouts.\n\n"
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
    {"map", "F.glen", 1, 1, "show which parts run on which instructions",
     "Saturates and extracts the program, and shows what became of each\n"
     "part.  For an instruction that was not used, shows where its rule came\n"
     "closest to a match, what was missing, and what you can do about it.\n"
     "--why-not asks about one instruction or any rule.  --all lists the\n"
     "calls that each part may become, with their costs.\n\n"
     "  glen map examples/conv.glen --rules rules/ \\\n"
     "      --target targets/systolic.target\n"
     "  glen map my.glen --rules rules/ --target targets/systolic16.target \\\n"
     "      --why-not systolicArray\n"},
    {"rules test", "PATH...", 0, CL_MAX_LIST, "run the tests beside the rules",
     "Runs every (test ...) in the rule files and, for a folder NAME of "
     "rules,\n"
     "those in the folder tests/NAME beside it.  With --random N, runs each\n"
     "rule on N random programs instead and compares the results with the\n"
     "reference interpreter.\n\n"
     "  glen rules test rules/\n"
     "  glen rules test rules/ --filter im2col --verbose\n"},
    {"rules check", "[PATH...]", 0, CL_MAX_LIST,
     "find what is wrong in rule files",
     "Reads rule files and reports what looks wrong in them: right sides\n"
     "that, on small generated shapes, have no type or not that of the left\n"
     "side; rules that are written twice, that a more general rule covers,\n"
     "that can feed themselves, that can never apply, or that no strategy\n"
     "runs; and names that nothing uses.  Exits with 1 if there are errors "
     "or,\n"
     "with --strict, warnings.  --verbose adds remarks.  --list prints the\n"
     "functions of expressions.\n\n"
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
     "Formats .rules, .glen and .target files, or all of those in a\n"
     "directory, in place.  Changes only white space, and keeps comments.\n"
     "The name - stands for stdin and stdout.  --check writes nothing, lists\n"
     "the files that would change, and exits with 1 if there are any.\n\n"
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
     "Writes MODEL.glen and, beside it, MODEL.weights with the elements of\n"
     "its weights; -o names another place.  --dim gives numbers for the sizes\n"
     "that the model leaves open, or bounds for those that stay open in the\n"
     "program.  One run reports all nodes that are not supported.\n\n"
     "  glen import resnet50.onnx --dim batch=1\n"
     "  glen import bert.onnx --dim batch=1 --dim words=1..512\n"
     "  glen run resnet50.glen --input image=img.npy --output y.npy\n"
     "  glen import --list-operators\n"},
    {"lsp", "", 0, 0, "serve an editor: LSP over stdin and stdout",
     "Runs the language server, which shows findings as you type, types of\n"
     "terms, definitions, completions and formatting for .glen, .rules,\n"
     ".target and .sched files.\n"
     "--target declares the instructions that programs and rules may call.\n"
     "docs/EDITOR.md explains how to set up VS Code and Neovim.\n\n"
     "  glen lsp --target targets/systolic.target\n"},
    {"completions", "SHELL", 1, CL_MAX_LIST,
     "print shell completions or a man page",
     "Prints the script that a shell needs to complete command lines, a man\n"
     "page, or the names of the targets or rules that come with glen.  The\n"
     "scripts and pages are already in place if glen is installed.  With\n"
     "words, prints the candidates for the last word of a command line: one\n"
     "per line, with a tab and a description.\n\n"
     "  glen completions bash > /etc/bash_completion.d/glen\n"
     "  glen completions man rules test | man -l -\n"
     "  glen completions targets\n"
     "  glen completions words -- saturate --extractor e\n"},
    {"fmt", "PATH...", 1, CL_MAX_LIST, "format programs, or expand definitions",
     "Formats .glen, .rules and .target files in place, as glen rules fmt\n"
     "does.  With --expand, it leaves the file as it is and prints the "
     "program\n"
     "with each use of a definition, such as (matmul a b), replaced by the\n"
     "term that it stands for.\n\n"
     "  glen fmt my.glen\n"
     "  glen fmt --expand examples/attention.glen\n"},
    {"simulate", "PROGRAM", 1, 1,
     "run a program on the machine of a target file",
     "Maps a .glen program, or reads a .loops file, and runs its loops one\n"
     "call at a time.  A call computes what its semantics say, occupies its\n"
     "queue for the declared number of cycles, and can read from a memory "
     "only\n"
     "what was written there for it.  Prints the cycles by queue and by\n"
     "instruction, and compares the result of a .glen program with that of\n"
     "the interpreter (exit 4 on a mismatch).\n\n"
     "  glen simulate my.glen --target my.target\n"
     "  glen simulate my.loops --target my.target --trace\n"},
    {"tiling", "F.glen", 1, 1, "show which version of the code serves a call",
     "A program that leaves sizes open is compiled to several versions, each\n"
     "for a range of the sizes.  Prints which of them serves a call with the\n"
     "sizes of --size: its kernels, its blocks, the bytes of its workspace,\n"
     "and the predicted cost of each version.  For a model (.onnx), --dim\n"
     "says which dimensions stay open.\n\n"
     "  glen tiling attention.glen --target native --size n=77\n"
     "  glen tiling bert.onnx --dim batch=1 --dim words=1..512 --size "
     "words=77\n"
     "  glen tiling attention.glen --size n=77 --keys 4 --json\n"},
};

const size_t cl_command_count = sizeof cl_commands / sizeof cl_commands[0];

_Static_assert(1 << sizeof cl_commands / sizeof cl_commands[0] == LAST << 1,
               "each command has its bit");
