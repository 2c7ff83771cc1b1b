-- The tables of pipeline/*.py, all but `cost` (which plays a simulation), from `transitions` and `requests`.
-- run.py compares them with Spark's, row by row.

-- pipeline/life.py
CREATE TABLE home AS
WITH said AS (
    SELECT *, phase_before <> 'absent' AND phase = 'absent' AND cause IN ('SeenElsewhere', 'seen elsewhere') AS is_elsewhere,
        CASE WHEN CASE WHEN phase_before = 'absent' THEN phase <> 'absent'
            ELSE cause IN ('JoinRequested', 'SyncRequested', 'LeaveRequested', 'was elsewhere') END THEN proxy END AS here
    FROM transitions),
housed AS (
    SELECT *, last_value(here IGNORE NULLS) OVER so_far AS home
    FROM said WINDOW so_far AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id ROWS UNBOUNDED PRECEDING)),
placed AS (
    SELECT *, last_value(CASE WHEN here IS NOT NULL THEN false
        WHEN is_elsewhere AND home IS NOT DISTINCT FROM proxy THEN true END IGNORE NULLS) OVER so_far AS is_given_up
    FROM housed WINDOW so_far AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id ROWS UNBOUNDED PRECEDING)),
home AS (SELECT * FROM placed WHERE is_given_up OR home IS NULL OR home IS NOT DISTINCT FROM proxy),
knowing AS (
    SELECT *, NOT is_elsewhere AND coalesce(last_value(CASE WHEN cause = 'was elsewhere' THEN false
        WHEN (phase_before = 'absent') <> (phase = 'absent') OR cause = 'JoinRequested' THEN true END IGNORE NULLS) OVER so_far, true)
        AS knows
    FROM home WINDOW so_far AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id ROWS UNBOUNDED PRECEDING))
SELECT * EXCLUDE (is_elsewhere, here, home, is_given_up, knows) REPLACE (
    CASE WHEN is_elsewhere THEN 'stable' ELSE phase END AS phase,
    CASE WHEN is_elsewhere THEN standing_before ELSE standing END AS standing,
    CASE WHEN is_elsewhere THEN generation_before ELSE generation END AS generation,
    CASE WHEN knows THEN owned
        ELSE coalesce(last_value(CASE WHEN knows AND phase <> 'absent' THEN owned END IGNORE NULLS) OVER so_far, owned) END AS owned,
    CASE WHEN knows THEN assigned
        ELSE coalesce(last_value(CASE WHEN knows AND phase <> 'absent' THEN assigned END IGNORE NULLS) OVER so_far, assigned)
        END AS assigned)
FROM knowing WINDOW so_far AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id ROWS UNBOUNDED PRECEDING);

CREATE TABLE member_phases AS
SELECT group_id, member_id, instance_id, client_id, client_software, client_software_version, client_address, proxy,
    phase, standing, at_ns AS from_ns, to_ns, epoch, generation, cause
FROM (
    SELECT *, lead(at_ns) OVER (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id) AS to_ns
    FROM home WHERE phase <> phase_before OR standing <> standing_before)
WHERE NOT (phase = 'absent' AND standing = 'absent');

CREATE TABLE ownership AS
WITH was AS (
    SELECT group_id, member_id, client_id, proxy, at_ns, epoch, cause, owned, assigned,
        coalesce(lag(owned) OVER life, []) AS owned_was, coalesce(lag(assigned) OVER life, []) AS assigned_was
    FROM home WINDOW life AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id)),
moved AS (
    SELECT *, 'told' AS view, true AS takes, list_filter(owned, lambda p: NOT list_contains(owned_was, p)) AS found
    FROM was
    UNION ALL SELECT *, 'told', false, list_filter(owned_was, lambda p: NOT list_contains(owned, p)) FROM was
    UNION ALL SELECT *, 'granted', true, list_filter(assigned, lambda p: NOT list_contains(assigned_was, p)) FROM was
    UNION ALL SELECT *, 'granted', false, list_filter(assigned_was, lambda p: NOT list_contains(assigned, p)) FROM was),
moves AS (SELECT * EXCLUDE (found, owned, assigned, owned_was, assigned_was), unnest(found) AS partition FROM moved)
SELECT group_id, view, partition, member_id, client_id, proxy, at_ns AS from_ns, to_ns, epoch, ended_by
FROM (
    SELECT *, lead(at_ns) OVER held AS to_ns, lead(cause) OVER held AS ended_by
    FROM moves WINDOW held AS (PARTITION BY group_id, member_id, view, partition ORDER BY at_ns, takes))
WHERE takes;

CREATE TABLE rebalances AS
WITH placed AS (
    SELECT *, coalesce(CASE WHEN phase_before <> 'absent' OR phase = 'absent' THEN lag(phase) OVER life END, phase_before)
            IN ('prepare-rebalance', 'completing-rebalance') AS was_in,
        phase IN ('prepare-rebalance', 'completing-rebalance') AS is_in,
        phase_before = 'absent' AND phase = 'completing-rebalance' AS is_newcomer, lead(at_ns) OVER life AS next_ns,
        coalesce(lag(owned) OVER life, CASE WHEN phase_before = 'absent' AND NOT is_newcomer THEN owned END) AS had,
        row_number() OVER life AS place
    FROM home WINDOW life AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id)),
numbered AS (
    SELECT *, sum((NOT was_in AND is_in)::INT)
        OVER (PARTITION BY group_id, member_id ORDER BY place ROWS UNBOUNDED PRECEDING) AS cycle
    FROM placed),
told AS (
    SELECT *, last_value(owned) OVER (PARTITION BY group_id, member_id, cycle ORDER BY place
        ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS told
    FROM numbered WHERE was_in OR is_in),
cycles AS (
    SELECT group_id, member_id, cycle, arg_max_null(client_id, place) AS client_id,
        arg_min_null(proxy, place) AS proxy, arg_min_null(cause, place) AS cause,
        arg_min_null(is_newcomer, place) AS is_newcomer, coalesce(arg_min_null(had, place), []) AS had,
        arg_max_null(owned, place) AS has, NOT arg_max_null(is_in, place) AS is_over,
        bool_or(phase_before = 'completing-rebalance') AS rejoined, arg_max_null(phase, place) AS ended_in, arg_max_null(cause, place) AS ended_by,
        arg_max_null(epoch, place) AS epoch, arg_max_null(generation, place) AS generation,
        min(at_ns) AS from_ns, max(at_ns) AS last_ns, arg_max_null(reason, at_ns) AS reason,
        coalesce(sum(len(list_filter(told, lambda p: NOT list_contains(owned, p)))
            * CASE WHEN is_in THEN next_ns - at_ns END), 0)::BIGINT AS idle_partition_ns
    FROM told GROUP BY ALL)
SELECT group_id, member_id, client_id, proxy, cause, reason, is_newcomer,
    CASE WHEN NOT is_over THEN 'goes on' WHEN ended_in = 'stable' AND NOT rejoined THEN 'called off'
        ELSE ended_in END AS outcome, ended_by, epoch, generation, from_ns,
    CASE WHEN is_over THEN last_ns END AS to_ns, CASE WHEN is_over THEN last_ns - from_ns END AS duration_ns,
    list_sort(list_filter(had, lambda p: list_contains(has, p))) AS kept,
    list_sort(list_filter(had, lambda p: NOT list_contains(has, p))) AS revoked,
    list_sort(list_filter(has, lambda p: NOT list_contains(had, p))) AS gained, idle_partition_ns
FROM cycles;

CREATE TABLE group_changes AS
WITH came AS (
    SELECT group_id, epoch, member_id, min(at_ns) AS at_ns FROM home WHERE epoch > 0 AND phase <> 'absent' GROUP BY ALL),
reached AS (
    SELECT group_id, epoch, min(at_ns) AS from_ns, max(at_ns) AS to_ns, count(*) AS members FROM came GROUP BY ALL),
felt AS (
    SELECT group_id, epoch, list_sort(list(DISTINCT member_id)) AS disturbed,
        list_sort(list(DISTINCT member_id) FILTER (len(revoked) + len(gained) > 0)) AS needed,
        list_sort(list(DISTINCT member_id) FILTER (len(revoked) + len(gained) = 0)) AS in_vain,
        sum(idle_partition_ns)::BIGINT AS idle_partition_ns
    FROM rebalances WHERE NOT is_newcomer AND outcome = 'stable' GROUP BY ALL)
SELECT group_id, epoch, from_ns, to_ns, members, coalesce(disturbed, []) AS disturbed, coalesce(needed, []) AS needed,
    coalesce(in_vain, []) AS in_vain, coalesce(idle_partition_ns, 0) AS idle_partition_ns
FROM reached LEFT JOIN felt USING (group_id, epoch);

-- pipeline/sweep.py, of what clients were told
CREATE TABLE stretches AS
WITH events AS (
    SELECT group_id, partition, from_ns AS at_ns, 1 AS delta FROM ownership WHERE view = 'told'
    UNION ALL SELECT group_id, partition, to_ns, -1 FROM ownership WHERE view = 'told' AND to_ns IS NOT NULL)
SELECT group_id, partition, at_ns AS from_ns, lead(at_ns) OVER line AS to_ns,
    sum(delta) OVER (PARTITION BY group_id, partition ORDER BY at_ns, delta ROWS UNBOUNDED PRECEDING) AS holders
FROM events WINDOW line AS (PARTITION BY group_id, partition ORDER BY at_ns, delta);

CREATE TABLE audits AS
WITH ended AS (SELECT max(at_ns) AS end_ns FROM transitions),
last_words AS (SELECT proxy, max(at_ns) AS last_ns FROM transitions GROUP BY ALL),
holding AS (SELECT * FROM stretches WHERE to_ns IS NULL OR to_ns > from_ns),
held AS (
    SELECT *, coalesce(to_ns, 9223372036854775807) AS end_ns FROM ownership
    WHERE view = 'told' AND (group_id, partition) IN (SELECT (group_id, partition) FROM holding WHERE holders > 1)),
weighed AS (SELECT *, CASE view WHEN 'told' THEN 1 ELSE 2 END AS weight FROM ownership),
tipped AS (
    SELECT group_id, member_id, partition, at_ns, sum(delta) AS delta FROM (
        SELECT group_id, member_id, partition, from_ns AS at_ns, weight AS delta FROM weighed
        UNION ALL SELECT group_id, member_id, partition, to_ns, -weight FROM weighed WHERE to_ns IS NOT NULL)
    GROUP BY ALL),
states AS (
    SELECT *, sum(delta) OVER (PARTITION BY group_id, member_id, partition ORDER BY at_ns) AS state,
        lead(at_ns) OVER (PARTITION BY group_id, member_id, partition ORDER BY at_ns) AS to_ns
    FROM tipped),
lives AS (
    SELECT *, lag(proxy) OVER life IS DISTINCT FROM proxy AS begins,
        lag(at_ns) OVER life AS was_ns, lag(phase) OVER life AS phase_was, lag(standing) OVER life AS standing_was,
        lag(epoch) OVER life AS epoch_was, lag(generation) OVER life AS generation_was,
        last_value(generation) OVER (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS final
    FROM home WINDOW life AS (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id)),
generations AS (
    SELECT group_id, member_id, generation, min(at_ns) AS from_ns, max(at_ns) AS to_ns,
        bool_or(phase = 'stable') AS told, bool_or(final = generation) AS is_last
    FROM lives WHERE generation >= 0 GROUP BY ALL),
ever AS (
    SELECT group_id, member_id, list(DISTINCT regexp_replace(held, ':\d+$', '')) AS topics
    FROM (SELECT group_id, member_id, unnest(owned) AS held FROM home) GROUP BY ALL),
facts AS (
    SELECT group_id, member_id, at_ns, NULL AS partitions, false AS asks, list_concat(owned, assigned) AS owned FROM home
    UNION ALL SELECT group_id, member_id, start_ns,
        list_filter(partitions, lambda p: list_contains(topics, regexp_replace(p, ':\d+$', ''))), true, NULL
    FROM requests JOIN ever USING (group_id, member_id)
    WHERE name = 'OffsetCommit' AND error_code = 0 AND member_id IS NOT NULL),
commits AS (
    SELECT * REPLACE (last_value(owned IGNORE NULLS)
        OVER (PARTITION BY group_id, member_id ORDER BY at_ns, asks ROWS UNBOUNDED PRECEDING) AS owned)
    FROM facts),
phases AS (
    SELECT group_id, member_id, phase, at_ns AS from_ns,
        lead(at_ns) OVER (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id) AS to_ns
    FROM lives WHERE phase <> phase_before OR phase_was IS DISTINCT FROM phase),
visits AS (
    SELECT group_id, client_id, regexp_replace(client_address, ':\d+$', '') AS host, instance_id, member_id, phase, at_ns,
        lead(CASE WHEN phase = 'absent' THEN at_ns END)
            OVER (PARTITION BY group_id, member_id ORDER BY at_ns, "at", span_id) AS left_ns
    FROM home WHERE phase_before = 'absent' AND phase = 'completing-rebalance'
        OR phase_before <> 'absent' AND phase = 'absent'),
arrivals AS (
    SELECT *, 1 + len(list_filter(lately, lambda l: l <= at_ns)) AS times
    FROM (SELECT *, list(left_ns) OVER (PARTITION BY group_id, client_id, host, instance_id ORDER BY at_ns
        RANGE BETWEEN 300000000000 PRECEDING AND CURRENT ROW) AS lately FROM visits WHERE phase <> 'absent')),
clocks AS (
    SELECT group_id, member_id, at_ns, (at_ns - "at" * 1000000)
        - lag(at_ns - "at" * 1000000) OVER (PARTITION BY proxy ORDER BY "at", span_id) AS step
    FROM transitions)
SELECT CASE WHEN (a.to_ns IS NULL OR a.ended_by = 'MemberAdopted') AND last_ns < b.from_ns THEN 'silent proxy' ELSE 'double ownership' END AS audit,
    b.group_id, b.member_id, a.member_id AS other_member_id, b.partition, b.from_ns, least(a.to_ns, b.to_ns) AS to_ns
FROM held a JOIN last_words w ON a.proxy IS NOT DISTINCT FROM w.proxy JOIN held b ON a.group_id = b.group_id AND a.partition = b.partition AND a.member_id <> b.member_id
    AND a.end_ns > b.from_ns AND (a.from_ns, a.member_id) < (b.from_ns, b.member_id)
UNION ALL BY NAME SELECT 'unowned' AS audit, group_id, partition, from_ns, to_ns FROM holding
    WHERE holders = 0 AND to_ns - from_ns > 10000000000
UNION ALL BY NAME SELECT 'lost revocation' AS audit, group_id, member_id, partition, at_ns AS from_ns, to_ns
    FROM states, ended WHERE state = 1 AND coalesce(to_ns, end_ns) - at_ns > 60000000000
UNION ALL BY NAME SELECT 'epoch backwards' AS audit, group_id, member_id, at_ns AS from_ns FROM lives
    WHERE epoch_was > epoch AND epoch > 0 AND phase_before <> 'absent' AND NOT begins
UNION ALL BY NAME SELECT 'generation backwards' AS audit, group_id, member_id, at_ns AS from_ns FROM lives
    WHERE generation_was > generation AND generation > 0 AND phase_before <> 'absent' AND NOT begins
UNION ALL BY NAME SELECT 'generation never told' AS audit, group_id, member_id, from_ns, to_ns FROM generations
    WHERE NOT told AND NOT is_last
UNION ALL BY NAME SELECT 'commit by non-owner' AS audit, group_id, member_id, at_ns AS from_ns FROM commits
    WHERE asks AND owned IS NOT NULL AND (partitions IS NULL OR len(partitions) > 0)
    AND (len(owned) = 0 OR len(list_filter(partitions, lambda p: NOT list_contains(owned, p))) > 0)
UNION ALL BY NAME SELECT 'stuck in PrepareRebalance' AS audit, group_id, member_id, from_ns, to_ns
    FROM phases, ended WHERE phase = 'prepare-rebalance' AND coalesce(to_ns, end_ns) - from_ns > 300000000000
UNION ALL BY NAME SELECT 'gap in the record' AS audit, group_id, member_id, was_ns AS from_ns, at_ns AS to_ns FROM lives
    WHERE NOT begins AND NOT (phase_before = 'absent' AND phase <> 'absent') AND (phase_was, standing_was, epoch_was, generation_was)
        <> (phase_before, standing_before, epoch_before, generation_before) AND was_ns IS NOT NULL
UNION ALL BY NAME SELECT 'flapping' AS audit, group_id, arg_max(member_id, at_ns) AS member_id, min(at_ns) AS from_ns,
    max(at_ns) AS to_ns
    FROM arrivals WHERE times >= 4 GROUP BY group_id, client_id, host, instance_id
UNION ALL BY NAME SELECT 'late heartbeat' AS audit, group_id, member_id, start_ns AS from_ns, end_ns AS to_ns
    FROM requests WHERE name = 'ConsumerGroupHeartbeat' AND end_ns - start_ns > 5000000000
UNION ALL BY NAME SELECT 'late heartbeat' AS audit, group_id, member_id, at_ns AS from_ns FROM home
    WHERE phase = 'absent' AND phase_before <> 'absent' AND cause IN ('session ended', 'rebalance timeout')
UNION ALL BY NAME SELECT 'clock step' AS audit, group_id, member_id, at_ns AS from_ns FROM clocks
    WHERE abs(step) > 100000000;

CREATE TABLE readiness AS
WITH ended AS (SELECT max(coalesce(to_ns, from_ns)) // 86400000000000 AS last FROM member_phases),
days AS (
    SELECT group_id, unnest(generate_series(first, last)) AS day
    FROM (SELECT group_id, min(from_ns) // 86400000000000 AS first FROM member_phases GROUP BY ALL), ended),
daily AS (
    SELECT *, unnest(generate_series(from_ns // 86400000000000, coalesce(to_ns // 86400000000000, last))) AS day
    FROM member_phases, ended WHERE phase <> 'absent'),
last AS (
    SELECT group_id, member_id, max(at_ns) AS last_ns, arg_max(epoch, at_ns) AS last_epoch FROM home
    GROUP BY ALL HAVING arg_max(phase, at_ns) <> 'absent'),
epochs AS (SELECT group_id, epoch, min(at_ns) AS came_ns FROM home WHERE phase <> 'absent' GROUP BY ALL),
missing AS (
    SELECT group_id, member_id, min(came_ns) + 3600000000000 AS missed_ns FROM last JOIN epochs USING (group_id)
    WHERE epoch > last_epoch AND came_ns > last_ns GROUP BY ALL HAVING missed_ns <= (SELECT max(at_ns) FROM home)),
there AS (
    SELECT group_id, day, member_id, proxy,
        to_ns IS NULL AND coalesce(missed_ns < (day + 1) * 86400000000000, false) AS is_missing,
        NOT is_missing AND (to_ns IS NULL OR to_ns >= (day + 1) * 86400000000000) AS at_end,
        trim(concat_ws(' ', coalesce(client_software, 'unknown client'), client_software_version)) AS software
    FROM daily LEFT JOIN missing USING (group_id, member_id)),
legacy AS (
    SELECT group_id, day, count(DISTINCT member_id) FILTER (at_end) AS legacy, count(DISTINCT member_id) AS seen,
        list_sort(list(DISTINCT software) FILTER (at_end)) AS clients,
        count(DISTINCT member_id) FILTER (is_missing) AS missing,
        list_sort(list(DISTINCT proxy) FILTER (is_missing)) AS proxies
    FROM there GROUP BY ALL),
unwell AS (
    SELECT group_id, from_ns // 86400000000000 AS day, count(*) FILTER (outcome = 'goes on') AS open_cycles,
        count(*) FILTER (starts_with(ended_by, 'refused')) AS refused
    FROM rebalances GROUP BY ALL)
SELECT group_id, DATE '1970-01-01' + day::INT AS day, coalesce(legacy, 0) AS legacy, coalesce(seen, 0) AS seen,
    coalesce(clients, []) AS clients,
    list_filter([
        CASE WHEN legacy > 0 THEN legacy || ' legacy members: ' || array_to_string(clients, ', ') END,
        CASE WHEN missing > 0 THEN missing || ' members have not followed their group for over an hour: was '
            || array_to_string(proxies, ', ') || ' killed?' END,
        CASE WHEN open_cycles > 0 THEN open_cycles || ' rebalances that did not end' END,
        CASE WHEN refused > 0 THEN refused || ' members refused' END], lambda said: said IS NOT NULL) AS held_back_by,
    CASE WHEN coalesce(legacy, 0) > 0 THEN 'in use'
        WHEN coalesce(seen, 0) > 0 THEN 'look first' ELSE 'safe to remove' END AS verdict
FROM days LEFT JOIN legacy USING (group_id, day) LEFT JOIN unwell USING (group_id, day);
