//! Room for texts in a picture, so that none lies on another.

use crate::{
    svg::Place,
    text::{LEADING, width},
};

/// The area of something drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Rectangle {
    /// Returns what a text takes whose middle is here.
    pub(crate) fn of_text((x, y): Place, text: &str) -> Self {
        Self::around((x, y), width(text) / 2.0, LEADING / 2.0)
    }

    pub(crate) fn around((x, y): Place, across: f64, up: f64) -> Self {
        Self {
            left: x - across,
            top: y - up,
            right: x + across,
            bottom: y + up,
        }
    }

    pub(crate) fn middle(self) -> Place {
        (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }

    /// Returns its place that is nearest to another one.
    pub(crate) fn nearest(self, (x, y): Place) -> Place {
        (
            x.clamp(self.left, self.right),
            y.clamp(self.top, self.bottom),
        )
    }

    fn contains(self, (x, y): Place) -> bool {
        self.left < x && x < self.right && self.top < y && y < self.bottom
    }

    fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_within(self, other: Self) -> bool {
        other.left <= self.left
            && self.right <= other.right
            && other.top <= self.top
            && self.bottom <= other.bottom
    }
}

/// The taken parts of an area.
pub(crate) struct Room {
    area: Rectangle,
    taken: Vec<Rectangle>,
}

impl Room {
    pub(crate) fn new(area: Rectangle) -> Self {
        Self {
            area,
            taken: Vec::new(),
        }
    }

    pub(crate) fn take(&mut self, rectangle: Rectangle) {
        self.taken.push(rectangle);
    }

    /// Takes the first of some rectangles that is free.
    pub(crate) fn take_first(
        &mut self,
        choices: impl IntoIterator<Item = Rectangle>,
    ) -> Option<Rectangle> {
        let choice = choices.into_iter().find(|choice| self.is_free(*choice))?;
        self.take(choice);
        Some(choice)
    }

    /// Takes room for a text that belongs to a point, as near as can be. There is nothing else
    /// between them, unless there is no other way.
    pub(crate) fn take_beside(&mut self, point: Place, text: &str) -> Option<Rectangle> {
        let free = || around(point, text).filter(|choice| self.is_free(*choice));
        let seen = |choice: &Rectangle| self.is_seen(choice.nearest(point), point);
        let choice = free().find(seen).or(free().next())?;
        self.take(choice);
        Some(choice)
    }

    fn is_free(&self, choice: Rectangle) -> bool {
        choice.is_within(self.area) && !self.taken.iter().any(|taken| choice.meets(*taken))
    }

    /// Returns whether nothing is on the way from a place to a point, but for what is taken at the
    /// point itself.
    fn is_seen(&self, place: Place, point: Place) -> bool {
        const STEPS: i32 = 20;
        let mut way = (0..=STEPS).map(|step| {
            let part = f64::from(step) / f64::from(STEPS);
            let across = place.0 + part * (point.0 - place.0);
            (across, place.1 + part * (point.1 - place.1))
        });
        let blocks = |taken: &&Rectangle| !taken.contains(point);
        let others: Vec<_> = self.taken.iter().filter(blocks).collect();
        way.all(|place| !others.iter().any(|other| other.contains(place)))
    }
}

/// Returns where a text may stand that belongs to a point, the best place first: beside it, below,
/// above, then farther away.
fn around(point: Place, text: &str) -> impl Iterator<Item = Rectangle> {
    const DIRECTIONS: [(f64, f64); 12] = [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, 1.0),
        (0.0, -1.0),
        (0.5, 1.0),
        (-0.5, 1.0),
        (0.5, -1.0),
        (-0.5, -1.0),
        (1.0, 1.0),
        (-1.0, 1.0),
        (1.0, -1.0),
        (-1.0, -1.0),
    ];
    let half = width(text) / 2.0;
    (0..24).flat_map(move |ring| {
        let gap = 7.0 + 6.0 * f64::from(ring);
        DIRECTIONS.into_iter().map(move |(right, down)| {
            let across = right * (gap + half);
            let up = down * (gap + LEADING / 2.0);
            Rectangle::around((point.0 + across, point.1 + up), half, LEADING / 2.0)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_point_stand_around_it() {
        let mut room = Room::new(Rectangle::around((100.0, 100.0), 100.0, 100.0));
        let point = (100.0, 100.0);
        let texts: Vec<_> = (0..20)
            .map(|_| room.take_beside(point, "kkrt").expect("there is room"))
            .collect();
        assert!(texts[0].left > 100.0 && texts[1].right < 100.0);
        for (i, a) in texts.iter().enumerate() {
            assert!(a.is_within(room.area));
            assert!(texts[..i].iter().all(|b| !a.meets(*b)));
        }
    }

    #[test]
    fn a_text_is_not_behind_another_point() {
        let mut room = Room::new(Rectangle::around((100.0, 100.0), 100.0, 100.0));
        room.take(Rectangle::around((100.0, 100.0), 5.0, 5.0));
        // Free to the right, but only behind this one.
        room.take(Rectangle::around((110.0, 100.0), 5.0, 5.0));
        let text = room
            .take_beside((100.0, 100.0), "kkrt")
            .expect("there is room");
        assert!(text.right < 100.0);
    }

    #[test]
    fn a_full_area_takes_nothing() {
        let mut room = Room::new(Rectangle::around((0.0, 0.0), 5.0, 5.0));
        assert_eq!(room.take_beside((0.0, 0.0), "kkrt"), None);
    }
}
