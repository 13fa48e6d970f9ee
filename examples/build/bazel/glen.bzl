# SPDX-License-Identifier: MIT
"""glen_kernel(): a library of the function NAME and its header NAME.h, made from
a program by glen.

    src          the program
    rules        files of rules
    target       the name of a target that comes with glen, or
    target_file  a target file of your own
    data         what these read: files of weights, included rules and targets
    options      further options of `glen compile`

All else is passed on to cc_library. glen is looked for along PATH. The files above
are all that it may read, so Bazel needs no list of what it has read.

The rules for C are those of rules_cc, because Bazel 9 has no rules for C of its own.
A project names rules_cc in MODULE.bazel."""

load("@rules_cc//cc:defs.bzl", "cc_library")

def _glen_kernel_impl(ctx):
    c = ctx.actions.declare_file(ctx.attr.kernel + ".c")
    h = ctx.actions.declare_file(ctx.attr.kernel + ".h")
    inputs = [ctx.file.src] + ctx.files.rules + ctx.files.data
    arguments = ctx.actions.args()
    arguments.add("compile")
    arguments.add(ctx.file.src)
    arguments.add_all(ctx.files.rules, before_each = "--rules")
    if ctx.file.target_file:
        inputs.append(ctx.file.target_file)
        arguments.add("--target", ctx.file.target_file)
    elif ctx.attr.target:
        arguments.add("--target", ctx.attr.target)
    arguments.add_all(ctx.attr.options)
    arguments.add("-o", c)
    ctx.actions.run(
        outputs = [c, h],
        inputs = inputs,
        executable = "glen",
        arguments = [arguments],
        mnemonic = "Glen",
        progress_message = "glen %s" % ctx.file.src.short_path,
        use_default_shell_env = True,
        # In a sandbox, each input is a link to a file elsewhere, and glen reads
        # no elements through a link that leaves the folder of the program.
        execution_requirements = {"no-sandbox": "1"} if ctx.files.data else {},
    )
    return [
        DefaultInfo(files = depset([c, h])),
        OutputGroupInfo(header = depset([h])),
    ]

_glen_kernel = rule(
    implementation = _glen_kernel_impl,
    attrs = {
        "kernel": attr.string(mandatory = True),
        "src": attr.label(mandatory = True, allow_single_file = [".glen"]),
        "rules": attr.label_list(allow_files = [".rules"]),
        "target": attr.string(),
        "target_file": attr.label(allow_single_file = [".target"]),
        "data": attr.label_list(allow_files = True),
        "options": attr.string_list(),
    },
)

def glen_kernel(
        name,
        src,
        rules = [],
        target = None,
        target_file = None,
        data = [],
        options = [],
        **more):
    _glen_kernel(
        name = name + "_c",
        kernel = name,
        src = src,
        rules = rules,
        target = target,
        target_file = target_file,
        data = data,
        options = options,
    )
    native.filegroup(
        name = name + "_h",
        srcs = [":" + name + "_c"],
        output_group = "header",
    )
    cc_library(
        name = name,
        srcs = [":" + name + "_c"],
        hdrs = [":" + name + "_h"],
        # Bazel refuses this in the topmost folder, where the header is found
        # without it by #include "NAME.h".
        includes = ["."] if native.package_name() else [],
        linkopts = ["-lm"],
        **more
    )
