"""The same job in DuckDB: facts, phases, ownership and the sweep line, from the same lines to the same Parquet."""

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
HOME = 'PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id'


def run(source: Path, out: Path, cores: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as db:
        db.execute(f"SET threads = {cores}; SET preserve_insertion_order = false")
        for sql in (_spans(source), *FACTS, _ownership(), SWEEP):
            db.execute(sql)
        for table in ("transitions", "requests", "member_phases", "ownership", "stretches"):
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


FACTS = (
    "CREATE TABLE transitions AS SELECT DISTINCT ON (trace_id, span_id) *, start_ns AS at_ns FROM spans"
    " WHERE name = 'transition'",
    "CREATE TABLE requests AS SELECT DISTINCT ON (trace_id, span_id) * FROM spans WHERE name <> 'transition'",
    f"CREATE TABLE home AS SELECT * FROM (SELECT *, last_value(CASE WHEN phase_before = 'absent' AND phase <> 'absent'"
    f" THEN proxy END IGNORE NULLS) OVER ({HOME} ROWS UNBOUNDED PRECEDING) AS home FROM transitions)"
    " WHERE home IS NULL OR home = proxy",
    "CREATE TABLE member_phases AS SELECT * FROM (SELECT group_id, member_id, client_id, proxy, phase, standing, epoch,"
    f" generation, cause, at_ns AS from_ns, lead(at_ns) OVER ({HOME}) AS to_ns FROM home"
    " WHERE phase <> phase_before OR standing <> standing_before) WHERE NOT (phase = 'absent' AND standing = 'absent')",
)


def _ownership() -> str:
    moves = " UNION ALL ".join(
        f"SELECT group_id, member_id, at_ns, cause, '{view}' AS view, {takes} AS takes, unnest(list_filter({new},"
        f" lambda p: NOT list_contains({old}, p))) AS partition FROM was"
        for view, name in (("told", "owned"), ("granted", "assigned"))
        for new, old, takes in ((name, f"{name}_was", "true"), (f"{name}_was", name, "false"))
    )
    lists = ", ".join(
        f"coalesce({name}, []) AS {name}, coalesce(lag({name}) OVER ({HOME}), []) AS {name}_was"
        for name in ("owned", "assigned")
    )
    ends = "OVER (PARTITION BY group_id, member_id, view, partition ORDER BY at_ns, takes)"
    return f"""CREATE TABLE ownership AS
      WITH was AS (SELECT group_id, member_id, at_ns, cause, {lists} FROM home), moves AS ({moves})
      SELECT * EXCLUDE takes
      FROM (SELECT *, lead(at_ns) {ends} AS to_ns, lead(cause) {ends} AS ended_by FROM moves) WHERE takes"""


SWEEP = """CREATE TABLE stretches AS
  WITH events AS (SELECT group_id, partition, at_ns, 1 AS delta FROM ownership WHERE view = 'told'
    UNION ALL SELECT group_id, partition, to_ns, -1 FROM ownership WHERE view = 'told' AND to_ns IS NOT NULL)
  SELECT *, lead(at_ns) OVER w AS to_ns, sum(delta) OVER v AS holders FROM events
  WINDOW w AS (PARTITION BY group_id, partition ORDER BY at_ns, delta),
    v AS (PARTITION BY group_id, partition ORDER BY at_ns, delta ROWS UNBOUNDED PRECEDING)"""
