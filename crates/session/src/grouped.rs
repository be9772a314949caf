//! The totals of groups: what the receiver has learned, as a table.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{Field, Schema};
use psijoin::Group;
use psijoin_source::{Decimal, MAX_SCALE, Progress, Source};
use psijoin_table::{Destination, Existing};

use crate::{
    Batches, Error, Written,
    columns::AgreedColumns,
    labels::{AgreedGroups, LabelList},
    mean::Mean,
    requested_groups::RequestedGroups,
};

/// The digits of a sum: those of 64 bits, of which [`MAX_SCALE`] can be behind the point.
const DIGITS: u8 = 19;
const _: () = assert!(MAX_SCALE < DIGITS as u32);

/// The columns of the table, behind those of labels and before those of sums.
const COUNT: &str = "shared_keys";
const WITHHELD: &str = "withheld";

/// The totals of all groups.
///
/// As a table it has a row for each group: its labels, in columns `receiver.COLUMN` or
/// `sender.COLUMN`; `shared_keys`, the number of its shared keys; `withheld`, whether it has too
/// few to be shown, so that all its totals are null; `sum:COLUMN` for each sum; and `mean:COLUMN`
/// for each mean, which is null where no key is shared, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouped {
    /// The names of the columns of labels.
    pub by: Vec<String>,
    /// The names of the columns that were added up, and their decimals.
    pub sums: Vec<(String, u32)>,
    /// The places of those of them whose means are shown.
    pub means: Vec<usize>,
    /// The groups, in the order of their labels.
    pub groups: Vec<GroupTotals>,
}

/// The totals of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupTotals {
    /// Its label in each of the columns; `None` is null.
    pub labels: LabelList,
    /// `None` if the group is withheld.
    pub totals: Option<Totals>,
}

/// The totals of a group that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Totals {
    /// The number of its shared keys. With noise it may be below zero.
    pub shared_keys: i64,
    /// The sum of each column over them.
    pub sums: Vec<Decimal>,
}

impl Totals {
    /// Returns the mean of the keys by the sum at this place, if there are keys.
    ///
    /// # Panics
    /// If there is no such sum.
    pub fn mean(&self, at: usize) -> Option<Mean> {
        Mean::of(self.sums[at], self.shared_keys)
    }
}

impl Grouped {
    /// Returns the table that is asked for, without its groups.
    pub(crate) fn of_none(asked: &RequestedGroups) -> Self {
        Self {
            by: asked.by.iter().map(ToString::to_string).collect(),
            sums: asked.sums.iter().map(|sum| (sum.to_string(), 0)).collect(),
            means: asked.places_of_means(),
            groups: Vec::new(),
        }
    }

    /// Returns the totals that were asked for, as a protocol has given them of groups of these
    /// labels, and of these columns.
    ///
    /// # Panics
    /// If these are others.
    pub(crate) fn new(
        asked: &RequestedGroups,
        agreed: &AgreedGroups,
        columns: &AgreedColumns,
        given: &[Option<Group>],
    ) -> Self {
        let totals = |group: &Group| Totals {
            shared_keys: group.count,
            sums: columns
                .sums(&group.sums)
                .into_iter()
                .map(|sum| sum.value)
                .collect(),
        };
        let groups = agreed
            .each()
            .into_iter()
            .map(|(place, labels)| GroupTotals {
                labels,
                totals: given[place].as_ref().map(totals),
            });
        let sums = columns.0.iter();
        Self {
            by: agreed
                .0
                .iter()
                .map(|agreed| agreed.column.to_string())
                .collect(),
            sums: sums
                .map(|column| (column.name.to_string(), column.scale))
                .collect(),
            means: asked.places_of_means(),
            groups: groups.collect(),
        }
    }

    /// Returns the number of groups that are withheld.
    pub fn withheld(&self) -> usize {
        self.groups
            .iter()
            .filter(|group| group.totals.is_none())
            .count()
    }

    /// Returns the table as Arrow data.
    pub fn batches(&self) -> Batches {
        let batch = self.batch();
        (batch.schema(), vec![batch])
    }

    fn batch(&self) -> RecordBatch {
        let totals = || self.groups.iter().map(|group| group.totals.as_ref());
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for (at, name) in self.by.iter().enumerate() {
            let labels = self.groups.iter().map(|group| group.labels[at].as_deref());
            columns.push((name.clone(), Arc::new(StringArray::from_iter(labels))));
        }
        let counts = totals().map(|totals| totals.map(|totals| totals.shared_keys));
        columns.push((COUNT.to_owned(), Arc::new(Int64Array::from_iter(counts))));
        let withheld = totals().map(|totals| Some(totals.is_none()));
        columns.push((
            WITHHELD.to_owned(),
            Arc::new(BooleanArray::from_iter(withheld)),
        ));
        for (at, (name, scale)) in self.sums.iter().enumerate() {
            let sums =
                totals().map(|totals| totals.map(|totals| i128::from(totals.sums[at].mantissa)));
            let sums = Decimal128Array::from_iter(sums);
            let sums = sums.with_precision_and_scale(DIGITS, *scale as i8);
            let sums = sums.expect("a sum has as many digits");
            columns.push((format!("sum:{name}"), Arc::new(sums)));
        }
        for &at in &self.means {
            let (name, scale) = &self.sums[at];
            let means = totals().map(|totals| Some(totals?.mean(at)?.mantissa));
            let means = Decimal128Array::from_iter(means);
            let scale = (scale + Mean::DECIMALS) as i8;
            let means = means.with_precision_and_scale(DIGITS + Mean::DECIMALS as u8, scale);
            let means = means.expect("a mean has no more digits before the point than a sum");
            columns.push((format!("mean:{name}"), Arc::new(means)));
        }
        let fields = columns
            .iter()
            .map(|(name, values)| Field::new(name, values.data_type().clone(), name != WITHHELD));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let values = columns.iter().map(|(_, values)| values.clone()).collect();
        RecordBatch::try_new(Arc::new(schema), values).expect("columns of one length")
    }

    /// Returns the table as one whose rows can be written.
    fn source(&self) -> Result<Source, Error> {
        let (schema, batches) = self.batches();
        Ok(Source::of_batches("the groups", schema, batches)?)
    }

    /// Checks that the table can be written, so that a run does not fail at its end; returns where
    /// it goes.
    ///
    /// # Errors
    /// As [`Destination::prepare`], and if the form does not fit the format.
    pub(crate) fn prepare(
        &self,
        written: &Written,
        existing: Existing,
    ) -> Result<Destination, Error> {
        let source = self.source()?;
        let destination = Destination::prepare(written.output.as_deref(), &source, existing)?;
        Ok(written.shape(destination, &source, false)?)
    }

    /// Writes the table where it was [prepared](Self::prepare) for.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, destination: &Destination) -> Result<(), Error> {
        let (source, rows) = (self.source()?, self.groups.len() as u64);
        let staged = destination.stage_all(&source, rows, &Progress::default());
        staged?.commit()?;
        Ok(())
    }

    /// Writes the table to standard output, as CSV in this form.
    ///
    /// # Errors
    /// If it cannot be written. A reader that has gone away has read all that it wanted.
    pub fn print(&self, written: &Written) -> Result<(), Error> {
        let to_stdout = Written {
            output: None,
            ..written.clone()
        };
        let destination = self.prepare(&to_stdout, Existing::Replace)?;
        match self.write(&destination) {
            Err(Error::Table(error)) if error.kind() == psijoin_table::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written,
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;
    use psijoin::Role;

    use super::*;
    use crate::{columns::AgreedColumn, labels::AgreedLabels, requested_output::ColumnName};

    fn asked() -> RequestedGroups {
        RequestedGroups {
            sums: vec![
                "receiver.spend".parse().unwrap(),
                "sender.amount".parse().unwrap(),
            ],
            means: vec!["sender.amount".parse().unwrap()],
            by: vec!["receiver.segment".parse().unwrap()],
            ..RequestedGroups::default()
        }
    }

    fn grouped() -> Grouped {
        let column = |holder, name: &str, scale| AgreedColumn {
            name: ColumnName {
                holder: Some(holder),
                name: name.to_owned(),
            },
            holder,
            scale,
        };
        let columns = AgreedColumns(vec![
            column(Role::Receiver, "spend", 0),
            column(Role::Sender, "amount", 2),
        ]);
        let groups = AgreedGroups(vec![AgreedLabels {
            column: "receiver.segment".parse().unwrap(),
            labels: vec![Some("a, \"b\"".to_owned()), Some("=1".to_owned()), None],
        }]);
        let group = |count, sums: [i64; 2]| {
            Some(Group {
                count,
                sums: sums.to_vec(),
            })
        };
        let given = [group(2, [-150, 7]), None, group(0, [0, 0])];
        Grouped::new(&asked(), &groups, &columns, &given)
    }

    #[test]
    fn the_table_has_a_row_for_each_group() {
        let folder = tempfile::tempdir().unwrap();
        let mut written = Written {
            output: Some(folder.path().join("groups.csv")),
            ..Written::default()
        };
        let read = |written: &Written| {
            let grouped = grouped();
            let destination = grouped.prepare(written, Existing::Replace).unwrap();
            grouped.write(&destination).unwrap();
            std::fs::read_to_string(written.output.as_ref().unwrap()).unwrap()
        };
        assert_eq!(
            read(&written),
            "receiver.segment,shared_keys,withheld,sum:receiver.spend,sum:sender.amount,\
             mean:sender.amount\n\
             \"a, \"\"b\"\"\",2,false,7,-1.50,-0.75000000\n=1,,true,,,\n,0,false,0,0.00,\n"
        );
        written.quotes_formulas = true;
        assert!(read(&written).contains("\"'=1\",,true"));
        assert_eq!(grouped().withheld(), 1);
    }

    /// What is prepared before anything is known fits what is written in the end.
    #[test]
    fn each_format_can_hold_any_groups() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["groups.csv", "groups.tsv", "groups.parquet", "groups.arrow"] {
            let written = Written {
                output: Some(folder.path().join(name)),
                ..Written::default()
            };
            let destination = Grouped::of_none(&asked()).prepare(&written, Existing::Keep);
            grouped().write(&destination.unwrap()).unwrap();
            assert!(std::fs::metadata(folder.path().join(name)).unwrap().len() > 0);
        }
        let (schema, batches) = grouped().batches();
        assert_eq!((schema.fields().len(), batches[0].num_rows()), (6, 3));
        assert_eq!(*schema.field(4).data_type(), DataType::Decimal128(19, 2));
        assert_eq!(*schema.field(5).data_type(), DataType::Decimal128(25, 8));
    }
}
