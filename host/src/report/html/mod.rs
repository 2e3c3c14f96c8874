//! Pages for people: each is one file that needs nothing else.

pub mod colours;
pub mod page;
mod plot;
pub mod run;

pub use self::page::page;
pub use self::run::run;
