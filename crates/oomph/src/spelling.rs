//! Names that a misspelt word may have meant.

/// The least similarity (Jaro-Winkler) of a name that is suggested.
const LEAST_SIMILARITY: f64 = 0.8;

/// Returns the name that is most like `text`.
pub(crate) fn nearest<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let similar = names.map(|name| (strsim::jaro_winkler(text, name), name));
    let similar = similar.filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY);
    similar.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, name)| name)
}
