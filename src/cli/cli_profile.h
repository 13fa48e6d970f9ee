/* SPDX-License-Identifier: MIT */
/* cli_profile.h - what the steps of a run took. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/cli_session.h"

void cl_print_profile(const glen_profile *);
/* A member "profile" of an object that is being printed. */
void cl_print_profile_json(const glen_profile *);
/* A chart as SVG; false: it was said why. */
bool cl_write_flame(cl_session *, const glen_profile *, const char *path);

#endif
