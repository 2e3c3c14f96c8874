//! What an image says of itself besides what is loaded: the names of its functions, and the compiler that made it.

use std::path::Path;

use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};

use super::image::ImageError;

/// Where compilers sign their work: `.comment` in most images, else the debug information.
const SIGNED: [&str; 2] = [".comment", ".debug_str"];
const SIGNATURE: &[u8] = b"rustc version ";

/// The names in an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// By address.
    code: Vec<Symbol>,
    /// Such as `1.95.0 (59807616e 2026-04-14)`, if the image says it.
    pub compiler: Option<String>,
}

/// A name for a piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Where it begins.
    pub address: u64,
    /// How long it is; 0 for a mere label.
    pub size: u64,
    /// Its name, as its source has it.
    pub name: String,
}

impl Symbols {
    /// Reads those of an image.
    ///
    /// # Errors
    /// [`ImageError::Unreadable`], [`ImageError::NotElf`]
    pub fn read(path: &Path) -> Result<Self, ImageError> {
        let bytes = std::fs::read(path)
            .map_err(|error| ImageError::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        let elf = ElfFile64::<Endianness>::parse(bytes.as_slice())
            .map_err(|error| ImageError::NotElf { path: path.to_owned(), reason: error.to_string() })?;
        let named = |symbol: &object::read::elf::ElfSymbol64<'_, '_, Endianness>| {
            let name = symbol.name().ok()?;
            // `$x` and `$d` mark where code and data begin.
            let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown);
            (is_code && !name.is_empty() && !name.starts_with('$')).then(|| Symbol {
                address: symbol.address(),
                size: symbol.size(),
                // Without the hash at its end, which differs from build to build.
                name: plain(&format!("{:#}", rustc_demangle::demangle(name))),
            })
        };
        let mut code: Vec<_> = elf.symbols().filter_map(|symbol| named(&symbol)).collect();
        code.sort_by(|a, b| (a.address, a.size, &a.name).cmp(&(b.address, b.size, &b.name)));
        Ok(Self { code, compiler: compiler(&elf) })
    }

    /// The function around an address, and how far into it that is; a label where there is no function.
    #[must_use]
    pub fn around(&self, address: u64) -> Option<(&str, u64)> {
        let before = &self.code[..self.code.partition_point(|symbol| symbol.address <= address)];
        let holds = |symbol: &&Symbol| address < symbol.address + symbol.size;
        let found = before.iter().rev().find(holds).or(before.last())?;
        Some((&found.name, address - found.address))
    }

    /// The address of a name.
    #[must_use]
    pub fn address_of(&self, name: &str) -> Option<u64> {
        self.code.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.address)
    }
}

/// A path without the types in its middle: `a::<impl b::B<C>>::f` is `a::f`. One that begins with a type stays.
fn plain(name: &str) -> String {
    if name.starts_with('<') {
        return name.to_owned();
    }
    let (mut depth, mut plain) = (0_usize, String::new());
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain.replace("::::", "::")
}

fn compiler(elf: &ElfFile64<'_, Endianness>) -> Option<String> {
    SIGNED.into_iter().find_map(|section| {
        let data = elf.section_by_name(section)?.uncompressed_data().ok()?;
        let at = data.windows(SIGNATURE.len()).position(|window| window == SIGNATURE)? + SIGNATURE.len();
        let text: Vec<u8> = data[at..].iter().copied().take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8(text).ok()?;
        // In the debug information: `clang LLVM (rustc version 1.95.0 (59807616e 2026-04-14))`.
        let surplus = text.matches(')').count() > text.matches('(').count();
        Some(if surplus { text.strip_suffix(')').unwrap_or(&text) } else { &text }.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols() -> Symbols {
        let symbol = |address, size, name: &str| Symbol { address, size, name: name.into() };
        Symbols {
            code: vec![symbol(0x100, 0x40, "outer"), symbol(0x110, 0, "label"), symbol(0x140, 0, "asm")],
            compiler: None,
        }
    }

    #[test]
    fn an_address_belongs_to_the_function_around_it_rather_than_to_a_label() {
        let symbols = symbols();
        assert_eq!(symbols.around(0x114), Some(("outer", 0x14)));
        assert_eq!(symbols.around(0x148), Some(("asm", 8)));
        assert_eq!(symbols.around(0xff), None);
    }

    #[test]
    fn names_are_without_the_types_in_their_middle() {
        let generic = "clock::snapshot::<impl clock::Keeper<A>>::get_indirect";
        assert_eq!(plain(generic), "clock::snapshot::get_indirect");
        assert_eq!(plain("core::cell::Cell<T>::get"), "core::cell::Cell::get");
        assert_eq!(plain("<T as Read>::read"), "<T as Read>::read");
        assert_eq!(plain("operator->"), "operator->");
    }

    #[test]
    fn a_label_has_an_address() {
        assert_eq!(symbols().address_of("label"), Some(0x110));
        assert_eq!(symbols().address_of("nowhere"), None);
    }
}
