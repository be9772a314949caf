//! The lanes of a join that run elsewhere.

use psijoin::parts::{Gathered, Session};
use psijoin_transport::{Connection, Lanes, LanesAt, Timeouts};

use crate::{
    ElsewhereFault, Error, agreement::Agreement, lane::LaneReport, lanes::Ways, party::Party,
};

/// The lanes of a join that runs elsewhere, and what has come of them.
pub(super) struct Elsewhere {
    pub(super) lanes: Lanes,
    pub(super) at: LanesAt,
    /// `None` if nothing runs, since the result follows from the sizes.
    pub(super) gathered: Option<Gathered>,
    /// The lanes that have reported.
    pub(super) reported: Vec<bool>,
    /// The shared keys that they have found.
    pub(super) shared: u64,
}

impl Elsewhere {
    pub(super) fn new(
        party: &Party<'_>,
        agreement: &Agreement,
        (connection, timeouts): (&Connection, Timeouts),
    ) -> Result<Self, Error> {
        let count = match agreement.ways(agreement.remaining(None)) {
            Ways::Lanes(count) => count,
            // The result follows from the sizes.
            Ways::Meeting | Ways::Streams(_) => 0,
        };
        let plan = &agreement.plan;
        let session = || Session::new(plan, party.role, &agreement.joint_seed);
        Ok(Self {
            lanes: agreement.lanes(count, timeouts)?,
            at: connection.lanes_at().ok_or(ElsewhereFault::NoWay)?,
            gathered: (count > 0).then(|| Gathered::new(&session())),
            reported: vec![false; count as usize],
            shared: 0,
        })
    }

    /// Notes the report of a lane of a session in so many parts, once.
    pub(super) fn take(&mut self, report: &LaneReport, parts: u32) -> Result<(), Error> {
        let reported = self.reported.get_mut(report.lane() as usize);
        let fresh = reported.filter(|reported| !**reported);
        let is_whole = report.has_all(parts, self.lanes.count);
        let (fresh, gathered) = (fresh.filter(|_| is_whole))
            .zip(self.gathered.as_mut())
            .ok_or(ElsewhereFault::Report)?;
        for done in report.parts() {
            let (part, done) = done?;
            gathered.take(part, done)?;
        }
        *fresh = true;
        self.shared += report.shared();
        Ok(())
    }

    /// Checks that all lanes have reported.
    pub(super) fn check_whole(&self) -> Result<(), Error> {
        let missing = self.reported.iter().filter(|reported| !**reported).count() as u32;
        match missing {
            0 => Ok(()),
            missing => Err(ElsewhereFault::Lanes {
                missing,
                lanes: self.lanes.count,
            }
            .into()),
        }
    }
}
