-- Who may see a gate, beside its text: whose session it belongs to, and what
-- somebody needs who could decide it. A listing asks these columns, so that it
-- reads no body that its reader may not see.
ALTER TABLE interrupt ADD COLUMN owner  TEXT NOT NULL DEFAULT '';
ALTER TABLE interrupt ADD COLUMN roles  TEXT NOT NULL DEFAULT '[]';
ALTER TABLE interrupt ADD COLUMN domain TEXT NOT NULL DEFAULT '';
ALTER TABLE interrupt ADD COLUMN class  TEXT NOT NULL DEFAULT '';

UPDATE interrupt SET
  owner  = coalesce((SELECT s.owner FROM session s WHERE s.id = interrupt.session_id), ''),
  roles  = CASE WHEN type IN ('write_approval', 'plan_approval') THEN coalesce(json_extract(body, '$.roles'), '["approver"]') ELSE '[]' END,
  domain = coalesce(substr(json_extract(body, '$.action.capability'), 1, instr(json_extract(body, '$.action.capability'), '.') - 1), ''),
  class  = coalesce(json_extract(body, '$.action.policy.side_effect_class'), '');

CREATE INDEX interrupt_owner ON interrupt (owner, place);
