//! How a key-value store travels: its dense columns, then its segments from the first on. Either
//! side works on some of them while others are on their way.

use std::iter;

use psijoin_block::{Prg, scatter, tower::Element};
use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};
use psijoin_encode::okvs::{Decoder, Encoder, Items, Row};
use psijoin_psi::Error;
use psijoin_runtime::parallel;

use super::Layout;

/// Segments travel together if they are shorter.
const MESSAGE_BYTES: usize = 1 << 16;

impl Layout {
    /// Returns the number of bytes of all elements.
    pub(crate) fn bytes<V: Element>(&self) -> u64 {
        (self.columns_bytes::<V>() + self.shape.segments() * self.segment_bytes::<V>()) as u64
    }

    /// Returns the lengths of the messages.
    pub(crate) fn messages<V: Element>(&self) -> impl Iterator<Item = usize> {
        let (columns, segment) = (self.columns_bytes::<V>(), self.segment_bytes::<V>());
        let segments = self.segments::<V>();
        let of_segments = segments.message_lengths(move |count| count * segment);
        iter::once(columns)
            .filter(|bytes| *bytes > 0)
            .chain(of_segments)
    }

    fn columns_bytes<V: Element>(&self) -> usize {
        V::packed_bytes(self.shape.dense as usize)
    }

    fn segment_bytes<V: Element>(&self) -> usize {
        V::packed_bytes(self.shape.segment_slots as usize)
    }

    /// Returns the messages of the segments.
    fn segments<V: Element>(&self) -> Chunks {
        Chunks {
            total: self.shape.segments(),
            per_message: (MESSAGE_BYTES / self.segment_bytes::<V>()).max(1),
        }
    }

    /// Sends a store in which these items have their values, plus `masks`, if there are some.
    ///
    /// # Panics
    /// If there are fewer masks than elements.
    pub(crate) fn send<V: Element>(
        &self,
        items: &Items<'_, V>,
        masks: Option<&[V]>,
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let encoder = Encoder::new(items, &mut rng.fork());
        let mut encoder = encoder.map_err(|_| self.bad_luck())?;
        let (mut sent, mut masked) = (0, Vec::new());
        let mut pack = |elements: &[V], message: &mut Vec<u8>| {
            let Some(masks) = masks else {
                return V::pack(elements, message);
            };
            let masks = &masks[sent..][..elements.len()];
            masked.clear();
            masked.extend(elements.iter().zip(masks).map(|(a, b)| *a ^ *b));
            V::pack(&masked, message);
            sent += elements.len();
        };
        let mut columns = Vec::new();
        pack(encoder.columns(), &mut columns);
        if !columns.is_empty() {
            outbound.send(&columns)?;
        }
        stream::send_in_turn(outbound, self.segments::<V>(), &mut |segments, message| {
            for _ in segments {
                pack(encoder.next_segment(), message);
            }
            Ok(())
        })
    }

    /// Receives a store of elements of V. `take_in` adds some of them, as they are packed, to their
    /// places among `elements`. `work` is called with each of `tasks`, which are one per start,
    /// when all elements are there that the rows of this start have.
    pub(crate) fn receive<V: Element, E: Element, T: Send>(
        &self,
        inbound: &mut dyn Inbound,
        elements: &mut [E],
        take_in: &(dyn Fn(&[u8], &mut [E]) + Sync),
        tasks: &mut [T],
        work: &(dyn Fn(Arrived<'_, E>, &mut T) + Sync),
    ) -> Result<(), Error> {
        let (shape, bytes) = (self.shape, self.segment_bytes::<V>());
        let len = shape.segment_slots as usize;
        let (columns, slots) = elements.split_at_mut(shape.dense as usize);
        if !columns.is_empty() {
            let mut message = vec![0; self.columns_bytes::<V>()];
            inbound.recv(&mut message)?;
            take_in(&message, columns);
        }
        let decoder = Decoder::new(shape, columns);
        let mut done = 0;
        let length = |segments| segments * bytes;
        let segments = self.segments::<V>();
        stream::receive_together(inbound, segments, &length, &mut |messages| {
            let (first, end) = (messages[0].0.start, messages[messages.len() - 1].0.end);
            let lens = messages.iter().map(|(segments, _)| segments.len() * len);
            let pieces = scatter::split(&mut slots[first * len..], lens);
            let mut arrived: Vec<_> = messages.iter().zip(pieces).collect();
            parallel::each_mut(&mut arrived, &|_, ((_, message), piece)| {
                let segments = piece.chunks_exact_mut(len);
                for (packed, segment) in message.chunks_exact(bytes).zip(segments) {
                    take_in(packed, segment);
                }
            });
            let ready = (end + 1).saturating_sub(shape.weight as usize);
            parallel::each_mut(&mut tasks[done..ready], &|i, task| {
                let arrived = Arrived {
                    decoder: &decoder,
                    slots,
                    start: done + i,
                };
                work(arrived, task);
            });
            done = ready;
        })?;
        Ok(())
    }
}

impl Layout {
    /// Calls `work` with each of `tasks`, which are one per start, for a store that is there.
    pub(crate) fn each_start<E: Element, T: Send>(
        &self,
        elements: &[E],
        tasks: &mut [T],
        work: &(dyn Fn(Arrived<'_, E>, &mut T) + Sync),
    ) {
        let (columns, slots) = elements.split_at(self.shape.dense as usize);
        let decoder = Decoder::new(self.shape, columns);
        parallel::each_mut(tasks, &|start, task| {
            decoder.fetch(start, slots);
            let arrived = Arrived {
                decoder: &decoder,
                slots,
                start,
            };
            work(arrived, task);
        });
    }
}

/// The elements that the rows of a start have.
pub(crate) struct Arrived<'a, E: Element> {
    decoder: &'a Decoder<E>,
    slots: &'a [E],
    start: usize,
}

impl<E: Element> Arrived<'_, E> {
    /// Computes the values of rows of this start.
    pub(crate) fn decode(&self, rows: &[Row], values: &mut [E]) {
        self.decoder.decode(self.start, self.slots, rows, values);
    }
}
