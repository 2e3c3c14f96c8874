//! Pages for people: each is one file that needs nothing else.

pub mod colours;
pub mod page;

pub use self::page::page;
