package site

import "encoding/json"

// Names of the writes, as they are kept with what they were about to do.
const (
	OpCreate    = "create_chatflow"
	OpPatch     = "apply_patch"
	OpRename    = "rename_chatflow"
	OpDuplicate = "duplicate_chatflow"
	OpRollback  = "rollback_chatflow"
	OpDelete    = "delete_chatflow"
	OpPattern   = "save_pattern"
	OpRun       = "run_chatflow"
	OpDeploy    = "deploy_chatflow"
	OpFile      = "set_category"
	OpRestore   = "restore_chatflow"
	OpPromote   = "promote_chatflow"
	OpImport    = "import_chatflow"
	// OpWithdraw undoes what was carried here.
	OpWithdraw = "withdraw_chatflow"
)

// AppliedOnly is the part of an output schema that leaves the fields of what was
// looked for optional: there may be nothing.
func AppliedOnly() json.RawMessage {
	return json.RawMessage(`{"required":["applied"]}`)
}

// TrialPrefix begins the names of the copies that tests are made on before a write
// is approved; they are there for seconds and count as no flows.
const TrialPrefix = "Manifold trial of "
