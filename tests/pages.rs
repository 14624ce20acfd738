//! Links between pages, and paths in them, lead to existing files; files of code are short, and name quantities.

use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the Markdown files of a folder, without its subfolders.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(ROOT).join(folder)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// Returns all pages, without the README files of subfolders.
fn all_pages() -> Vec<PathBuf> {
    [".", "docs", "docs/decisions"].iter().flat_map(|folder| pages(folder)).collect()
}

/// Returns the relative targets of a page's links, without the part after `#`.
fn links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).unwrap();
    let targets = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or(target).to_string()).collect()
}

#[test]
fn every_decision_is_in_the_index() {
    let folder = Path::new(ROOT).join("docs/decisions");
    let listed = links(&folder.join("README.md"));
    let missing: Vec<_> = pages("docs/decisions")
        .into_iter()
        .map(|page| page.file_name().unwrap().to_string_lossy().into_owned())
        .filter(|name| name != "README.md" && !listed.contains(name))
        .collect();
    assert!(missing.is_empty(), "docs/decisions/README.md has no line for {missing:?}");
}

#[test]
fn every_link_leads_to_a_file() {
    let all = all_pages();
    let broken: Vec<_> = all
        .iter()
        .flat_map(|page| links(page).into_iter().map(move |link| (page, link)))
        .filter(|(page, link)| !page.parent().unwrap().join(link).exists())
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

/// First folders of paths in pages, relative to the repository.
const FOLDERS: [&str; 7] = ["benches/", "crates/", "docs/", "fuzz/", "kernels-gpu/", "src/", "tests/"];

#[test]
fn every_path_in_a_page_is_there() {
    let mut missing = Vec::new();
    for page in all_pages() {
        let text = fs::read_to_string(&page).unwrap();
        let code =
            text.split('`').skip(1).step_by(2).filter(|code| FOLDERS.iter().any(|folder| code.starts_with(folder)));
        // Excludes commands, and patterns such as `ptx/*.cubin` and `fuzz/found/TARGET`.
        let paths = code.filter(|code| !code.contains([' ', '*', '<']) && !code.contains("TARGET"));
        missing.extend(
            paths.filter(|path| !Path::new(ROOT).join(path).exists()).map(|path| (page.clone(), path.to_string())),
        );
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// Returns the files of code below a folder.
fn code(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "target" && !name.to_string_lossy().starts_with('.') {
                code(&path, files);
            }
        } else if path.extension().is_some_and(|extension| ["rs", "py", "sh"].iter().any(|one| extension == *one)) {
            files.push(path);
        }
    }
}

#[test]
fn files_of_code_are_short_and_name_quantities() {
    let mut files = Vec::new();
    for folder in ["benches", "crates", "fuzz", "kernels-gpu", "src", "tests", "xtask"] {
        code(&Path::new(ROOT).join(folder), &mut files);
    }
    assert!(files.len() > 500, "{} files", files.len());
    // Words of the project's own for a quantity, and for the bulk asynchronous copies of `docs/glossary.md`.
    let words = [["so", "many"].join(" "), ["copy", "engine"].join(" ")];
    let wrong = files.into_iter().filter_map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        let found: Vec<_> = words.iter().filter(|word| text.contains(&**word)).collect();
        (lines > 500 || !found.is_empty()).then(|| format!("{}: {lines} lines, {found:?}", path.display()))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "files of over 500 lines, or with such words: {wrong:#?}");
}
