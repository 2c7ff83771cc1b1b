"""The same job in DuckDB: the same tables with the same rows, from the same lines to the same Parquet.

It has no rejects: a line that cannot be read would end it. How an audit says what it has found is Spark's alone.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from pipeline import schema

VALUE = "STRUCT(stringValue VARCHAR, intValue VARCHAR, arrayValue STRUCT(values STRUCT(stringValue VARCHAR)[]))"
ATTRIBUTES = f"STRUCT(key VARCHAR, value {VALUE})[]"
SPAN = (
    "STRUCT(traceId VARCHAR, spanId VARCHAR, name VARCHAR, startTimeUnixNano VARCHAR, endTimeUnixNano VARCHAR,"
    f" attributes {ATTRIBUTES}, status STRUCT(message VARCHAR))"
)
RESOURCES = f"STRUCT(resource STRUCT(attributes {ATTRIBUTES}), scopeSpans STRUCT(spans {SPAN}[])[])[]"
TABLES = (
    *("transitions", "requests", "member_phases", "ownership"),
    *("rebalances", "group_changes", "audits", "readiness"),
)
OF_REQUESTS = (
    *schema.IDENTITY,
    *("group_id", "member_id", "client_id", "epoch"),
    *schema.OF_REQUESTS,
    *schema.BESIDE,
)


def run(source: Path, out: Path, cores: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as db:
        db.execute(f"SET threads = {cores}; SET preserve_insertion_order = false; SET temp_directory = '{out}/spilt'")
        db.execute(_spans(source))
        for facts in (_transitions(), _requests()):
            db.execute(facts)
        db.execute("DROP TABLE spans")
        db.execute(Path(__file__).with_name("tables.sql").read_text())
        for table in TABLES:
            db.execute(f"COPY {table} TO '{out}/{table}.parquet'")


def _spans(source: Path) -> str:
    columns = ", ".join(_attribute(name, kind) for name, kind in schema.ATTRIBUTES.items())
    return f"""CREATE TABLE spans AS
      WITH r AS (SELECT unnest(resourceSpans) AS r
        FROM read_ndjson('{source}/*.json', columns={{resourceSpans: '{RESOURCES}'}})),
      s AS (SELECT r.resource.attributes AS ra, unnest(r.scopeSpans) AS s FROM r),
      f AS (SELECT ra, unnest(s.spans) AS x FROM s),
      g AS (SELECT ra, x, list_transform(x.attributes, lambda a: a.key) AS keys FROM f)
      SELECT x.traceId AS trace_id, x.spanId AS span_id, x.name AS name, x.status.message AS status,
        ra[list_position(list_transform(ra, lambda a: a.key), 'service.instance.id')].value.stringValue AS proxy,
        try_cast(x.startTimeUnixNano AS BIGINT) AS start_ns, try_cast(x.endTimeUnixNano AS BIGINT) AS end_ns,
        {columns} FROM g"""


def _attribute(name: str, kind: str) -> str:
    value = f"x.attributes[list_position(keys, '{schema.PREFIX}{name}')].value"
    if kind == "array<string>":
        return f'list_transform({value}.arrayValue.values, lambda v: v.stringValue) AS "{name}"'
    return (
        f'try_cast({value}.intValue AS BIGINT) AS "{name}"' if kind == "bigint" else f'{value}.stringValue AS "{name}"'
    )


def _transitions() -> str:
    columns = [
        f'coalesce("{name}", []) AS "{name}"' if schema.RECORD.get(name) == "array<string>" else f'"{name}"'
        for name in schema.RECORD | schema.BESIDE
    ]
    return f"""CREATE TABLE transitions AS SELECT DISTINCT ON (trace_id, span_id) trace_id, span_id, proxy,
      start_ns AS at_ns, make_timestamp(start_ns // 1000) AS at_time, {", ".join(columns)}
      FROM spans WHERE name = '{schema.TRANSITION}'"""


def _requests() -> str:
    return f"""CREATE TABLE requests AS SELECT DISTINCT ON (trace_id, span_id) {", ".join(OF_REQUESTS)}
      FROM spans WHERE name <> '{schema.TRANSITION}'"""
