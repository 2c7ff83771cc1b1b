"""How does a line become spans, and what cannot be read? One pass over OTLP's JSON, a row for each span.

An attribute is looked up by its place in the list of keys, which bears repeated keys (a map would refuse them) and costs
a third of filtering the list. Spark is in ANSI mode: everything here is `get` and `try_…`, never `[0]` and `cast`.

Spark makes Java of each step, a method for each, and HotSpot compiles no method of more than 8,000 bytes of bytecode
(-XX:+DontCompileHugeMethods): it is interpreted for ever, which took two and a half times as long for the whole parse.
So attributes are looked up some at a time.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from pipeline import schema

# As much of a line as helps to recognise it. It goes beside every span through every step, and a line holds a hundred
# spans: with the whole of it, a batch spends its time on copying lines.
SHOWN = 200
MOST_BYTES_OF_A_CHARACTER = 4
LOOKED_UP_AT_ONCE = 12
# In the year 2116. What is later could not be added to or multiplied.
LAST_NS = 2**62
# Before that there was no KIP-848, and no clock is more than a day ahead. One step of 1970 is 20,000 days of its group, and
# one of 2116 is everybody's last day.
FIRST_NS = 1_577_836_800 * 10**9
DAY_NS = 86_400 * 10**9


def spans(lines: DataFrame) -> DataFrame:
    """(value, origin) -> spans; what cannot be read has `reject` set, with `line` and `origin` to find it again."""
    parsed = f.from_json("value", schema.REQUEST, {"columnNameOfCorruptRecord": "_corrupt"})
    # Spark keeps any bytes in a string. Other readers of Parquet do not take them for one, and Spark's own `substring` reads
    # on behind a line that ends within a character. And it counts all characters of a line first: a twelfth of the whole
    # parse, so it is given no more bytes than it can need.
    first = f.substring(f.col("value").cast("binary"), 1, SHOWN * MOST_BYTES_OF_A_CHARACTER).cast("string")
    shown = f.substring(f.make_valid_utf8(first), 1, SHOWN).alias("line")
    requests = lines.where(f.trim("value") != "").select(shown, "origin", parsed.alias("request"))
    requests = requests.select("line", "origin", "request.*").withColumn("bad", _bad_request())
    # One outer inline, so that a request without spans to give is still one row.
    resources = requests.selectExpr("line", "origin", "bad", "inline_outer(resourceSpans)")
    scopes = resources.selectExpr("line", "origin", "bad", "resource", "inline_outer(scopeSpans)")
    found = scopes.selectExpr("line", "origin", "bad", "resource", "inline_outer(spans)")
    rows = found.where(f.col("bad").isNotNull() | f.col("traceId").isNotNull() | f.col("spanId").isNotNull())
    beside = ("bad", "line", "origin")
    keyed = rows.select(*_identity(), "attributes", f.col("attributes.key").alias("keys"), *beside).transform(settled)
    return keyed.transform(_with_attributes).transform(judged)


def _with_attributes(keyed: DataFrame) -> DataFrame:
    wanted = [_typed(name, kind).alias(name) for name, kind in schema.ATTRIBUTES.items()]
    for first in range(0, len(wanted), LOOKED_UP_AT_ONCE):
        keyed = keyed.select("*", *wanted[first : first + LOOKED_UP_AT_ONCE]).transform(settled)
    return keyed


def settled(rows: DataFrame) -> DataFrame:
    """Columns computed once. Spark would put their expressions wherever they are named, and parse and look up the same
    thing dozens of times for each row; it does not see through a generator."""
    return rows.select(f.inline(f.array(f.struct(*rows.columns))))


def _bad_request() -> Column:
    """Not JSON at all, or JSON of something else: a truncated last line is both common and honest."""
    is_empty = f.coalesce(f.size("resourceSpans"), f.lit(-1)) < 0
    return f.when(f.col("_corrupt").isNotNull() | is_empty, "not an OTLP request")


def _identity() -> list[Column]:
    resource = f.col("resource.attributes")
    return [
        f.col("traceId").alias("trace_id"),
        f.col("spanId").alias("span_id"),
        f.col("name"),
        _looked_up(resource, resource.getField("key"), "service.instance.id").getField("stringValue").alias("proxy"),
        f.col("startTimeUnixNano").try_cast("bigint").alias("start_ns"),
        f.col("endTimeUnixNano").try_cast("bigint").alias("end_ns"),
        f.col("status.message").alias("status"),
    ]


def _typed(name: str, kind: str) -> Column:
    value = _looked_up(f.col("attributes"), f.col("keys"), schema.PREFIX + name)
    if kind == "array<string>":
        return value.getField("arrayValue").getField("values").getField("stringValue")
    if kind == "bigint":
        return value.getField("intValue").try_cast("bigint")
    return value.getField("stringValue")


def _looked_up(attributes: Column, keys: Column, key: str) -> Column:
    place = f.array_position(keys, key).cast("int")
    return f.get(attributes, place - 1).getField("value")


def judged(rows: DataFrame) -> DataFrame:
    """Every row is a span or says why it is not. The line is kept only where it is needed."""
    why = f.coalesce("bad", _nobody(), _no_record())
    where = [f.when(why.isNotNull(), f.col(name)).alias(name) for name in ("line", "origin")]
    return rows.select(*schema.IDENTITY, *schema.ATTRIBUTES, why.alias("reject"), *where)


def _nobody() -> Column:
    no_time = ~(_is_time("start_ns") & _is_time("end_ns"))
    no_name = (f.coalesce("trace_id", f.lit("")) == "") | (f.coalesce("span_id", f.lit("")) == "")
    found = f.when(no_name, "span without an id").when(no_time, "span without a time")
    # A day, for it is a number in the code that Spark makes: with the time of day it would be another for each batch of a
    # stream, and HotSpot would begin anew with each.
    today = f.unix_date(f.current_date()).cast("bigint")
    too_early = f.least("start_ns", "end_ns") < FIRST_NS
    too_late = f.greatest("start_ns", "end_ns") >= (today + 2) * DAY_NS
    return found.when(too_early, "span from before 2020").when(too_late, "span from the future")


def _is_time(name: str) -> Column:
    """In OTLP 0 is none."""
    return f.coalesce(f.col(name).between(1, LAST_NS), f.lit(False))


def _no_record() -> Column:
    """A transition that lacks what every transition has, or speaks of a phase that is none."""
    lacking = [f.when(f.col(name).isNull(), f.lit(f"transition without {name}")) for name in schema.REQUIRED]
    unknown = [
        f.when(~f.col(name).isin(*sorted(values)), f.concat(f.lit(f"transition of unknown {name} "), name))
        for name, values in schema.ENUMS.items()
    ]
    return f.when(f.col("name") == schema.TRANSITION, f.coalesce(*lacking, *unknown))


def rejects(spans: DataFrame) -> DataFrame:
    return spans.where("reject IS NOT NULL").select(f.col("reject").alias("reason"), "origin", "line")


def once(rows: DataFrame) -> DataFrame:
    """Exporters deliver at least once: a span is one thing, however often it came. `dropDuplicates` would sort whole rows
    before the shuffle and again behind it, for Spark cannot keep strings in a hash aggregate."""
    same = Window.partitionBy("trace_id", "span_id").orderBy("trace_id")
    return rows.withColumn("again", f.lag(f.lit(True)).over(same)).where("again IS NULL").drop("again")


def transitions(spans: DataFrame) -> DataFrame:
    rows = spans.where((f.col("name") == schema.TRANSITION) & f.col("reject").isNull())
    lists = [name for name, kind in schema.RECORD.items() if kind == "array<string>"]
    filled = rows.withColumns({name: f.coalesce(name, f.array().cast("array<string>")) for name in lists})
    # Not `/`, which is of doubles: they hold no nanoseconds of today.
    at_time = f.timestamp_micros(f.expr("start_ns div 1000"))
    return filled.withColumns({"at_ns": f.col("start_ns"), "at_time": at_time}).select(*schema.TRANSITIONS)


def requests(spans: DataFrame) -> DataFrame:
    """All spans that are no transitions: what clients asked for, and how long it took."""
    columns = (*schema.IDENTITY, "group_id", "member_id", "client_id", "epoch", *schema.OF_REQUESTS, *schema.BESIDE)
    return spans.where((f.col("name") != schema.TRANSITION) & f.col("reject").isNull()).select(*columns)
