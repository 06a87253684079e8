"""Run the gallery and the notebook anew, and store what they show.

python tools/examples.py gallery [FOLDER]    the pictures of docs/gallery.md, into its own folder
python tools/examples.py notebook [FOLDER]   examples/*.ipynb with their outputs, in place

With a folder, everything is written there instead; the tests compare that with what is stored.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
GALLERY = ROOT / "docs" / "gallery.md"
DPI = 90


def draw_gallery(folder: Path) -> None:
    """Run the code of the gallery in order; the picture below a piece of code is its figure."""
    names: dict[str, object] = {}
    piece = re.compile(r"^```python\n(.*?)^```\s+!\[.*?\]\((.*?)\)", re.MULTILINE | re.DOTALL)
    for code, picture in piece.findall(GALLERY.read_text("utf-8")):
        exec(code, names)
        path = folder / Path(picture).name
        # Without the version of Matplotlib, the same picture is the same file.
        names["figure"].savefig(path, dpi=DPI, metadata={"Software": None})


def run_notebooks(folder: Path) -> None:
    """Run every notebook from its first cell to its last, and write it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        # Neither times nor the version of the interpreter: the same outputs are the same file.
        run = NotebookClient(notebook, timeout=600, record_timing=False, coalesce_streams=True)
        run.execute(cwd=str(folder))
        for cell in notebook.cells:
            # What is compiled depends on what was compiled before.
            said = [one for one in cell.get("outputs", ()) if one.get("name") != "stderr"]
            cell.update({"outputs": said} if cell.cell_type == "code" else {})
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, folder / path.name)


COMMANDS = {
    "gallery": (draw_gallery, GALLERY.parent / "images" / "gallery"),
    "notebook": (run_notebooks, ROOT / "examples"),
}


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("folder", nargs="?", type=Path, help="where to write instead")
    given = parser.parse_args()
    run, usual = COMMANDS[given.what]
    run(given.folder or usual)


if __name__ == "__main__":
    main()
