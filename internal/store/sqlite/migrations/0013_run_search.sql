-- What lists of runs are filtered by: the goal with small ASCII letters, and the domains
-- of the plan between commas. It stands apart from the plan, which is large to read.
CREATE TABLE run_search (
  created_at INTEGER NOT NULL,
  run_id     TEXT    NOT NULL,
  goal       TEXT    NOT NULL,
  domains    TEXT    NOT NULL,
  PRIMARY KEY (created_at, run_id)
) STRICT, WITHOUT ROWID;

INSERT INTO run_search (created_at, run_id, goal, domains)
SELECT r.created_at, r.id, lower(coalesce(json_extract(p.body, '$.goal'), '')), coalesce((
  SELECT ',' || group_concat(DISTINCT substr(json_extract(n.value, '$.tool'), 1, instr(json_extract(n.value, '$.tool'), '.') - 1)) || ','
  FROM json_each(p.body, '$.nodes') n WHERE instr(json_extract(n.value, '$.tool'), '.') > 0), '')
FROM run r JOIN plan p ON p.run_id = r.id WHERE json_valid(p.body);
