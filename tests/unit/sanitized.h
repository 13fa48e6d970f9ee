/* SPDX-License-Identifier: MIT */
/* sanitized.h - are the sanitizers on?  They make a test several times as slow;
 * what they look for shows in a part of the cases that the release build runs
 * all of. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
