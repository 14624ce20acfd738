//! Named filters, from the examples of their definitions.

use apron::filters::{Definition, definitions};
use apron::{Border, Borders, Device, FilterBuilder, Formula, PixelType, Source};

/// An example of a named filter.
#[derive(Clone, Debug)]
pub struct Example {
    /// The filter's name and the example's arguments.
    pub text: String,
    /// The filter's formula.
    pub formula: Formula,
    /// The border of the example.
    pub border: Borders,
    /// The sample type of the output, if the example sets one.
    pub out_type: Option<PixelType>,
}

/// Returns every example of every named filter.
///
/// # Panics
/// For an example with options that no test supports.
pub fn examples() -> impl Iterator<Item = Example> {
    definitions().flat_map(|definition| definition.examples.iter().map(|words| example(definition, words)))
}

fn example(definition: &Definition, words: &str) -> Example {
    let text = format!("{} {words}", definition.name);
    let mut options = Vec::new();
    // Skips the two files.
    let mut words = words.split_whitespace().skip(2);
    while let Some(word) = words.next() {
        let name = word.strip_prefix("--").unwrap_or_else(|| panic!("{text}: {word}"));
        let flag = definition.parameters.iter().any(|known| known.name == name && known.shape.is_empty());
        let value = if flag { "true" } else { words.next().unwrap_or_else(|| panic!("{text}: {word}")) };
        options.push((name, value));
    }
    let value = |name: &str| options.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string());
    Example {
        formula: definition.formula(value).unwrap_or_else(|error| panic!("{text}: {error}")),
        border: value("border").map_or(Border::default().into(), |border| border.parse().expect("a border")),
        out_type: value("out-type").map(|pixel| pixel.parse().expect("a sample type")),
        text,
    }
}

impl Example {
    /// Builds the example's filter for an image.
    pub fn of<'a>(&self, device: &'a Device, image: impl Into<Source<'a>>) -> FilterBuilder<'a, Formula> {
        let filter = device.apply(image, self.formula.clone()).border(self.border);
        match self.out_type {
            Some(pixel) => filter.out_type(pixel),
            None => filter,
        }
    }
}
