# SPDX-License-Identifier: MIT
"""What the schemas are held against: for each schema commands whose output has
as much of it as can be had at once."""

FILES = {
    "a.glen": "(tensor x (shape 4 4) f32)\n(let y (compute relu x))\n"
              "(output y)\n",
    "b.glen": "(tensor x (shape 4 4) f32)\n(let y (compute abs x))\n"
              "(output y)\n",
    "tanh.glen": "(tensor x (shape 4) f32)\n(let y (compute tanh x))\n"
                 "(output y)\n",
    "sigmoid.glen": "(tensor x (shape 4) f32)\n(let y (compute sigmoid x))\n"
                    "(output y)\n",
    "exp.glen": "(tensor x (shape 4) f32)\n(let y (compute exp (compute add\n"
                "  (pair (access x 0) (access x 0)))))\n(output y)\n",
    "sum.glen": "(tensor x (shape 4) f32)\n(let y (compute mul\n"
                "  (pair (compute exp (access x 0)) (compute exp\n"
                "    (access x 0)))))\n(output y)\n",
    "bad.rules": "(rule r (compute relu ?a) -> ?a)\n",
    "wrong.rules": '(rule wrong "is not so"\n  (compute relu ?a) => ?a)\n',
    "ugly.rules": '(rule   wrong "is not so" (compute relu ?a)   => ?a)\n',
    "dear.rules": '(rule dear "is not used"\n'
                  '  (compute tanh ?a) => (compute relu ?a))\n',
    "graph.json": '{"nodes": {"a": {"op": "f", "children": ["b"], '
                  '"eclass": "1", "cost": 1}, "b": {"op": "g", '
                  '"eclass": "2", "cost": 1}}, "root_eclasses": ["1"]}',
    "open.glen": "(size n 1 99)\n(tensor x (shape n) f32)\n"
                 "(let y (compute relu x))\n(output y)\n",
    "twice.glen": "(size n 1 99)\n(tensor x (shape n) f32)\n"
                  "(let y (compute relu (compute relu x)))\n(output y)\n",
    "more.glen": "(size n 1 99)\n(tensor x (shape n) f32)\n"
                 "(let y (compute abs x))\n(output y)\n",
    "tile.sched": "i, j = split i0 [-1, 8]\n",
}

# relu of an array whose first size, N, is open, in the ONNX format.
MODEL = bytes.fromhex(
    "08083a3d0a0c0a0178120179220452656c751201675a140a0178120f0a0d08011209"
    "0a0312014e0a02080462140a0179120f0a0d080112090a0312014e0a02080442040a"
    "001011")

CONV = "examples/conv.glen --target systolic16"
MATMUL = "examples/matmul.glen"
# By schema: command lines, and the exit codes that are right.
CASES = {
    "saturate": [f"saturate {CONV}", f"saturate {CONV} --stats --timings",
                 f"saturate {MATMUL} --rules none",
                 f"saturate {MATMUL} --iter-limit 1 --stats",
                 f"saturate {CONV} --verify",
                 f"saturate {CONV} --emit proof -o c.proof",
                 f"saturate {CONV} --emit html -o c.html",
                 "saturate examples/mlp.glen --target systolic16 "
                 "--regions layers"],
    "compile": [f"compile {MATMUL} -o m.c",
                f"compile {CONV} -o c.c --emit c,h,loops,manifest"],
    "compile-verify": [f"compile {CONV} -o v.c --verify"],
    "compile-tune": [f"compile {MATMUL} -o t.c --tune 3",
                     f"compile {MATMUL} --rules rules -o r.c --tune 2 --verify"],
    "run": [f"run {MATMUL}", f"run {MATMUL} --tune 2", "run examples/two-outputs.glen --interpret",
            f"run {MATMUL} --check --repeat 3 --print 2",
            f"run {MATMUL} --profile"],
    "check": [f"check {MATMUL} {MATMUL}", "check a.glen b.glen",
              "check tanh.glen sigmoid.glen", "check exp.glen sum.glen",
              "check open.glen twice.glen", "check open.glen more.glen"],
    "schedule": [f"schedule {MATMUL}", f"schedule {MATMUL} --tune 2 -o s.c",
                 f"schedule {MATMUL} --sched tile.sched --explain --print "
                 "loops,program,tree,axes,deps,script,results,fused",
                 "schedule examples/softmax.glen --print results",
                 "schedule examples/attention.glen --print results"],
    "schedule-list": ["schedule --list"],
    "tiling": ["tiling tests/sizes/matmul.glen --size n=8 --size m=9 "
               "--size k=10", "tiling tests/sizes/matmul.glen --size "
               "n=1,8,64 --size m=9 --size k=10,3,50"],
    "layout": [f"layout {MATMUL}", f"layout {MATMUL} -o l.sched"],
    "explain": [f"explain {CONV}", "explain a.glen b.glen",
                "explain examples/mlp.glen --target systolic16"],
    "map": [f"map {CONV}", f"map {CONV} --why-not systolicArrayI8",
            f"map {CONV} --all",
            f"explain {CONV} --why-not systolicArrayI8",
            "map a.glen --rules dear.rules --why-not dear"],
    "rules-test": ["rules test tests/rules/matmul.rules"],
    "rules-check": ["rules check rules/ --verbose", "rules check bad.rules",
                    "rules check dear.rules"],
    "rules-check-list": ["rules check --list"],
    "rules-prove": ["rules prove rules/squeeze.rules",
                    "rules prove wrong.rules"],
    "rules-fmt": ["rules fmt --check rules/squeeze.rules ugly.rules",
                  "rules fmt ugly.rules"],
    "fmt": ["fmt ugly.rules"],
    "fmt-expand": ["fmt --expand examples/conv-block.glen"],
    "rules-ablate": [f"rules ablate {MATMUL} --target systolic16 "
                     "--iter-limit 3"],
    "target": ["target systolic16"],
    "target-test": ["target test targets/pool.target"],
    "simulate": ["simulate examples/matmul.glen --target systolic "
                 "--trace"],
    "extract": ["extract graph.json"],
    "import": ["import relu.onnx --dim N=3"],
    "import-list": ["import --list-operators"],
}
CODES = {"check a.glen b.glen": 4, "check tanh.glen sigmoid.glen": 4,
         "check open.glen more.glen": 4, "explain a.glen b.glen": 1,
         "rules check bad.rules": 1, "rules prove wrong.rules": 4,
         "rules fmt --check rules/squeeze.rules ugly.rules": 1}
