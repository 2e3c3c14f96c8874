"""Reads the reports of a folder with the programs that people use, and prints what they found as one JSON object.

usage: read_reports.py SCHEMA FOLDER...
Each folder holds some of report.html, junit.xml, metrics.prom, summary.md, summary.csv, edges.csv and summary.json.
"""

import csv
import html.parser
import json
import pathlib
import sys

import cmarkgfm
import junit2htmlreport.parser
import junitparser
import xmlschema
from cmarkgfm.cmark import Options
from prometheus_client.openmetrics import parser as openmetrics


def junit(path, schema):
    errors = [str(error.reason) for error in schema.iter_errors(str(path))]
    xml = junitparser.JUnitXml.fromfile(str(path))
    suites = []
    for suite in xml:
        cases = []
        for case in suite:
            result = case.result[0] if case.result else None
            cases.append(
                {
                    "name": case.name,
                    "class": case.classname,
                    "time": case.time,
                    "result": type(result).__name__.lower() if result is not None else "passed",
                    "type": result.type if result is not None else None,
                    "message": result.message if result is not None else None,
                    "text": result.text if result is not None else case.system_out,
                }
            )
        properties = [[one.name, one.value] for one in suite.properties()]
        counts = [suite.tests, suite.failures, suite.errors, suite.skipped]
        suites.append({"name": suite.name, "counts": counts, "properties": properties, "cases": cases})
    shown = junit2htmlreport.parser.Junit(str(path)).html()
    return {"errors": errors, "name": xml.name, "suites": suites, "shown": len(shown)}


def metrics(path):
    families = openmetrics.text_string_to_metric_families(path.read_text("utf-8"))
    return [
        {
            "name": family.name,
            "type": family.type,
            "unit": family.unit,
            "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
        }
        for family in families
    ]


class Page(html.parser.HTMLParser):
    """Tags with their attributes, and the text of each cell, list item, heading and paragraph."""

    BLOCKS = {"td", "th", "li", "h2", "h3", "p", "summary"}

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.blocks, self.open = set(), set(), [], []
        self.links, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src", "action")]
        self.attributes.update(f"{tag}.{name}" for name, _ in attrs)
        if tag in self.BLOCKS:
            self.open.append("")

    def handle_endtag(self, tag):
        if tag in self.BLOCKS and self.open:
            self.blocks.append(self.open.pop())

    def handle_data(self, data):
        self.text += data
        if self.open:
            self.open[-1] += data


def markdown(path):
    options = Options.CMARK_OPT_UNSAFE  # raw HTML is rendered, so that what slips through is seen
    page = Page()
    page.feed(cmarkgfm.github_flavored_markdown_to_html(path.read_text("utf-8"), options))
    return {"tags": sorted(page.tags), "attributes": sorted(page.attributes), "blocks": page.blocks}


def hypertext(path):
    page = Page()
    page.feed(path.read_text("utf-8"))
    return {
        "tags": sorted(page.tags),
        "attributes": sorted(page.attributes),
        "links": page.links,
        "text": page.text,
    }


def table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def main():
    schema = xmlschema.XMLSchema(sys.argv[1])
    readers = {
        "junit.xml": lambda path: junit(path, schema),
        "metrics.prom": metrics,
        "summary.md": markdown,
        "report.html": hypertext,
        "summary.csv": table,
        "edges.csv": table,
        "summary.json": lambda path: json.loads(path.read_text("utf-8")),
    }
    found = {}
    for folder in map(pathlib.Path, sys.argv[2:]):
        files = {name: read for name, read in readers.items() if (folder / name).is_file()}
        found[folder.name] = {name: read(folder / name) for name, read in files.items()}
    json.dump(found, sys.stdout)


main()
