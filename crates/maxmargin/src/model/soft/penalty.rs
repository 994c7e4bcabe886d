//! The price of messages.

use crate::util::names::named_enum;

named_enum! {
    /// Where the penalty on messages stands in the soft objective, and so what ρ means.
    ///
    /// With M examples, the objective is a mean over them. A penalty inside the mean makes the messages of one
    /// example equally expensive for any M, so one ρ serves data of any size. A penalty beside the mean, as the
    /// paper prints it, makes them M times as expensive.
    ///
    /// ```
    /// # use maxmargin::doc::soft_pictures;
    /// use maxmargin::model::soft::RhoScale;
    ///
    /// assert_eq!(soft_pictures(0.1).rho_scale(), RhoScale::Example);
    /// assert_eq!("sum".parse(), Ok(RhoScale::Sum));
    /// ```
    #[derive(Default)]
    RhoScale("scale of rho") {
        /// Inside the mean: Σ_m c_m/C · ρ/2·‖δ_m‖², with example weights c_m whose sum is C.
        #[default]
        Example = "example",
        /// Beside the mean: ρ/2·Σ_m ‖δ_m‖².
        Sum = "sum",
    }
}

/// Prices of messages: λ, ρ and the scale of ρ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Penalty {
    pub(super) lambda: f64,
    pub(super) rho: f64,
    pub(super) scale: RhoScale,
}

impl Penalty {
    /// The factor ρ_m of ‖δ_m‖²/2 in the objective, for an example with this share c_m/C of all weights.
    pub(super) fn price(&self, share: f64) -> f64 {
        match self.scale {
            RhoScale::Example => self.rho * share,
            RhoScale::Sum => self.rho,
        }
    }

    /// √(λ/ρ_m), the value of a message coordinate of the features.
    pub(super) fn feature(&self, share: f64) -> f64 {
        (self.lambda / self.price(share)).sqrt()
    }
}
