//! A party's table, and what becomes of it: it is read before the parties agree, and the result is
//! written when the session is over.

use psijoin::{JointSeed, Output, Role};
use psijoin_files::AtomicFile;
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Progress, Source};
use psijoin_table::{
    Beside, Counts, Destination, StagedRows, TableKeys,
    share::{GivenColumns, GivenRows, RepeatedKeys},
};

use crate::{
    Error,
    agreement::Agreement,
    allowance::Allowance,
    columns::{AgreedColumns, OwnColumns},
    event::{Event, Warning, Work, during},
    grouped::Grouped,
    job::Job,
    labels::AgreedGroups,
    outcome::{Batches, Received},
    own_table::{Facts, OwnTable},
    party::Party,
    phases::Phases,
    requested_output::RequestedOutput,
    shares::Kept,
    table::{Ran, Table, Use},
    trade::{Give, Given, PREFIX},
};

/// See the [module](self).
pub(crate) struct Workplace<'a> {
    /// The table.
    pub(crate) source: Source,
    /// The use of the result by this party.
    pub(crate) task: Task,
    /// The threads that compute.
    pub(crate) pool: &'a Pool,
    /// The memory that they may use, and the place of the rest.
    pub(crate) allowance: Allowance,
    /// The progress of a pass over the table; interrupts it.
    pub(crate) progress: &'a Progress,
}

/// The use of the result by a party.
pub(crate) enum Task {
    /// It helps the other party, and has none.
    Help,
    /// It learns the shared rows, and writes them.
    Write(Destination),
    /// It learns the totals of groups, and writes them to a file.
    WriteGroups(Destination),
    /// It learns something else.
    Learn,
    /// It gets shares, and keeps them.
    Share(AtomicFile),
}

impl Workplace<'_> {
    /// Checks what can be checked alone.
    ///
    /// # Errors
    /// If the settings cannot be told to the other party, the protocol cannot answer the question,
    /// or the table lacks what is needed.
    pub(crate) fn check(&self, party: &Party<'_>) -> Result<(), Error> {
        let source = &self.source;
        party.doubt(source.name(), &source.doubts()?)?;
        party.check_hello()?;
        party.check_question()?;
        if let Some(give) = &party.trade.gives {
            GivenColumns::of(source, &give.columns)?;
        }
        Ok(source.check_key(&party.key)?)
    }

    /// Reads the table, which a job must be about if there is one.
    pub(crate) fn read_table(
        &self,
        party: &Party<'_>,
        own: &OwnColumns,
        job: Option<&mut Job>,
    ) -> Result<Table, Error> {
        let (source, key) = (&self.source, &party.key);
        let (numbers, labels) = (&own.to_read()[..], &own.labels_to_read()[..]);
        let beside = Beside { numbers, labels };
        let (spill, progress) = (&self.allowance.spill, self.progress);
        let secret = job.as_ref().map(|job| job.secret_of_tables());
        let read = || match &secret {
            Some(secret) => {
                TableKeys::read_identified(source, key, beside, spill, progress, secret)
                    .map(|(keys, identity)| (keys, Some(identity)))
            }
            None => TableKeys::read_beside(source, key, beside, spill, progress)
                .map(|keys| (keys, None)),
        };
        let name = source.name();
        let (keys, identity) = during(
            party.watcher,
            Work::ReadingKeys(name),
            || progress.bytes(),
            || self.pool.run(read),
        )?;
        let Counts { rows, distinct, .. } = keys.counts();
        party.watcher.hear(Event::TableRead {
            name,
            rows,
            keys: distinct,
        });
        party.doubt(name, keys.doubts())?;
        let cells = keys.bad_cells();
        if !cells.sorts.is_empty() {
            party.warn(Warning::BadCells { cells, rows });
        }
        if let Some((job, identity)) = job.zip(identity) {
            job.is_about(identity)?;
        }
        Ok(Table::new(keys))
    }

    pub(crate) fn use_of_table(&self, party: &Party<'_>, has_job: bool) -> Use {
        Use {
            rows: party.trade.gives.is_some()
                || match self.task {
                    Task::Write(_) => true,
                    Task::Share(_) => party.role == Role::Receiver,
                    Task::Help | Task::WriteGroups(_) | Task::Learn => false,
                },
            keys: party.aligned.is_some() || (has_job && party.trade.gives.is_some()),
            again: has_job,
        }
    }

    /// Adds the partner's columns to the output.
    ///
    /// # Errors
    /// If the format cannot hold it.
    pub(crate) fn write_with(&mut self, role: Role, given: &Given) -> Result<(), Error> {
        let Some(layout) = given.by(role.other()) else {
            return Ok(());
        };
        self.task = match std::mem::replace(&mut self.task, Task::Help) {
            Task::Write(destination) => {
                let with = destination.adding(layout.columns(), PREFIX, &self.source);
                Task::Write(with?)
            }
            other => other,
        };
        Ok(())
    }

    /// Reads what is given of the table, if anything is, into the order in which the protocol takes
    /// items. A job notes it.
    ///
    /// # Errors
    /// If the table cannot be read, or has changed.
    pub(crate) fn read_payloads(
        &self,
        party: &Party<'_>,
        given: &Given,
        table: &mut Table,
        job: Option<&mut Job>,
    ) -> Result<(), Error> {
        let (Some(layout), Some(give)) = (given.by(party.role), &party.trade.gives) else {
            return Ok(());
        };
        let (source, progress) = (&self.source, self.progress);
        let given = (layout, give.repeated);
        let mut read = || table.read_payloads(source, given, &self.allowance, progress);
        during(
            party.watcher,
            Work::ReadingColumns,
            || progress.bytes(),
            || self.pool.run(&mut read),
        )?;
        if let Some(job) = job {
            job.gives(table.payloads_identity()?)?;
        }
        Ok(())
    }

    /// Hands the result out, with the session over; nothing for a party that only helped.
    pub(crate) fn hand_out(
        &self,
        party: &Party<'_>,
        agreement: &Agreement,
        (table, ran): (&Table, Ran),
        (joint_seed, phases): (&JointSeed, &Phases),
    ) -> Result<Option<Received>, Error> {
        match (&self.task, ran) {
            (Task::Write(destination), ran) => {
                phases.begin("writing the rows");
                let result = (table, ran);
                self.write_rows(party, destination, &agreement.given, result, joint_seed)
                    .map(Some)
            }
            (
                Task::Share(file),
                Ran {
                    output: Output::Shares(shares),
                    ..
                },
            ) => {
                phases.begin("writing the shares");
                let places = shares.places() as u64;
                let kept = Kept {
                    role: party.role,
                    columns: agreement.columns.in_shares(),
                    joint_seed,
                    row_of: (party.role == Role::Receiver).then(|| table.row_of()),
                };
                kept.write(shares, file, party.watcher)?;
                Ok(Some(Received::Shares { places }))
            }
            (task, ran) => {
                let agreed = (&agreement.columns, &agreement.groups);
                let received = received(&party.question.asked, agreed, ran.output);
                party.watcher.hear(Event::HandsOut);
                if let (Task::WriteGroups(destination), Some(Received::Groups(grouped))) =
                    (task, &received)
                {
                    phases.begin("writing the groups");
                    grouped.write(destination)?;
                }
                Ok(received)
            }
        }
    }

    fn write_rows(
        &self,
        party: &Party<'_>,
        destination: &Destination,
        given: &Given,
        (table, ran): (&Table, Ran),
        joint_seed: &JointSeed,
    ) -> Result<Received, Error> {
        let (source, progress) = (&self.source, self.progress);
        let layout = given.by(party.role.other());
        let spill = &self.allowance.spill;
        let (shared_keys, (rows, in_memory)) = match (party.aligned, layout) {
            (Some(_), layout) => {
                let key = joint_seed.key("psijoin 2026 order of aligned rows");
                let of_table = || table.aligned(ran, layout, &key, spill);
                let (rows, given) = self.pool.run(of_table)?;
                let given = given.as_ref();
                let stage = || destination.stage_aligned(source, &rows, given, spill, progress);
                (rows.count(), self.stage(party, destination, &stage)?)
            }
            (None, None) => {
                let (keys, rows) = table.matching(ran)?;
                let stage = || destination.stage_rows(source, &rows, progress);
                (keys, self.stage(party, destination, &stage)?)
            }
            (None, Some(layout)) => {
                let (keys, rows, given) = table.joined(ran, layout, spill)?;
                let stage = || destination.stage_joined(source, &rows, &given, progress);
                (keys, self.stage(party, destination, &stage)?)
            }
        };
        Ok(Received::Rows {
            shared_keys,
            which: destination.which(),
            aligned: party.aligned.is_some(),
            rows,
            in_memory,
        })
    }

    /// Writes rows, and returns their number; `None` if their reader went away. Those that stay in
    /// memory come back, too.
    fn stage(
        &self,
        party: &Party<'_>,
        destination: &Destination,
        stage: &(dyn Fn() -> Result<StagedRows, psijoin_table::Error> + Sync),
    ) -> Result<(Option<u64>, Option<Batches>), Error> {
        let staged = during(
            party.watcher,
            Work::WritingRows,
            || self.progress.bytes(),
            || self.pool.run(stage),
        );
        match staged {
            Err(error) if error.kind() == psijoin_table::ErrorKind::BrokenPipe => Ok((None, None)),
            staged => {
                let staged = staged?;
                party.watcher.hear(Event::HandsOut);
                let rows = staged.rows();
                let in_memory = match destination.is_in_memory() {
                    true => staged.into_batches(),
                    false => {
                        staged.commit()?;
                        None
                    }
                };
                Ok((Some(rows), in_memory))
            }
        }
    }
}

/// Returns what a party has received, of this output, if it is not rows or shares.
pub(crate) fn received(
    asked: &RequestedOutput,
    (columns, groups): (&AgreedColumns, &AgreedGroups),
    output: Output,
) -> Option<Received> {
    match (asked, output) {
        (RequestedOutput::Count, Output::Count(count)) => Some(Received::Count(count)),
        (&RequestedOutput::Threshold(least), Output::Reached(reached)) => {
            Some(Received::Threshold { least, reached })
        }
        (RequestedOutput::Sum(_), Output::Sums(sums)) => Some(Received::Sums(columns.sums(&sums))),
        (RequestedOutput::Groups(asked), Output::Groups(totals)) => Some(Received::Groups(
            Grouped::new(asked, groups, columns, &totals),
        )),
        _ => None,
    }
}

/// A table that was read, as the other party is told of it.
pub(crate) struct ReadTable<'w, 'a> {
    workplace: &'w mut Workplace<'a>,
    table: &'w Table,
    /// The rows whose columns are given, once they are offered.
    rows: Option<GivenRows<'w>>,
}

impl<'w, 'a> ReadTable<'w, 'a> {
    pub(crate) fn new(workplace: &'w mut Workplace<'a>, table: &'w Table) -> Self {
        Self {
            workplace,
            table,
            rows: None,
        }
    }
}

impl OwnTable for ReadTable<'_, '_> {
    fn facts(&self) -> Facts<'_> {
        Facts {
            counts: self.table.counts,
            meanings: &self.table.meanings,
            numbers: &self.table.numbers,
            labels: &self.table.labels,
        }
    }

    fn check_alignable(&self, repeated: RepeatedKeys) -> Result<(), Error> {
        Ok(self.table.check_alignable(repeated)?)
    }

    fn offer(&mut self, give: &Give) -> Result<GivenColumns, Error> {
        self.rows = Some(self.table.given(give.repeated)?);
        Ok(GivenColumns::of(&self.workplace.source, &give.columns)?)
    }

    fn row_bytes(
        &mut self,
        party: &Party<'_>,
        give: &Give,
        columns: &GivenColumns,
    ) -> Result<usize, Error> {
        let Workplace {
            source,
            pool,
            progress,
            ..
        } = &*self.workplace;
        let rows = self.rows.as_ref().expect("they were offered");
        let measured = during(
            party.watcher,
            Work::MeasuringColumns,
            || progress.bytes(),
            || {
                pool.run(|| match give.row_bytes {
                    None => rows.longest_row(source, columns, progress),
                    Some(most) => {
                        let fits = &mut |_, _: &[u8]| Ok(());
                        rows.each_row(source, columns, most, progress, fits)?;
                        Ok(most)
                    }
                })
            },
        );
        Ok(measured?)
    }

    fn take(&mut self, role: Role, given: &Given) -> Result<(), Error> {
        self.workplace.write_with(role, given)
    }
}
