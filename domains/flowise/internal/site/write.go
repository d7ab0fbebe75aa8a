package site

import "encoding/json"

// Names of the writes, as stored with their operations.
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
	// OpWithdraw undoes a promotion or an import.
	OpWithdraw = "withdraw_chatflow"
)

// AppliedOnly returns an output schema, to be merged, in which only the fact applied is required: a
// look-up may find nothing.
func AppliedOnly() json.RawMessage {
	return json.RawMessage(`{"required":["applied"]}`)
}

// TrialPrefix is the name prefix of the copies on which tests run before a write is approved. They
// exist for seconds and are not listed as flows.
const TrialPrefix = "Manifold trial of "
