/* SPDX-License-Identifier: MIT */
/* sound_testing.h - all rules at a time, as the property test of the rules that
 * come with glen tries them; a command tries one rule. */
#ifndef RULES_SOUND_TESTING_H
#define RULES_SOUND_TESTING_H

#include "rules/test/sound.h"

/* All rules together, on `programs` random programs. */
bool rl_check_sound_together(const gs_context *, const rl_rules *,
                             const rl_sound_options *, rl_sound_result *out);

#endif
