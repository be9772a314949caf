//! What a part gave, where it ran.

use psijoin_psi::{ColumnSum, Matched, Output, Shares, output_bytes};
use zeroize::Zeroizing;

/// The result of a part, and its contents.
pub struct Done {
    /// The number of the party's items in it.
    pub(crate) items: u64,
    /// A share of the number of shared ones, if a minimum may withhold rows.
    pub(crate) count: u64,
    /// The bounds of the sum of each of its columns.
    pub(crate) columns: Vec<ColumnSum>,
    /// Its output, with the items' [positions](crate::Part::positions); nothing if the other party's
    /// payloads could not be opened, which it must not see.
    pub(crate) output: Option<Output>,
}

impl Done {
    /// Returns the positions of shared items, and the other party's payloads of them, if the part
    /// gave them.
    pub fn rows(&self) -> Option<(&[u32], &[u8])> {
        match &self.output {
            Some(Output::Rows(rows)) => Some((rows, &[])),
            Some(Output::Matched(Matched { rows, payloads })) => Some((rows, payloads)),
            _ => None,
        }
    }

    /// Returns for each place at which the part compares items the position of the item there, if
    /// the part gave shares and this is the receiver. Whoever keeps them finds its rows once the
    /// [shared places](crate::SharedPlaces) are known.
    pub fn places(&self) -> Option<&[Option<u32>]> {
        match &self.output {
            Some(Output::Shares(shares)) => shares.items(),
            _ => None,
        }
    }

    /// Returns what whoever [gathers](crate::Gathered::take) the parts needs of it, as bytes: all
    /// but its [rows](Self::rows) and [places](Self::places), which stay where they are.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let output = self.output.as_ref().map(|output| match output {
            Output::Rows(_) | Output::Matched(_) => output_bytes::encode(&Output::Nothing),
            Output::Shares(shares) => {
                let (bits, columns) = (shares.membership().clone(), shares.columns().to_vec());
                output_bytes::encode(&Output::Shares(Shares::new(bits, columns, None)))
            }
            output => output_bytes::encode(output),
        });
        let columns = self.columns.iter().flat_map(ColumnSum::bounds);
        let output_len = output.as_ref().map_or(0, |output| output.len());
        let mut bytes = Zeroizing::new(Vec::new());
        // At once, so that no copy is left behind when the vector grows.
        bytes.reserve_exact(25 + 16 * self.columns.len() + output_len);
        bytes.extend(self.items.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend((self.columns.len() as u64).to_le_bytes());
        columns.for_each(|bound| bytes.extend(bound.to_le_bytes()));
        bytes.push(u8::from(output.is_some()));
        bytes.extend(output.iter().flat_map(|output| &***output));
        bytes
    }

    /// Reads what [`Self::to_bytes`] has written; `None` if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (items, rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (columns, rest) = rest.split_first_chunk()?;
        let columns = usize::try_from(u64::from_le_bytes(*columns)).ok()?;
        let (bounds, rest) = rest.split_at_checked(columns.checked_mul(16)?)?;
        let (bounds, _) = bounds.as_chunks::<16>();
        let columns = bounds.iter().map(|bounds| {
            let (bounds, _) = bounds.as_chunks();
            ColumnSum::of_bounds([0, 1].map(|i| i64::from_le_bytes(bounds[i])))
        });
        let output = match rest.split_first()? {
            (0, []) => None,
            (1, output) => Some(output_bytes::decode(output)?),
            _ => return None,
        };
        Some(Self {
            items: u64::from_le_bytes(*items),
            count: u64::from_le_bytes(*count),
            columns: columns.collect::<Option<_>>()?,
            output,
        })
    }
}
