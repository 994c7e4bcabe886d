//! Trained models, as Python sees them. `asked.rs` says which questions a model takes, and `answers.rs` turns answers
//! into arrays.

mod answers;
mod asked;

use crate::alphabet::Alphabet;
use crate::error::{file_error, value_error};
use crate::examples::AnyData;
use crate::factor_graphs::FactorGraphData;
use crate::pairs::PairData;
use crate::potts::PottsData;
use crate::predict::{
    Answer, Question, RankedSets, RankedStates, best_links, best_states, ranked_sets,
    ranked_states, tree_loss,
};
use crate::rows::RowData;
use crate::segments::SegmentData;
use crate::sequences::SequenceData;
use crate::trees::TreeData;
use crate::{history, report, verify};
use answers::{
    Confident, Rated, Scored, SparseRows, confident, rated_links, rated_states, scored,
    sparse_rows, table,
};
use maxmargin::model::factor_graph::Graph;
use maxmargin::model::segment::Segment;
use maxmargin::observe::Record;
use maxmargin_io::{Model as ModelFile, Prune, RowScorer, Spec, map_side_by_side};
use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::mem::take;
use std::path::PathBuf;

/// A trained model, as the command line writes it to files.
#[pyclass(module = "maxmargin._maxmargin", frozen)]
pub(crate) struct Model {
    pub(crate) inner: ModelFile,
    /// The rows of its training, for reports; files do not keep them.
    pub(crate) rows: Vec<Record>,
}

impl Model {
    /// A model from a file, which keeps no history.
    fn of(inner: ModelFile) -> Self {
        Self { inner, rows: Vec::new() }
    }

    /// The model without its dual point, which is not copied.
    fn slim(&self) -> ModelFile {
        let ModelFile { meta, labels, attributes, weights, dual: _ } = &self.inner;
        let (labels, attributes) = (labels.clone(), attributes.clone());
        ModelFile { meta: meta.clone(), labels, attributes, weights: weights.clone(), dual: None }
    }
}

#[pymethods]
impl Model {
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        ModelFile::load(path).map(Self::of).map_err(file_error)
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        ModelFile::from_bytes(bytes).map(Self::of).map_err(value_error)
    }

    fn save(&self, path: PathBuf, dual: bool) -> PyResult<()> {
        if dual || self.inner.dual.is_none() {
            return self.inner.save(path).map_err(file_error);
        }
        self.slim().save(path).map_err(file_error)
    }

    #[pyo3(signature = (dual=true))]
    fn to_bytes<'py>(&self, py: Python<'py>, dual: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| match dual {
            true => self.inner.to_bytes(),
            false => self.slim().to_bytes(),
        });
        let bytes = bytes.map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = slf.get_type().getattr("from_bytes")?;
        Ok((make, (slf.get().to_bytes(slf.py(), true)?,)))
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.meta.spec.kind()
    }

    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.scoring_weights())
    }

    /// The groups of weights: their names, where they begin and end, and their shapes.
    fn groups(&self) -> Vec<(String, usize, usize, Vec<usize>)> {
        let groups = self.inner.meta.spec.groups().into_iter();
        groups.map(|g| (g.name, g.range.start, g.range.end, g.shape)).collect()
    }

    /// The inputs that a model with a kernel is a sum over: row starts, attributes and values.
    fn support<'py>(&self, py: Python<'py>) -> Option<SparseRows<'py>> {
        Some(sparse_rows(py, &self.inner.meta.spec.kernel()?.support))
    }

    fn labels(&self) -> Alphabet {
        Alphabet { names: self.inner.labels.clone() }
    }

    fn attributes(&self) -> Alphabet {
        Alphabet { names: self.inner.attributes.clone() }
    }

    /// All else that is known of it, as JSON.
    fn meta(&self) -> PyResult<String> {
        let mut meta = serde_json::to_value(&self.inner.meta).map_err(value_error)?;
        meta["problem"] = self.inner.solved_problem().into();
        Ok(meta.to_string())
    }

    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        history::columns(py, &self.rows)
    }

    /// A page about the training, of which `history` has the columns.
    fn report(&self, title: &str, history: &Bound<'_, PyDict>) -> PyResult<String> {
        Ok(report::page(&self.inner, &history::records(history)?, title))
    }

    /// Reads graphs for this model.
    fn read_graphs(&self, lines: &str, labelled: bool) -> PyResult<FactorGraphData> {
        let names = match &self.inner.meta.spec {
            Spec::FactorGraph(spec) => spec.names(&self.inner.labels, &self.inner.attributes),
            _ => None,
        };
        let names = names.ok_or_else(|| value_error("this is not a model of factor graphs"))?;
        FactorGraphData::with_names(lines, &names, labelled)
    }

    /// What speaks against its certificate on these data, which are used up; and what the certificate
    /// was shown to be worth.
    fn verify(
        &self,
        py: Python<'_>,
        data: AnyData<'_>,
        threads: usize,
    ) -> PyResult<(Vec<String>, &'static str)> {
        let (examples, fingerprint) = data.take()?;
        let (findings, quality) = py
            .detach(|| verify::findings(&self.inner, examples, fingerprint, threads))
            .map_err(value_error)?;
        Ok((findings, quality.name()))
    }

    /// The same model with small weights at zero, by one of the rules `below`, `keep` and `cost`. The data are
    /// those it was trained on; they are used up.
    fn prune(
        &self,
        py: Python<'_>,
        data: AnyData<'_>,
        rule: &str,
        value: f64,
        threads: usize,
    ) -> PyResult<Self> {
        let rule = match rule {
            "below" => Prune::Below(value),
            "keep" => Prune::Keep(value),
            "cost" => Prune::Cost(value),
            _ => return Err(value_error(format!("there is no rule {rule:?} to prune by"))),
        };
        let (examples, fingerprint) = data.take()?;
        let inner = py
            .detach(|| self.inner.prune(examples, fingerprint, "examples", rule, threads))
            .map_err(value_error)?;
        Ok(Self { inner, rows: self.rows.clone() })
    }

    /// The best labels of sequences, with their scores.
    #[pyo3(signature = (data, rules=None, fixed=None, threads=1))]
    fn predict_chain<'py>(
        &self,
        py: Python<'py>,
        data: &SequenceData,
        rules: Option<&str>,
        fixed: Option<Vec<Vec<i64>>>,
        threads: usize,
    ) -> PyResult<Vec<Scored<'py>>> {
        let answers = self.ask(py, data, rules, fixed, &Question::Best, threads)?;
        Ok(answers.into_iter().flat_map(|answer| scored(py, answer.paths)).collect())
    }

    /// The `n` best labellings of each sequence, with their scores.
    #[pyo3(signature = (data, n, rules=None, fixed=None, threads=1))]
    fn predict_chain_n_best<'py>(
        &self,
        py: Python<'py>,
        data: &SequenceData,
        n: usize,
        rules: Option<&str>,
        fixed: Option<Vec<Vec<i64>>>,
        threads: usize,
    ) -> PyResult<Vec<Vec<Scored<'py>>>> {
        let answers = self.ask(py, data, rules, fixed, &Question::NBest(n), threads)?;
        Ok(answers.into_iter().map(|answer| scored(py, answer.paths)).collect())
    }

    /// The best labels of sequences, and what each other choice would cost at least.
    #[pyo3(signature = (data, rules=None, fixed=None, threads=1))]
    fn predict_chain_margins<'py>(
        &self,
        py: Python<'py>,
        data: &SequenceData,
        rules: Option<&str>,
        fixed: Option<Vec<Vec<i64>>>,
        threads: usize,
    ) -> PyResult<Vec<Confident<'py>>> {
        let answers = self.ask(py, data, rules, fixed, &Question::Margins, threads)?;
        Ok(answers.into_iter().map(|answer| confident(py, answer)).collect())
    }

    /// For each token and label, the score of the best labelling that has it.
    fn chain_max_marginals<'py>(
        &self,
        py: Python<'py>,
        data: &SequenceData,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let answers = self.ask(py, data, None, None, &Question::MaxMarginals, threads)?;
        let labels = self.inner.labels.len();
        answers.into_iter().map(|answer| table(py, answer.numbers, labels)).collect()
    }

    /// For each sequence the logarithm of the sum of exp(score) over all labellings, and the probability of each
    /// label at each token by the softmax of scores.
    #[pyo3(signature = (data, rules=None, fixed=None, threads=1))]
    fn chain_marginals<'py>(
        &self,
        py: Python<'py>,
        data: &SequenceData,
        rules: Option<&str>,
        fixed: Option<Vec<Vec<i64>>>,
        threads: usize,
    ) -> PyResult<Vec<(f64, Bound<'py, PyArray2<f64>>)>> {
        let answers = self.ask(py, data, rules, fixed, &Question::Marginals, threads)?;
        let labels = self.inner.labels.len();
        let pair = |answer: Answer| {
            let log_sum = answer.paths.first().map_or(f64::NAN, |(_, score)| *score);
            Ok((log_sum, table(py, answer.numbers, labels)?))
        };
        answers.into_iter().map(pair).collect()
    }

    /// The scores of all labels of rows.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        data: &RowData,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (rows, inner) = (&data.data, &self.inner);
        let all = py.detach(|| {
            let start = || RowScorer::new(&inner.meta.spec, &inner.weights);
            let score = |scorer: &mut RowScorer<'_>, i| scorer.score(rows.row(i)).to_vec();
            map_side_by_side(rows.len(), threads, start, score).concat()
        });
        PyArray1::from_vec(py, all).reshape([rows.len(), self.inner.labels.len()])
    }

    /// The sets of labels of rows.
    fn predict_sets(
        &self,
        py: Python<'_>,
        data: &RowData,
        threads: usize,
    ) -> PyResult<Vec<Vec<u32>>> {
        let spec = self.sets()?;
        let rows = &data.data;
        py.detach(|| spec.predict(&self.inner.weights, rows, threads)).map_err(value_error)
    }

    /// The `n` best sets of labels of rows with their scores, and the margins of labels.
    fn rank_sets(
        &self,
        py: Python<'_>,
        data: &RowData,
        n: usize,
        threads: usize,
    ) -> PyResult<Vec<RankedSets>> {
        let spec = self.sets()?;
        let rows = &data.data;
        py.detach(|| ranked_sets(spec, &self.inner.weights, rows, n, threads)).map_err(value_error)
    }

    /// The `n` best states of the variables of graphs with their scores.
    fn rank_states(
        &self,
        py: Python<'_>,
        data: &FactorGraphData,
        n: usize,
        threads: usize,
    ) -> PyResult<Vec<RankedStates>> {
        let spec = self.factor_graph()?;
        let graphs = &data.data;
        py.detach(|| ranked_states(spec, &self.inner.weights, graphs, n, threads))
            .map_err(value_error)
    }

    /// The states of the variables of graphs.
    fn predict_states(
        &self,
        py: Python<'_>,
        data: &FactorGraphData,
        threads: usize,
    ) -> PyResult<Vec<Vec<u32>>> {
        let spec = self.factor_graph()?;
        let graphs = &data.data;
        py.detach(|| spec.predict(&self.inner.weights, graphs, threads)).map_err(value_error)
    }

    /// For each graph the scores of the states of each variable, without those of factors of several variables.
    fn state_scores<'py>(
        &self,
        py: Python<'py>,
        data: &FactorGraphData,
        threads: usize,
    ) -> PyResult<Vec<Vec<Bound<'py, PyArray1<f64>>>>> {
        let spec = self.factor_graph()?;
        let (w, graphs) = (&self.inner.weights, &data.data);
        let scores = py.detach(|| spec.state_scores(w, graphs, threads)).map_err(value_error)?;
        let arrays = |own: Vec<Vec<f64>>| {
            own.into_iter().map(|scores| PyArray1::from_vec(py, scores)).collect()
        };
        Ok(scores.into_iter().map(arrays).collect())
    }

    /// The best states of the variables of graphs among those that are allowed, by variable and state.
    fn complete_states(
        &self,
        py: Python<'_>,
        data: &FactorGraphData,
        allowed: Vec<Vec<bool>>,
        threads: usize,
    ) -> PyResult<Vec<Vec<u32>>> {
        let spec = self.factor_graph()?;
        let graphs = &data.data;
        let fits = |(graph, own): (Graph<'_>, &Vec<bool>)| {
            graph.states().iter().map(|&states| states as usize).sum::<usize>() == own.len()
        };
        if allowed.len() != graphs.len() || !graphs.iter().zip(&allowed).all(fits) {
            return Err(value_error("what is allowed does not fit the graphs"));
        }
        let w = &self.inner.weights;
        py.detach(|| spec.complete(w, graphs, &allowed, threads)).map_err(value_error)
    }

    /// The objective of the weights on other data, which are used up.
    fn objective(&self, py: Python<'_>, data: AnyData<'_>, threads: usize) -> PyResult<f64> {
        let (examples, _) = data.take()?;
        py.detach(|| self.inner.objective(examples, threads)).map_err(value_error)
    }

    /// Length and label of the segments of sequences.
    fn predict_segments(
        &self,
        py: Python<'_>,
        data: &SegmentData,
        threads: usize,
    ) -> PyResult<Vec<Vec<(u32, u32)>>> {
        let spec = self.segments()?;
        let w = &self.inner.weights;
        let found = py.detach(|| spec.predict(w, &data.data, threads)).map_err(value_error)?;
        let pairs = |own: Vec<Segment>| own.iter().map(|s| (s.length, s.label)).collect();
        Ok(found.into_iter().map(pairs).collect())
    }

    /// For each token and label, the score of the best segments that give the token this label.
    fn segment_max_marginals<'py>(
        &self,
        py: Python<'py>,
        data: &SegmentData,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
        let spec = self.segments()?;
        let w = &self.inner.weights;
        let found =
            py.detach(|| spec.max_marginals(w, &data.data, threads)).map_err(value_error)?;
        found.into_iter().map(|own| table(py, own, spec.shape.labels)).collect()
    }

    /// The labels of the nodes of graphs, which are used up.
    fn predict_nodes<'py>(
        &self,
        py: Python<'py>,
        data: &mut PottsData,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
        let spec = self.potts()?;
        let graphs = take(&mut data.data);
        let w = &self.inner.weights;
        let labels = py.detach(|| spec.predict(w, &graphs, threads)).map_err(value_error)?;
        Ok(labels.into_iter().map(|own| PyArray1::from_vec(py, own)).collect())
    }

    /// The `n` best states (kind, x, y) of the nodes of each tree, with their scores.
    fn predict_trees<'py>(
        &self,
        py: Python<'py>,
        data: &TreeData,
        n: usize,
        threads: usize,
    ) -> PyResult<Vec<Vec<Rated<'py>>>> {
        let (spec, w) = (self.tree()?, &self.inner.weights);
        let found =
            py.detach(|| best_states(spec, w, &data.data, n, threads)).map_err(value_error)?;
        found.into_iter().map(|own| rated_states(py, own)).collect()
    }

    /// The mean loss of the predicted states of trees.
    fn tree_loss(&self, py: Python<'_>, data: &TreeData, threads: usize) -> PyResult<f64> {
        let (spec, w) = (self.tree()?, &self.inner.weights);
        py.detach(|| tree_loss(spec, w, &data.data, threads)).map_err(value_error)
    }

    /// Where the unary weights, biases, tables and costs of deformation of each node begin and end.
    fn tree_groups(&self) -> PyResult<Vec<[(usize, usize); 5]>> {
        let shape = &self.tree()?.shape;
        let ends = |range: std::ops::Range<usize>| (range.start, range.end);
        let of = |v| {
            let fixed = [shape.unary(v), shape.bias(v), shape.table(v)];
            let [unary, bias, table] = fixed.map(ends);
            [unary, bias, table, ends(shape.deformation(v)), ends(shape.at_parent(v))]
        };
        Ok((0..shape.nodes().len()).map(of).collect())
    }

    /// The `n` best sets of links of each pair, with their scores.
    fn predict_pairs<'py>(
        &self,
        py: Python<'py>,
        data: &PairData,
        n: usize,
        threads: usize,
    ) -> PyResult<Vec<Vec<Rated<'py>>>> {
        let spec = self.matching()?;
        if n > 1 && !spec.shape.is_one_to_one() {
            return Err(value_error("the n best are only known with one link per row and column"));
        }
        let w = &self.inner.weights;
        let found = py.detach(|| best_links(spec, w, &data.data, n, threads));
        found.into_iter().map(|own| rated_links(py, own)).collect()
    }
}
