/* SPDX-License-Identifier: MIT */
/* commands.c - the table of commands: how each is called, and what its help
 * says.  The functions behind it are in main.c, so that what prints help does
 * not depend on every command. */
#include "cli/options.h"

const cl_command cl_commands[] = {
    {"saturate", "F.glen", 1, 1,
     "explore with rules, extract the cheapest program, report",
     "Puts the program into an e-graph, applies the rules until nothing new\n"
     "appears or a limit is hit, and extracts the cheapest equal program for\n"
     "the target.  Prints that program with types, the cost before and after,\n"
     "which rules led there and why the run stopped.  Ctrl-C stops early and\n"
     "keeps the best so far.  Without --rules the rules are those that come\n"
     "with glen.\n\n"
     "  glen saturate examples/conv.glen\n"
     "  glen saturate examples/conv.glen --target systolic -o mapped.glen\n"
     "  glen saturate examples/conv.glen --rules my.rules\n"},
    {"compile", "F.glen", 1, 1, "all stages to C and a header",
     "Writes a C function with its header.  With --rules the program is\n"
     "saturated first.  Without, it is where the target has instructions, by\n"
     "the rules that come with glen, and else compiled as it is written.\n\n"
     "  glen compile examples/conv.glen -o conv.c\n"
     "  glen compile examples/conv.glen --target systolic \\\n"
     "      --emit=glen,c,h -o conv.c\n"
     "  glen compile examples/conv.glen --emit=loops\n"},
    {"run", "F.glen", 1, 1, "compile with cc and run, or interpret",
     "Runs the program on .npy files or on inputs made from a seed, and shows\n"
     "the first elements of each output.\n\n"
     "  glen run examples/matmul.glen --check\n"
     "  glen run examples/matmul.glen --input A=a.npy --output out.npy\n"
     "  glen run examples/matmul.glen --interpret\n"},
    {"check", "A.glen B.glen", 2, 2, "do two programs compute the same?",
     "Answers \"proved\" (for every input), \"refuted\" with an input and the\n"
     "element that differs (exit 4), or, where neither can be told, "
     "\"tested\":\n"
     "both programs agreed on several seeded inputs.\n\n"
     "  glen check examples/conv.glen mapped.glen "
     "--target targets/systolic.target\n"},
    {"schedule", "PROGRAM", 0, 1, "apply a script of schedule commands",
     "Applies loop transformations, each checked against the dependences of\n"
     "the program, to a .glen program's loops or to a .loops file.  A command\n"
     "that is not legal is refused with a pair of instances that would run in\n"
     "the wrong order, and nothing is written: exit code 1.\n\n"
     "  glen schedule matmul.loops --sched tile.sched --print loops\n"
     "  glen schedule examples/matmul.glen --sched tile.sched -o matmul.c\n"
     "  glen schedule --list\n"},
    {"layout", "PROGRAM", 1, 1, "find layouts for a program's arrays",
     "Prices the order in which arrays lie in memory, tries transposing and\n"
     "cutting their first two dimensions, and keeps what lowers the price\n"
     "most, until nothing does.  Prints the search as comments of a schedule\n"
     "script whose commands give the layouts found; an input is copied.\n\n"
     "  glen layout examples/matmul.glen\n"
     "  glen layout matmul.loops --widths 4,8,16 -o pack.sched\n"
     "  glen layout stencil.loops --layout-cost lines --keep-order\n"},
    {"explain", "A.glen [B.glen]", 1, 2, "why two programs are equal",
     "Saturates both programs in one e-graph until they meet, and prints the\n"
     "shortest chain of rule applications found between them: each step with\n"
     "its rule, place, direction, what it changed and what the variables "
     "stand\n"
     "for (--verbose: all steps of a long chain).  With one program: from it "
     "to\n"
     "what saturate extracts.  Each step is replayed by its rule alone.  Exit\n"
     "code 1 when they were not found equal.\n\n"
     "  glen explain a.glen b.glen --rules rules/\n"
     "  glen explain examples/conv.glen --rules rules/ \\\n"
     "      --target targets/systolic.target\n"},
    {"map", "F.glen", 1, 1, "which part went to which instruction",
     "Saturates, extracts, and draws the program with what became of each "
     "part.\n"
     "For an instruction that was not used: where its rule came nearest, what\n"
     "was missing, with the values, and what could be done.  --why-not asks\n"
     "about one instruction, or about any rule.  --all lists the calls that\n"
     "each part may become, with their prices.\n\n"
     "  glen map examples/conv.glen --rules rules/ \\\n"
     "      --target targets/systolic.target\n"
     "  glen map my.glen --rules rules/ --target targets/systolic16.target \\\n"
     "      --why-not systolicArray\n"},
    {"rules test", "PATH...", 0, CL_MAX_LIST, "run the tests beside the rules",
     "Runs every (test ...) of the rule files, and of a folder tests/NAME "
     "that\n"
     "stands beside a folder NAME of rules; with --random N, instead, each "
     "rule\n"
     "on N random programs against the reference interpreter.\n\n"
     "  glen rules test rules/\n"
     "  glen rules test rules/ --filter im2col --verbose\n"},
    {"rules check", "[PATH...]", 0, CL_MAX_LIST, "what is wrong in rule files",
     "Reads rule files and tells what looks wrong in them: right sides that\n"
     "have no type or another than the left (tried on small generated "
     "shapes),\n"
     "rules that are written twice or that a more general one covers, that "
     "can\n"
     "feed themselves, that can never apply, that no strategy runs; names "
     "that\n"
     "nothing uses.  Errors, and with --strict warnings, give exit code 1.\n"
     "--verbose adds remarks.  --list prints the functions of expressions.\n\n"
     "  glen rules check rules/\n"
     "  glen rules check my.rules --strict --json\n"
     "  glen rules check --list\n"},
    {"rules prove", "[PATH...]", 0, CL_MAX_LIST, "is every rule right?",
     "Asks the prover about every rule of the files, and of the instructions\n"
     "of --target, over generated shapes.  Prints what is not proved: tested,\n"
     "with the reason; refuted (exit 4), with the smallest shape, the inputs,\n"
     "the element and both values; unknown (exit 1 with --strict).  --verbose\n"
     "prints the proved ones, too.\n\n"
     "  glen rules prove rules/\n"
     "  glen rules prove my.rules --filter transpose --verbose\n"
     "  glen rules prove --target targets/systolic.target --json\n"},
    {"rules fmt", "PATH...", 1, CL_MAX_LIST, "source files in their one form",
     "Formats .rules, .glen and .target files, or all of a directory, in "
     "place:\n"
     "white space alone is changed, comments stay.  - reads stdin and writes\n"
     "stdout.  With --check nothing is written; files that would change are\n"
     "listed, and give exit code 1.\n\n"
     "  glen rules fmt rules/ my.glen\n"
     "  glen rules fmt --check rules/\n"},
    {"rules ablate", "F.glen", 1, 1, "what each rule is worth to a program",
     "Saturates the program with all rules and then once with each rule left\n"
     "out, and prints how the cost and the size of the e-graph change: first\n"
     "the rules without which the result is worse, then those that cost most\n"
     "nodes.  Only rules that fired are tried.\n\n"
     "  glen rules ablate examples/matmul.glen --rules rules/ \\\n"
     "      --target targets/systolic.target --iter-limit 50\n"
     "  glen rules ablate examples/conv.glen --rules rules/ --filter concat\n"},
    {"target test", "F.target...", 1, CL_MAX_LIST,
     "do C templates do what their instructions mean?",
     "Compiles calls of each instruction, of sizes that it admits, with the\n"
     "sanitizers, runs them and holds the results against its semantics.\n"
     "Prints for each \"tested\"; \"refuted\" (exit 4) with the smallest call\n"
     "that goes wrong; or \"untested\" (exit 3), when its C is not built "
     "here.\n"
     "The C of the target is executed.\n\n"
     "  glen target test targets/systolic.target\n"
     "  glen target test my.target --filter conv --json\n"},
    {"target", "[F.target]", 0, 1, "show or detect a machine description",
     "Prints a target as it was understood, in a form that reads back.\n\n"
     "  glen target --detect > my.target\n"
     "  glen target targets/systolic.target\n"},
    {"extract", "F.json", 1, 1, "the cheapest term of a foreign e-graph",
     "Reads an e-graph in egraph-serialize JSON and prints the chosen nodes\n"
     "and the cost.\n\n"
     "  glen extract graph.json --extractor exact\n"},
    {"import", "MODEL.onnx", 0, 1, "a model in the ONNX format as a program",
     "Writes MODEL.glen and, beside it, MODEL.weights with the elements of "
     "its\n"
     "weights; -o names another place.  Sizes that the model leaves open are\n"
     "given by --dim.  All nodes that are not supported are told in one "
     "run.\n\n"
     "  glen import resnet50.onnx --dim batch=1\n"
     "  glen run resnet50.glen --input image=img.npy --output y.npy\n"
     "  glen import --list-operators\n"},
    {"lsp", "", 0, 0, "the language server: LSP over stdin and stdout",
     "Serves an editor: findings as you type, types of terms, definitions,\n"
     "completion, formatting, for .glen, .rules, .target and .sched files.\n"
     "--target declares the instructions that programs and rules may call.\n"
     "docs/EDITOR.md has set-ups of VS Code and Neovim.\n\n"
     "  glen lsp --target targets/systolic.target\n"},
    {"completions", "SHELL", 1, CL_MAX_LIST,
     "completions of bash, zsh, fish; man pages",
     "Writes what a shell reads to complete command lines, a manual page, or "
     "the\n"
     "names of the targets or rules that come with glen.  An installed glen "
     "has\n"
     "all of them in their places.  With `words` it tells what may stand in "
     "place\n"
     "of the last word of a command line: a line each, with a tab and what it "
     "is.\n\n"
     "  glen completions bash > /etc/bash_completion.d/glen\n"
     "  glen completions man rules test | man -l -\n"
     "  glen completions targets\n"
     "  glen completions words -- saturate --extractor e\n"},
    {"fmt", "PATH...", 1, CL_MAX_LIST,
     "programs in their one form, or expanded",
     "Does what glen rules fmt does.  With --expand nothing is written: it "
     "prints\n"
     "the program with each use of a definition, such as (matmul a b), "
     "replaced by\n"
     "the terms that it stands for.\n\n"
     "  glen fmt my.glen\n"
     "  glen fmt --expand examples/attention.glen\n"},
    {"simulate", "PROGRAM", 1, 1, "run on the machine of a target file",
     "Maps a .glen program, or reads a .loops file, and runs its loops one "
     "call\n"
     "at a time: calls compute what their semantics say, take the cycles of\n"
     "their declaration in their queue, and find in memories only what was\n"
     "written there for them.  Prints cycles by queue and by instruction, and\n"
     "compares the result of a .glen program with the interpreter: exit 4 on "
     "a\n"
     "mismatch.\n\n"
     "  glen simulate my.glen --target my.target\n"
     "  glen simulate my.loops --target my.target --trace\n"},
};

const size_t cl_command_count = sizeof cl_commands / sizeof cl_commands[0];
