# SPDX-License-Identifier: MIT
"""What the report of `glen map` says that a part does."""
import re


def is_sum(work):
    """Whether it computes sums of products, or a scan, whose step may hold some."""
    words = re.findall(r"[\w-]+", work)
    return words[:1] == ["scan"] or "dotProd" in words
