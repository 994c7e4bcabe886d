//! The loss of a classification: 0/1, or a matrix of costs.

use crate::model::InputError;

/// The loss of a classification.
///
/// ```
/// use maxmargin::model::multiclass::{ClassLoss, CostMatrix};
///
/// assert_eq!(ClassLoss::default().cost(2, 1), 1.0);
/// let costs = CostMatrix::new(vec![vec![0.0, 1.0], vec![5.0, 0.0]])?;
/// assert_eq!(ClassLoss::Costs(costs).cost(1, 0), 5.0); // class 1 taken for class 0
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ClassLoss {
    /// 1 for every mistake.
    #[default]
    ZeroOne,
    /// A cost for every pair of a true and a predicted class.
    Costs(CostMatrix),
}

impl ClassLoss {
    /// The cost of predicting class `predicted` if `truth` is true.
    ///
    /// # Panics
    /// If there is a matrix and it is too small.
    #[inline]
    pub fn cost(&self, truth: u32, predicted: u32) -> f64 {
        match self {
            Self::ZeroOne => f64::from(truth != predicted),
            Self::Costs(matrix) => matrix.row(truth)[predicted as usize],
        }
    }
}

/// A square matrix of costs that are finite, at least 0, and 0 on the diagonal.
///
/// ```
/// use maxmargin::model::multiclass::CostMatrix;
///
/// let costs = CostMatrix::new(vec![vec![0.0, 1.0], vec![5.0, 0.0]])?;
/// assert_eq!((costs.classes(), costs.row(1)), (2, &[5.0, 0.0][..]));
/// # Ok::<(), maxmargin::model::InputError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<Vec<f64>>", into = "Vec<Vec<f64>>"))]
pub struct CostMatrix {
    classes: usize,
    /// The costs row by row. Each row belongs to a true class.
    costs: Vec<f64>,
}

impl CostMatrix {
    /// Creates a matrix from costs by true class (rows) and predicted class (columns).
    ///
    /// # Errors
    /// If the matrix is not square, if a cost is negative or not finite, or if the diagonal is not 0.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, InputError> {
        let classes = rows.len();
        for (truth, row) in rows.iter().enumerate() {
            if row.len() != classes {
                let what = format!("row {truth} of the costs has {} entries", row.len());
                let message = format!("{what}, but there are {classes} rows");
                return Err(InputError::Structure(message));
            }
            for (predicted, &cost) in row.iter().enumerate() {
                if !(cost >= 0.0 && cost.is_finite()) {
                    let what = format!("the cost of taking class {truth} for class {predicted}");
                    return Err(InputError::negative(what, cost));
                }
                if truth == predicted && cost != 0.0 {
                    let message = format!("predicting class {truth} correctly costs {cost}");
                    return Err(InputError::Structure(message + "; it must cost 0"));
                }
            }
        }
        Ok(Self { classes, costs: rows.concat() })
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The costs of a true class, by predicted class.
    ///
    /// # Panics
    /// If there is no such class.
    #[inline]
    pub fn row(&self, truth: u32) -> &[f64] {
        &self.costs[truth as usize * self.classes..][..self.classes]
    }
}

impl TryFrom<Vec<Vec<f64>>> for CostMatrix {
    type Error = InputError;
    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, InputError> {
        Self::new(rows)
    }
}

impl From<CostMatrix> for Vec<Vec<f64>> {
    fn from(matrix: CostMatrix) -> Self {
        matrix.costs.chunks(matrix.classes.max(1)).map(<[f64]>::to_vec).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_checked_in_files_too() {
        let text = r#"{"costs":[[0.0,2.0],[0.5,0.0]]}"#;
        let loss: ClassLoss = serde_json::from_str(text).unwrap();
        assert_eq!((loss.cost(0, 1), loss.cost(1, 0), loss.cost(1, 1)), (2.0, 0.5, 0.0));
        assert_eq!(serde_json::to_string(&loss).unwrap(), text);
        let zero_one = serde_json::to_string(&ClassLoss::ZeroOne).unwrap();
        assert_eq!(zero_one, "\"zero-one\"");
        for (rows, complaint) in [
            ("[[0,1],[1]]", "row 1 of the costs has 1 entries"),
            ("[[1]]", "predicting class 0 correctly costs 1"),
            ("[[0,1,2],[1,0,-1],[0,0,0]]", "class 1 for class 2 is -1"),
        ] {
            let text = format!("{{\"costs\":{rows}}}");
            let error = serde_json::from_str::<ClassLoss>(&text).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(CostMatrix::new(vec![vec![0.0, bad], vec![1.0, 0.0]]).is_err());
        }
        assert_eq!(CostMatrix::new(Vec::new()).unwrap().classes(), 0);
    }
}
