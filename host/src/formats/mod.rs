//! Pure parsers and writers, one file a format.
