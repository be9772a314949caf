//! Step 2: the receiver's items in their places.

use psijoin_encode::{self as encode, CHOICES, Chosen, CuckooTable, SimpleTable, TwoChoiceTable};
use psijoin_params::{cuckoo, simple};
use psijoin_psi::{Error, Items};
use psijoin_runtime::memory::Buffer;

use super::{
    Params, TWO,
    functions::{Functions, Spot, Word, word_of},
    layout::{Candidates, Section},
    spelling::Method,
};

/// The content of a place: an item's number, and its word.
pub(super) type Place = Option<(u32, Word)>;

/// Every item in a place.
pub(super) struct Placed {
    in_bins: Vec<Place>,
    beside: Vec<Place>,
}

impl Placed {
    /// Places the items.
    ///
    /// # Errors
    /// If they do not fit into the table.
    pub(super) fn build(
        items: &Items,
        functions: &Functions,
        params: &Params,
    ) -> Result<Self, Error> {
        let items = items.digests();
        let beside = |item: u32| {
            let word = word_of(items.words(item as usize));
            Some((item, word))
        };
        let spots = Spots {
            spots: functions.spots(items),
            per_item: functions.per_item(),
        };
        let placed = match params.spelling.method {
            Method::None => Ok(Self {
                in_bins: Vec::new(),
                beside: (0..items.len() as u32).map(beside).collect(),
            }),
            Method::Simple(shape) => Self::simple(&spots, shape),
            Method::Balanced(shape) => Self::balanced(&spots, shape),
            Method::Cuckoo(shape) | Method::Permuted(shape) => Self::cuckoo(&spots, shape, beside),
        };
        placed.map_err(|_| params.no_placement())
    }

    /// Returns the places of a section.
    pub(super) fn of(&self, section: &Section) -> &[Place] {
        match section.candidates {
            Candidates::OfBin => &self.in_bins,
            Candidates::All => &self.beside,
        }
    }

    fn simple(spots: &Spots, shape: simple::Shape) -> Result<Self, encode::Error> {
        let bins: Vec<u32> = spots.bins::<1>().into_iter().flatten().collect();
        let table = SimpleTable::build(&bins, shape)?;
        let item = |item: &u32| spots.item(*item, 0_u8);
        Ok(Self::in_bins(shape, |bin| table.bin(bin).iter().map(item)))
    }

    fn balanced(spots: &Spots, shape: simple::Shape) -> Result<Self, encode::Error> {
        let table = TwoChoiceTable::build(&spots.bins::<TWO>(), shape)?;
        let item = |chosen: &Chosen| spots.item(chosen.item, chosen.choice);
        let items = |bin| table.bin(bin as usize).iter().map(item);
        Ok(Self::in_bins(shape, items))
    }

    /// Makes places of bins of several places each: `items` are those of a bin.
    fn in_bins<I: Iterator<Item = (u32, Word)>>(
        shape: simple::Shape,
        items: impl Fn(u32) -> I,
    ) -> Self {
        let mut in_bins = vec![None; shape.slots() as usize];
        let places = in_bins.chunks_exact_mut(shape.capacity as usize);
        for (places, bin) in places.zip(0..) {
            for (place, item) in places.iter_mut().zip(items(bin)) {
                *place = Some(item);
            }
        }
        Self {
            in_bins,
            beside: Vec::new(),
        }
    }

    fn cuckoo(
        spots: &Spots,
        shape: cuckoo::Shape,
        beside: impl Fn(u32) -> Place,
    ) -> Result<Self, encode::Error> {
        let table = CuckooTable::build(&spots.bins::<CHOICES>(), shape)?;
        let place = |placed: encode::Placed| spots.item(placed.item, placed.choice);
        let mut stash: Vec<Place> = table.stash().iter().map(|item| beside(*item)).collect();
        stash.resize(shape.stash as usize, None);
        Ok(Self {
            in_bins: table.bins().map(|placed| placed.map(place)).collect(),
            beside: stash,
        })
    }
}

/// The spots of all items, those of an item together.
struct Spots {
    spots: Buffer<Spot>,
    per_item: usize,
}

impl Spots {
    /// Returns the bins of each item.
    fn bins<const N: usize>(&self) -> Vec<[u32; N]> {
        let spots = self.spots.chunks_exact(N);
        spots
            .map(|spots| std::array::from_fn(|i| spots[i].bin))
            .collect()
    }

    /// Returns an item in the bin of one of its choices.
    fn item(&self, item: u32, choice: impl Into<usize>) -> (u32, Word) {
        let spot = item as usize * self.per_item + choice.into();
        (item, self.spots[spot].word)
    }
}
