//! The colours of plots. plotters writes those of the light page into the SVG; on a dark page rules of the style sheet, which
//! go by the attribute's value, put others in their place.

use plotters::style::RGBColor;

/// One colour: on a light page, and on a dark one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour {
    light: (u8, u8, u8),
    dark: &'static str,
}

/// Text, axes.
pub const INK: Colour = Colour { light: (0x1B, 0x1F, 0x24), dark: "#E6EDF3" };
/// The mesh.
pub const MESH: Colour = Colour { light: (0xD8, 0xDE, 0xE4), dark: "#2B343D" };
/// What is measured, by turns.
pub const SERIES: [Colour; 4] = [
    Colour { light: (0x0B, 0x57, 0xD0), dark: "#82B9FF" },
    Colour { light: (0xB3, 0x40, 0x0E), dark: "#FFA657" },
    Colour { light: (0x6A, 0x32, 0xB0), dark: "#C8A6FF" },
    Colour { light: (0x00, 0x6B, 0x6B), dark: "#4FD1C5" },
];
/// What is as it should be.
pub const GOOD: Colour = Colour { light: (0x1A, 0x7F, 0x37), dark: "#56D364" };
/// What is not.
pub const BAD: Colour = Colour { light: (0xB4, 0x23, 0x18), dark: "#FF7B72" };
/// What is left out.
pub const OPEN: Colour = Colour { light: (0x8A, 0x61, 0x00), dark: "#E3B341" };
/// Behind what is measured: not to be trusted.
pub const BAD_BAND: Colour = Colour { light: (0xF8, 0xC9, 0xC4), dark: "#5C211D" };
/// Behind what is measured: trusted soon, or on its own.
pub const OPEN_BAND: Colour = Colour { light: (0xF5, 0xE2, 0xAE), dark: "#4A390C" };
/// Behind what is measured: trusted.
pub const GOOD_BAND: Colour = Colour { light: (0xD3, 0xEF, 0xDA), dark: "#1F5A33" };

const ALL: [Colour; 12] =
    [INK, MESH, SERIES[0], SERIES[1], SERIES[2], SERIES[3], GOOD, BAD, OPEN, BAD_BAND, OPEN_BAND, GOOD_BAND];

impl Colour {
    /// As plotters writes it.
    #[must_use]
    pub const fn rgb(self) -> RGBColor {
        RGBColor(self.light.0, self.light.1, self.light.2)
    }

    /// As it stands in the SVG.
    #[must_use]
    pub fn hex(self) -> String {
        let (red, green, blue) = self.light;
        format!("#{red:02X}{green:02X}{blue:02X}")
    }
}

/// The rules for a dark page.
pub(super) fn style() -> String {
    let rules: String = ALL
        .iter()
        .map(|colour| {
            let (light, dark) = (colour.hex(), colour.dark);
            format!("svg [fill=\"{light}\"]{{fill:{dark}}}svg [stroke=\"{light}\"]{{stroke:{dark}}}")
        })
        .collect();
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contrast by WCAG 2.
    fn contrast(one: (u8, u8, u8), other: (u8, u8, u8)) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let luminance = |(r, g, b)| 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn parsed(hex: &str) -> (u8, u8, u8) {
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (part(1), part(3), part(5))
    }

    #[test]
    fn what_is_measured_stands_out_from_its_ground_light_and_dark() {
        let (light, dark) = ((0xFF, 0xFF, 0xFF), parsed("#0f1419"));
        for colour in [SERIES.as_slice(), &[GOOD, BAD, OPEN]].concat() {
            let both = [contrast(colour.light, light), contrast(parsed(colour.dark), dark)];
            assert!(both.iter().all(|contrast| *contrast >= 4.5), "{colour:?} {both:?}");
        }
        for band in [BAD_BAND, OPEN_BAND, GOOD_BAND] {
            for colour in [SERIES[0], SERIES[1], SERIES[2], SERIES[3]] {
                let both =
                    [contrast(colour.light, band.light), contrast(parsed(colour.dark), parsed(band.dark))];
                assert!(both.iter().all(|contrast| *contrast >= 3.0), "{colour:?} on {band:?}: {both:?}");
            }
        }
        assert!(contrast(INK.light, light) >= 7.0 && contrast(parsed(INK.dark), dark) >= 7.0);
    }

    #[test]
    fn no_two_colours_are_taken_for_each_other_by_the_style_sheet() {
        let mut all: Vec<_> = ALL.iter().map(|colour| colour.hex()).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), ALL.len());
    }
}
