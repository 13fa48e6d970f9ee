/* SPDX-License-Identifier: MIT */
/* commands.h - one function a subcommand; each returns the exit code. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli_options.h"

int cl_saturate(const cl_options *);
int cl_compile(const cl_options *);
int cl_run(const cl_options *);
int cl_check(const cl_options *);
int cl_rules_test(const cl_options *);
int cl_rules_check(const cl_options *);
int cl_rules_fmt(const cl_options *);
int cl_fmt(const cl_options *);
int cl_rules_ablate(const cl_options *);
int cl_rules_prove(const cl_options *);
int cl_target_command(const cl_options *);
int cl_target_test(const cl_options *);
int cl_extract(const cl_options *);
int cl_schedule(const cl_options *);
int cl_layout(const cl_options *);
int cl_completions(const cl_options *);
int cl_explain(const cl_options *);
int cl_map(const cl_options *);
int cl_import(const cl_options *);
int cl_lsp(const cl_options *);
int cl_simulate(const cl_options *);
int cl_tiling(const cl_options *);

#endif
