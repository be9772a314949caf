//! A plan in parts, as a process hears of it that makes the same plan again.

use psijoin::{
    BaseOts, Columns, Error, Groups, OutputKind, Payloads, Plan, Request, Security, Totals, parts,
    registry,
};
use serde::{Deserialize, Serialize};

/// See the [module](self).
#[derive(Serialize, Deserialize)]
pub(super) struct Recipe {
    protocol: String,
    /// The sender's, and the receiver's.
    items: [u64; 2],
    statistical_bits: u32,
    output: Wanted,
    min_intersection: u64,
    item_bits: Option<u32>,
    post_quantum: bool,
    parts: u32,
    /// What is made of all this must have it.
    digest: [u8; 32],
}

/// [`OutputKind`], as it is written.
#[derive(Serialize, Deserialize)]
enum Wanted {
    Rows,
    Payloads {
        from_sender: u32,
        back: Option<u32>,
    },
    Count,
    Threshold(u64),
    Sums([usize; 2]),
    Shares([usize; 2]),
    Totals {
        columns: [usize; 2],
        counted: bool,
    },
    Groups {
        columns: [usize; 2],
        labels: [usize; 2],
        least: u64,
        noisy: bool,
    },
}

impl Recipe {
    /// Returns that of a plan in parts.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let request = plan.request();
        Some(Self {
            protocol: plan.info().name.to_owned(),
            items: [request.sizes.sender(), request.sizes.receiver()],
            statistical_bits: request.security.statistical_bits(),
            output: Wanted::of(&request.output)?,
            min_intersection: request.min_intersection,
            item_bits: request.item_bits,
            post_quantum: request.base_ots == BaseOts::MlKem,
            parts: plan.parts()?.shape.parts,
            digest: plan.digest(),
        })
    }

    /// Makes the plan.
    ///
    /// # Errors
    /// If this release makes another one, or none at all.
    pub(super) fn plan(&self) -> Result<Plan, Error> {
        const OTHER: Error = Error::Misuse(
            "this process makes another plan than the one that was agreed on: it needs the \
             release of psijoin that has met the other side",
        );
        let protocol = registry::find(&self.protocol).ok_or(OTHER)?;
        let [senders, receivers] = self.items;
        let sizes = psijoin::Sizes::new(senders, receivers)?;
        let security = Security::new(self.statistical_bits)?;
        let request = Request::of(sizes, security)
            .output(self.output.kind())
            .min_intersection(self.min_intersection)
            .base_ots(match self.post_quantum {
                true => BaseOts::MlKem,
                false => BaseOts::default(),
            });
        let request = match self.item_bits {
            Some(bits) => request.numbers(bits)?,
            None => request,
        };
        let plan = parts::in_parts(protocol, &request, self.parts)?;
        match plan.digest() == self.digest {
            true => Ok(plan),
            false => Err(OTHER),
        }
    }
}

impl Wanted {
    fn of(kind: &OutputKind) -> Option<Self> {
        let both = |columns: &Columns| [columns.sender, columns.receiver];
        Some(match kind {
            OutputKind::Rows => Self::Rows,
            OutputKind::Payloads(Payloads { from_sender, back }) => Self::Payloads {
                from_sender: *from_sender,
                back: *back,
            },
            OutputKind::Count => Self::Count,
            OutputKind::Threshold(least) => Self::Threshold(*least),
            OutputKind::Sums(columns) => Self::Sums(both(columns)),
            OutputKind::Shares(columns) => Self::Shares(both(columns)),
            OutputKind::Totals(Totals { columns, counted }) => Self::Totals {
                columns: both(columns),
                counted: *counted,
            },
            OutputKind::Groups(groups) => Self::Groups {
                columns: both(&groups.columns),
                labels: both(&groups.labels),
                least: groups.least,
                noisy: groups.noisy,
            },
            _ => return None,
        })
    }

    fn kind(&self) -> OutputKind {
        let columns = |[sender, receiver]: [usize; 2]| Columns { sender, receiver };
        match *self {
            Self::Rows => OutputKind::Rows,
            Self::Payloads { from_sender, back } => {
                OutputKind::Payloads(Payloads { from_sender, back })
            }
            Self::Count => OutputKind::Count,
            Self::Threshold(least) => OutputKind::Threshold(least),
            Self::Sums(both) => OutputKind::Sums(columns(both)),
            Self::Shares(both) => OutputKind::Shares(columns(both)),
            Self::Totals {
                columns: both,
                counted,
            } => OutputKind::Totals(Totals {
                columns: columns(both),
                counted,
            }),
            Self::Groups {
                columns: both,
                labels,
                least,
                noisy,
            } => OutputKind::Groups(Groups {
                columns: columns(both),
                labels: columns(labels),
                least,
                noisy,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_plan_is_made_of_every_output() {
        let columns = Columns {
            sender: 2,
            receiver: 1,
        };
        let payloads = |back| {
            OutputKind::Payloads(Payloads {
                from_sender: 9,
                back,
            })
        };
        let groups = |labels, noisy| {
            OutputKind::Groups(Groups {
                columns,
                labels,
                least: 5,
                noisy,
            })
        };
        for (protocol, output) in [
            ("rr22", OutputKind::Rows),
            ("rr22", payloads(None)),
            ("rr22", payloads(Some(4))),
            ("rr22-circuit", OutputKind::Count),
            ("rr22-circuit", OutputKind::Threshold(7)),
            ("rr22-circuit", OutputKind::Sums(columns)),
            ("rr22-circuit", OutputKind::Shares(columns)),
            ("rr22-circuit", groups(columns, false)),
            (
                "rr22-circuit",
                groups(
                    Columns {
                        sender: 0,
                        ..columns
                    },
                    true,
                ),
            ),
        ] {
            let request = Request::rows(3000, 2000).unwrap().output(output.clone());
            let request = match output {
                OutputKind::Count | OutputKind::Sums(_) => request.min_intersection(11),
                _ => request,
            };
            let request = request.base_ots(BaseOts::MlKem);
            let plan = parts::in_parts(registry::find(protocol).unwrap(), &request, 5).unwrap();
            let recipe = serde_json::to_vec(&Recipe::of(&plan).unwrap()).unwrap();
            let mut recipe: Recipe = serde_json::from_slice(&recipe).unwrap();
            assert_eq!(recipe.plan().unwrap().digest(), plan.digest(), "{output}");
            recipe.digest[0] ^= 1;
            assert!(recipe.plan().is_err());
        }
    }
}
