// SPDX-License-Identifier: MIT
//! The workload files of ../workloads on egg, for comparison.
//!
//!   egg-peer FILE [--iterations N] [--backoff] [--match-limit N]
//!
//! Prints one JSON object with the same keys as bench_egraph.

use egg::*;
use ordered_float::NotNan;
use std::time::Instant;

type Constant = NotNan<f64>;

define_language! {
    enum Math {
        "d" = Diff([Id; 2]),
        "i" = Integral([Id; 2]),
        "+" = Add([Id; 2]),
        "-" = Sub([Id; 2]),
        "*" = Mul([Id; 2]),
        "/" = Div([Id; 2]),
        "pow" = Pow([Id; 2]),
        "ln" = Ln(Id),
        "sqrt" = Sqrt(Id),
        "sin" = Sin(Id),
        "cos" = Cos(Id),
        Constant(Constant),
        Symbol(Symbol),
    }
}

type EG = EGraph<Math, Fold>;

#[derive(Default, Clone)]
struct Fold {
    fold: bool,
    prune: bool,
}

fn value(egraph: &EG, enode: &Math) -> Option<Constant> {
    let x = |i: &Id| egraph[*i].data;
    Some(match enode {
        Math::Constant(c) => *c,
        Math::Add([a, b]) => x(a)? + x(b)?,
        Math::Sub([a, b]) => x(a)? - x(b)?,
        Math::Mul([a, b]) => x(a)? * x(b)?,
        Math::Div([a, b]) if x(b)? != 0.0 => x(a)? / x(b)?,
        _ => return None,
    })
}

impl Analysis<Math> for Fold {
    type Data = Option<Constant>;

    fn make(egraph: &mut EG, enode: &Math) -> Self::Data {
        if egraph.analysis.fold { value(egraph, enode) } else { None }
    }

    fn merge(&mut self, to: &mut Self::Data, from: Self::Data) -> DidMerge {
        merge_option(to, from, |a, b| {
            assert_eq!(*a, b, "merged constants that differ");
            DidMerge(false, false)
        })
    }

    fn modify(egraph: &mut EG, id: Id) {
        if let Some(c) = egraph[id].data {
            let added = egraph.add(Math::Constant(c));
            egraph.union(id, added);
            if egraph.analysis.prune {
                egraph[id].nodes.retain(|n| n.is_leaf());
            }
        }
    }
}

// --- reading ---------------------------------------------------------------

enum Sexp {
    Atom(String),
    List(Vec<Sexp>),
}

impl std::fmt::Display for Sexp {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Sexp::Atom(a) => write!(f, "{a}"),
            Sexp::List(items) => {
                write!(f, "(")?;
                for (i, x) in items.iter().enumerate() {
                    if i > 0 {
                        write!(f, " ")?;
                    }
                    write!(f, "{x}")?;
                }
                write!(f, ")")
            }
        }
    }
}

fn read(text: &str) -> Vec<Sexp> {
    let mut stack = vec![vec![]];
    let text: String = text.lines().filter(|l| !l.starts_with(';')).collect::<Vec<_>>().join("\n");
    for token in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match token {
            "(" => stack.push(vec![]),
            ")" => {
                let list = stack.pop().expect("balanced");
                stack.last_mut().expect("balanced").push(Sexp::List(list));
            }
            atom => stack.last_mut().unwrap().push(Sexp::Atom(atom.into())),
        }
    }
    stack.pop().unwrap()
}

fn holds(egraph: &EG, name: &str, id: Id, other: Option<Id>) -> bool {
    let is_symbol = |id: Id| egraph[id].nodes.iter().any(|n| matches!(n, Math::Symbol(..)));
    let known = egraph[id].data;
    match name {
        "not-zero" => known.map_or(true, |c| *c != 0.0),
        "sym" => is_symbol(id),
        "const" => known.is_some(),
        "const-or-distinct-var" => {
            egraph.find(id) != egraph.find(other.unwrap()) && (known.is_some() || is_symbol(id))
        }
        _ => panic!("unknown condition {name}"),
    }
}

type Test = Box<dyn Fn(&mut EG, Id, &Subst) -> bool + Send + Sync>;

fn condition(x: &Sexp) -> Test {
    let Sexp::List(items) = x else { panic!("a condition is a list") };
    let name = items[0].to_string();
    let vars: Vec<Var> = items[1..].iter().map(|v| v.to_string().parse().unwrap()).collect();
    Box::new(move |egraph, _, subst| {
        holds(egraph, &name, subst[vars[0]], vars.get(1).map(|v| subst[*v]))
    })
}

fn rule(items: &[Sexp]) -> Rewrite<Math, Fold> {
    let lhs: Pattern<Math> = items[2].to_string().parse().unwrap();
    let rhs: Pattern<Math> = items[3].to_string().parse().unwrap();
    let tests: Vec<Test> = items[4..].iter().map(condition).collect();
    let name = items[1].to_string();
    if tests.is_empty() {
        return Rewrite::new(name, lhs, rhs).unwrap();
    }
    let all = move |egraph: &mut EG, id: Id, subst: &Subst| tests.iter().all(|t| t(egraph, id, subst));
    Rewrite::new(name, lhs, ConditionalApplier { condition: all, applier: rhs }).unwrap()
}

fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<usize>().ok())
        .unwrap_or(0)
        * 1024
}

extern "C" {
    fn clock() -> std::os::raw::c_long;
}

/// Processor seconds of this process, in microseconds as POSIX has it.
fn cpu_seconds() -> f64 {
    unsafe { clock() as f64 / 1e6 }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let path = &args[0];
    let option = |name: &str| args.iter().position(|a| a == name).map(|i| args[i + 1].parse::<usize>().unwrap());
    let backoff = args.iter().any(|a| a == "--backoff");
    let iterations = option("--iterations").unwrap_or(1000);

    let mut analysis = Fold::default();
    let (mut rules, mut starts) = (vec![], vec![]);
    for form in read(&std::fs::read_to_string(path).expect("a workload file")) {
        let Sexp::List(items) = form else { panic!("a form is a list") };
        match items[0].to_string().as_str() {
            "analysis" => {
                let kind = items[1].to_string();
                analysis = Fold { fold: kind != "none", prune: kind == "constfold-prune" };
            }
            "rule" => rules.push(rule(&items)),
            "start" => starts.push(items[1].to_string().parse::<RecExpr<Math>>().unwrap()),
            other => panic!("unknown form {other}"),
        }
    }

    let base = peak_bytes();
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    let mut runner: Runner<Math, Fold> = Runner::new(analysis)
        .with_iter_limit(iterations)
        .with_node_limit(1_000_000_000)
        .with_time_limit(std::time::Duration::from_secs(3600));
    runner = if backoff {
        let limit = option("--match-limit").unwrap_or(1000);
        runner.with_scheduler(BackoffScheduler::default().with_initial_match_limit(limit))
    } else {
        runner.with_scheduler(SimpleScheduler)
    };
    for s in &starts {
        runner = runner.with_expr(s);
    }
    runner = runner.run(&rules);
    let total = begun.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu;
    let peak = peak_bytes();
    let sum = |f: fn(&Iteration<()>) -> f64| runner.iterations.iter().map(f).sum::<f64>();
    let nodes = runner.egraph.total_number_of_nodes();
    println!(
        "{{\"workload\":\"{}\",\"engine\":\"egg\",\"scheduler\":\"{}\",\"iterations\":{},\"nodes\":{},\
         \"classes\":{},\"search_s\":{},\"apply_s\":{},\"rebuild_s\":{},\"total_s\":{},\"cpu_s\":{},\
         \"nodes_per_s\":{},\"peak_bytes\":{},\"bytes_per_node\":{}}}",
        path.rsplit('/').next().unwrap(),
        if backoff { "backoff" } else { "simple" },
        runner.iterations.len(),
        nodes,
        runner.egraph.number_of_classes(),
        sum(|i| i.search_time),
        sum(|i| i.apply_time),
        sum(|i| i.rebuild_time),
        total,
        cpu,
        nodes as f64 / total,
        peak,
        (peak - base) as f64 / nodes as f64,
    );
}
