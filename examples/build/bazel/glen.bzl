# SPDX-License-Identifier: MIT
"""glen_kernel(name, src, rules = [], target = None, options = []): a library of
the function NAME and its header NAME.h, of a program that glen compiles.

glen is looked for along PATH: build with --action_env=PATH. What it reads are
the files that the rule names, so that Bazel needs no list of them."""

def _glen_kernel_impl(ctx):
    c = ctx.actions.declare_file(ctx.attr.kernel + ".c")
    h = ctx.actions.declare_file(ctx.attr.kernel + ".h")
    arguments = ctx.actions.args()
    arguments.add("compile")
    arguments.add(ctx.file.src)
    arguments.add_all(ctx.files.rules, before_each = "--rules")
    if ctx.attr.target:
        arguments.add("--target", ctx.attr.target)
    arguments.add_all(ctx.attr.options)
    arguments.add("-o", c)
    ctx.actions.run(
        outputs = [c, h],
        inputs = [ctx.file.src] + ctx.files.rules,
        executable = "glen",
        arguments = [arguments],
        mnemonic = "Glen",
        progress_message = "glen %s" % ctx.file.src.short_path,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([c, h]))]

_glen_kernel = rule(
    implementation = _glen_kernel_impl,
    attrs = {
        "kernel": attr.string(mandatory = True),
        "src": attr.label(mandatory = True, allow_single_file = [".glen"]),
        "rules": attr.label_list(allow_files = [".rules"]),
        "target": attr.string(),
        "options": attr.string_list(),
    },
)

def glen_kernel(name, src, rules = [], target = None, options = [], **more):
    _glen_kernel(
        name = name + "_c",
        kernel = name,
        src = src,
        rules = rules,
        target = target,
        options = options,
    )
    native.cc_library(
        name = name,
        srcs = [":" + name + "_c"],
        hdrs = [":" + name + "_c"],
        includes = ["."],
        linkopts = ["-lm"],
        **more
    )
