//! Named filters as the examples of their definitions have them.

use apron::filters::{Definition, definitions};
use apron::{Border, Borders, Device, FilterBuilder, Formula, PixelType, Source};

/// An example of a named filter.
#[derive(Clone, Debug)]
pub struct Example {
    /// The filter's name and the example's words.
    pub text: String,
    /// The filter.
    pub formula: Formula,
    /// The border that it asks for.
    pub border: Borders,
    /// The type of the output's samples, if it asks for one.
    pub out_type: Option<PixelType>,
}

/// Every example of every named filter.
///
/// # Panics
/// For an example that no test can take.
pub fn examples() -> impl Iterator<Item = Example> {
    definitions().flat_map(|definition| definition.examples.iter().map(|words| example(definition, words)))
}

fn example(definition: &Definition, words: &str) -> Example {
    let text = format!("{} {words}", definition.name);
    let mut options = Vec::new();
    // After the files.
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
    /// The example, ready to run on an image.
    pub fn of<'a>(&self, device: &'a Device, image: impl Into<Source<'a>>) -> FilterBuilder<'a, Formula> {
        let filter = device.apply(image, self.formula.clone()).border(self.border);
        match self.out_type {
            Some(pixel) => filter.out_type(pixel),
            None => filter,
        }
    }
}
