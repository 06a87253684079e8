"""Workbooks as Excel and others write them, made by hand for tests."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_HERE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STYLES = (
    f'{HEAD}<styleSheet xmlns="{_MAIN}"><numFmts count="2">'
    '<numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yy;@"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts>'
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/>'
    "</cellXfs></styleSheet>"
)
DATE, OWN_DATE, DAYS = 1, 2, 3
"""The numbers of the styles: a date, a date of the user's own format, a number with a word."""


def letters(column: int) -> str:
    """The letters of a column, from 0."""
    before, last = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(65 + last)


def sheet_xml(rows: Sequence[Sequence[Any]], shared: list[str], first: int = 1) -> str:
    """A sheet; a cell is a text, a number, a truth, (number, style), XML as bytes, or None."""
    lines = []
    for number, row in enumerate(rows, start=first):
        cells = []
        for column, value in enumerate(row):
            at = f'r="{letters(column)}{number}"'
            match value:
                case None:
                    continue
                case bytes():
                    cells.append(value.decode().replace("AT", at))
                case bool():
                    cells.append(f'<c {at} t="b"><v>{int(value)}</v></c>')
                case str():
                    shared.append(value)
                    cells.append(f'<c {at} t="s"><v>{len(shared) - 1}</v></c>')
                case (days, style):
                    cells.append(f'<c {at} s="{style}"><v>{days}</v></c>')
                case _:
                    cells.append(f"<c {at}><v>{value}</v></c>")
        lines.append(f'<row r="{number}" spans="1:5">{"".join(cells)}</row>')
    return (
        f'{HEAD}<worksheet xmlns="{_MAIN}"><dimension ref="A1"/><sheetData>{"".join(lines)}'
        "</sheetData></worksheet>"
    )


def workbook_files(
    sheets: Mapping[str, Sequence[Sequence[Any]]],
    *,
    hidden: Sequence[str] = (),
    old_epoch: bool = False,
    first: int = 1,
) -> dict[str, str]:
    """The files of a workbook by their names."""
    shared: list[str] = []
    pages = [sheet_xml(rows, shared, first) for rows in sheets.values()]
    texts = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared)
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{k}" r:id="rId{k}"'
        f' state="{"hidden" if name in hidden else "visible"}"/>'
        for k, name in enumerate(sheets, start=1)
    )
    parts = {f"rId{k}": ("worksheet", f"worksheets/sheet{k}.xml") for k in range(1, len(pages) + 1)}
    parts |= {"rId90": ("sharedStrings", "sharedStrings.xml"), "rId91": ("styles", "styles.xml")}
    return {
        "[Content_Types].xml": f"{HEAD}<Types/>",
        "_rels/.rels": _relations({"rId1": ("officeDocument", "xl/workbook.xml")}),
        "xl/workbook.xml": (
            f'{HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_HERE}">'
            f'<workbookPr date1904="{int(old_epoch)}"/><sheets>{listed}</sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": _relations(parts),
        **{f"xl/worksheets/sheet{k}.xml": page for k, page in enumerate(pages, start=1)},
        "xl/sharedStrings.xml": f'{HEAD}<sst xmlns="{_MAIN}">{texts}</sst>',
        "xl/styles.xml": STYLES,
    }


def _relations(parts: Mapping[str, tuple[str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{name}" Type="{_HERE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in parts.items()
    )
    return f'{HEAD}<Relationships xmlns="{_RELATIONS}">{listed}</Relationships>'


def packed(files: Mapping[str, str | bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Files as a ZIP archive."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", how) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def workbook(*rows: Sequence[Any], **options: Any) -> bytes:
    """A workbook with one sheet."""
    return packed(workbook_files({"Sheet1": rows}, **options))
