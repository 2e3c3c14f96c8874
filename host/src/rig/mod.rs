//! The instruments of the bench, one file each.
