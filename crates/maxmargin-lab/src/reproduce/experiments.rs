//! The experiments by name.

use super::claims::Findings;
use super::lab::Lab;
use super::{bcfw, boxes, gaps, more, paths, soft, variants};
use anyhow::{Result, bail};

/// An experiment of a paper.
pub(super) struct Experiment {
    pub(super) name: &'static str,
    pub(super) paper: &'static str,
    pub(super) what: &'static str,
    /// About how long it takes on a core, with all data at hand and without `--quick`.
    pub(super) hours: f64,
    pub(super) run: fn(&Lab<'_>) -> Result<Findings>,
}

const REPORT: &str = "Lacoste-Julien, Jaggi, Schmidt, Pletscher 2012";
const BCFW: &str = "Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013";
const GAPS: &str = "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien 2016";
const SOFT: &str = "Meshi, Srebro, Hazan 2015";

pub(super) const EXPERIMENTS: [Experiment; 18] = [
    Experiment {
        name: "bcfw12-fig1",
        paper: REPORT,
        what: "fixed steps against line search, stochastic methods against batch ones",
        hours: 0.7,
        run: more::report_2012,
    },
    Experiment {
        name: "bcfw-fig1",
        paper: BCFW,
        what: "all methods on OCR at three λ, on chunking with test errors, and on matchings",
        hours: 2.0,
        run: bcfw::figure_1,
    },
    Experiment {
        name: "bcfw-table1",
        paper: BCFW,
        what: "oracle calls to ε, for every method",
        hours: 2.0,
        run: more::calls_to_gap,
    },
    Experiment {
        name: "gaps-fig1",
        paper: GAPS,
        what: "gap sampling with gaps refreshed every 1, 5, 10, 100 passes and never",
        hours: 0.15,
        run: gaps::figure_1,
    },
    Experiment {
        name: "gaps-fig2",
        paper: GAPS,
        what: "the cache at F and ν of all sizes",
        hours: 0.05,
        run: gaps::figure_2,
    },
    Experiment {
        name: "gaps-fig3",
        paper: GAPS,
        what: "the eight variants, in short: one λ for each data set",
        hours: 4.0,
        run: variants::figure_3,
    },
    Experiment {
        name: "gaps-fig4",
        paper: GAPS,
        what: "path against grid, on horses",
        hours: 0.1,
        run: paths::figure_4,
    },
    Experiment {
        name: "gaps-fig5",
        paper: GAPS,
        what: "the eight variants at three λ, on OCR, chunking and horses",
        hours: 5.0,
        run: variants::figure_5,
    },
    Experiment {
        name: "gaps-fig6",
        paper: GAPS,
        what: "the eight variants at three λ, on poses",
        hours: 4.5,
        run: variants::figure_6,
    },
    Experiment {
        name: "gaps-fig7",
        paper: GAPS,
        what: "paths at several κ, exact and heuristic",
        hours: 0.1,
        run: paths::figure_7,
    },
    Experiment {
        name: "gaps-fig8",
        paper: GAPS,
        what: "exact and heuristic path against grids, with two solvers",
        hours: 1.0,
        run: paths::figure_8,
    },
    Experiment {
        name: "gaps-rate",
        paper: GAPS,
        what: "the linear rate of pairwise steps at large λ",
        hours: 0.02,
        run: more::linear_rate,
    },
    Experiment {
        name: "gaps-directions",
        paper: GAPS,
        what: "pairwise steps against away steps and the best direction",
        hours: 0.1,
        run: more::directions,
    },
    Experiment {
        name: "gaps-memory",
        paper: GAPS,
        what: "the memory of active sets and caches",
        hours: 0.05,
        run: more::memory,
    },
    Experiment {
        name: "gaps-box",
        paper: GAPS,
        what: "weights with bounds: the step of Algorithm 9 against the exact line search",
        hours: 0.3,
        run: boxes::steps,
    },
    Experiment {
        name: "soft-fig1",
        paper: SOFT,
        what: "soft constraints at several ρ: objectives against epochs",
        hours: 0.4,
        run: soft::figure_1,
    },
    Experiment {
        name: "soft-fig2",
        paper: SOFT,
        what: "soft constraints against training over linear programs, and DLPW",
        hours: 7.0,
        run: soft::figure_2,
    },
    Experiment {
        name: "soft-fig3",
        paper: SOFT,
        what: "how far soft weights are from the optimum, against the number of examples",
        hours: 1.5,
        run: soft::figure_3,
    },
];

/// What stands for all experiments.
const ALL: &str = "all";

/// The experiments with these names, each once. `all` stands for all of them, the cheapest first.
pub(super) fn named(names: &[String]) -> Result<Vec<&'static Experiment>> {
    let mut found: Vec<&'static Experiment> = Vec::new();
    for name in names {
        let mut some: Vec<&'static Experiment> = EXPERIMENTS
            .iter()
            .filter(|experiment| name == ALL || experiment.name == name)
            .collect();
        if some.is_empty() {
            let known = EXPERIMENTS.map(|experiment| experiment.name).join(", ");
            bail!("{name}: no such experiment\nhint: there are {known}, and {ALL}");
        }
        some.sort_by(|a, b| a.hours.total_cmp(&b.hours));
        some.retain(|one| found.iter().all(|known| known.name != one.name));
        found.extend(some);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_run_once_and_the_cheapest_first() {
        let names = |names: &[&str]| -> Vec<&str> {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            named(&names).unwrap().iter().map(|experiment| experiment.name).collect()
        };
        assert_eq!(names(&["gaps-fig2", "bcfw-fig1", "gaps-fig2"]), ["gaps-fig2", "bcfw-fig1"]);
        let all = names(&["soft-fig2", "all"]);
        assert_eq!((all.len(), all[0]), (EXPERIMENTS.len(), "soft-fig2"));
        let hours = |name: &&str| EXPERIMENTS.iter().find(|one| one.name == *name).unwrap().hours;
        assert!(all[1..].is_sorted_by_key(hours));
        assert!(named(&["fig1".to_owned()]).is_err());
    }
}
