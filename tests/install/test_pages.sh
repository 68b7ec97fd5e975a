#!/bin/sh
# Every file that a page names is there, every link leads somewhere, and every folder of sources and tests stands in its page.
set -u
command -v python3 >/dev/null 2>&1 || { echo "no python3"; exit 77; }
python3 - <<'END'
import os, pathlib, re, sys
EXAMPLES = re.compile(r"NAME|order_rcm|\bfold\.")  # names that stand for the reader's own file
ENDS = r"\.(?:c|h|cu|cuh|inc|py|sh|md|jsonl|json|txt|map)"
root = pathlib.Path(".")
files = {str(p) for top in root.iterdir() if top.name != ".git" and not top.name.startswith("build")
         for p in ([top] if top.is_file() else top.rglob("*")) if p.is_file()}
folders = {str(p) for f in files for p in pathlib.Path(f).parents}
names = {pathlib.Path(f).name for f in files}
wrong = []

def there(name, page):
    at = [pathlib.Path(p) / name for p in ("", "src", "tests", "include", "docs", "docs/algorithms", page.parent)]
    return any(str(p) in files for p in at) or "/" not in name and (name in names or any(f.endswith(name) for f in files if name[0] == "_"))

for page in [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md"))]:
    for number, line in enumerate(page.read_text().splitlines(), 1):
        said = re.findall(r"`([\w./-]+" + ENDS + ")`", line) + re.findall(r"(?<![\w/`.*<])((?:[a-z_0-9]+/)+[a-z_0-9]+" + ENDS + r")\b", line)
        wrong += [f"{page}:{number}: {name}" for name in said if not EXAMPLES.search(name) and not there(name, page)]
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
            if "://" not in link and os.path.normpath(page.parent / link) not in files | folders:
                wrong.append(f"{page}:{number}: the link {link}")
design, testing = (root / "docs/design.md").read_text(), (root / "docs/testing.md").read_text()
wrong += [f"docs/design.md: nothing about src/{p.name}" for p in (root / "src").iterdir() if p.is_dir() and f"\nsrc/{p.name}/" not in design]
wrong += [f"docs/testing.md: nothing about tests/{p.name}" for p in (root / "tests").iterdir() if p.is_dir() and f"\n| {p.name} |" not in testing]
print("\n".join(wrong))
sys.exit(bool(wrong))
END
