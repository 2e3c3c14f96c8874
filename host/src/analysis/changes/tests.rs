use super::*;

/// Annual flow of the Nile at Aswan, 1871 to 1970, in 10^8 m^3 (Cobb, Biometrika 65, 1978; data set `Nile` of R).
/// A change in 1898 or 1899, when the dam was begun, is its known answer.
const NILE: [f64; 100] = [
    1120., 1160., 963., 1210., 1160., 1160., 813., 1230., 1370., 1140., 995., 935., 1110., 994., 1020., 960.,
    1180., 799., 958., 1140., 1100., 1210., 1150., 1250., 1260., 1220., 1030., 1100., 774., 840., 874., 694.,
    940., 833., 701., 916., 692., 1020., 1050., 969., 831., 726., 456., 824., 702., 1120., 1100., 832., 764.,
    821., 768., 845., 864., 862., 698., 845., 744., 796., 1040., 759., 781., 865., 845., 944., 984., 897.,
    822., 1010., 771., 676., 649., 846., 812., 742., 801., 1040., 860., 874., 848., 890., 744., 749., 838.,
    1050., 918., 986., 797., 923., 975., 815., 1020., 906., 901., 1170., 912., 746., 919., 718., 714., 740.,
];

fn every(values: &[f64]) -> Vec<Option<f64>> {
    values.iter().map(|value| Some(*value)).collect()
}

#[test]
fn the_nile_changed_once_when_its_dam_was_begun() {
    let found = changes(&every(&NILE), 0.01 * 1100.0, Kind::Sampled);
    let years: Vec<usize> = found.iter().map(|change| 1871 + change.night).collect();
    assert_eq!(years, [1899], "1898 is the last year of the old flow: {found:?}");
    assert!((found[0].before - 1097.75).abs() < 0.01 && (found[0].after - 849.97).abs() < 0.01, "{found:?}");
}

#[test]
fn one_instruction_more_is_found_on_its_night_once_the_next_one_confirms_it() {
    let nights = |after: usize| -> Vec<Option<f64>> {
        let mut nights = vec![Some(6.0); 19];
        nights[9] = None;
        nights.extend(vec![Some(7.0); after]);
        nights
    };
    assert_eq!(changes(&nights(1), 0.5, Kind::Exact), []);
    for after in [2, 3, 11] {
        let found = changes(&nights(after), 0.5, Kind::Exact);
        assert_eq!(found, [Change { night: 19, before: 6.0, after: 7.0, p_value: None }], "{after}");
    }
}

#[test]
fn one_bad_night_is_no_change_wherever_it_lies() {
    for bad in 0..20 {
        let mut nights = vec![Some(6.0); 20];
        nights[bad] = Some(9.0);
        assert_eq!(changes(&nights, 0.5, Kind::Exact), [], "{bad}");
    }
}

#[test]
fn there_and_back_again_are_two_changes() {
    let values = [[6.0; 8], [7.0; 8], [6.0; 8]].concat();
    let found = changes(&every(&values), 0.5, Kind::Exact);
    assert_eq!(found.iter().map(|change| change.night).collect::<Vec<_>>(), [8, 16]);
}

#[test]
fn a_difference_within_the_margin_is_none_however_certain() {
    let values = [[40.0; 20], [40.9; 20]].concat();
    assert_eq!(changes(&every(&values), 1.0, Kind::Sampled), []);
}

#[test]
fn nights_that_say_nothing_give_nothing() {
    assert_eq!(changes(&[], 1.0, Kind::Exact), []);
    assert_eq!(changes(&[None, Some(1.0), None, Some(9.0), Some(9.0)], 1.0, Kind::Exact), []);
}

#[test]
fn the_golden_image_tells_bench_from_image() {
    let level = every(&[23.0; 12]);
    assert_eq!(cause(6, &level, &[]), Cause::Image);
    let moved = [Change { night: 7, before: 23.0, after: 25.0, p_value: None }];
    assert_eq!(cause(6, &level, &moved), Cause::Bench);
    assert_eq!(cause(9, &level, &moved), Cause::Image);
    assert_eq!(cause(6, &[None; 12], &[]), Cause::Unknown);
    assert_eq!(cause(6, &level[..6], &[]), Cause::Unknown);
}
