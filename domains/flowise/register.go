package flowise

import (
	"encoding/json"
	"errors"

	"github.com/manifold-run/manifold/domainkit"
)

// appliedOnly leaves the fields of what was looked for optional: there may be
// nothing.
func appliedOnly() json.RawMessage {
	return json.RawMessage(`{"required":["applied"]}`)
}

// register adds the capabilities; what the types cannot say of them stands in
// manifest.json.
func (d *domain) register(svc *domainkit.Service) error {
	return errors.Join(d.registerReads(svc), d.registerBuild(svc), d.registerWrites(svc), d.registerTests(svc))
}

func (d *domain) registerReads(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "list_instances"}, d.listInstances),
		domainkit.Add(svc, domainkit.Capability{Name: "list_chatflows"}, d.listChatflows),
		domainkit.Add(svc, domainkit.Capability{Name: "get_chatflow"}, d.getChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "list_nodes"}, d.listNodes),
		domainkit.Add(svc, domainkit.Capability{Name: "get_node"}, d.getNode),
		domainkit.Add(svc, domainkit.Capability{Name: "list_templates"}, d.listTemplates),
		domainkit.Add(svc, domainkit.Capability{Name: "list_credentials"}, d.listCredentials),
		domainkit.Add(svc, domainkit.Capability{Name: "check_credentials"}, d.checkCredentials),
		domainkit.Add(svc, domainkit.Capability{Name: "resolve_target"}, d.resolveTarget),
		domainkit.Add(svc, domainkit.Capability{Name: "load_flow"}, d.loadFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "summarize_flow"}, d.summarizeFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "excerpt_flow"}, d.excerptFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "list_versions"}, d.listVersions),
		domainkit.Add(svc, domainkit.Capability{Name: "diff_versions"}, d.diffVersions),
		domainkit.Add(svc, domainkit.Capability{Name: "search_patterns"}, d.searchPatterns),
		domainkit.Add(svc, domainkit.Capability{Name: "use_pattern"}, d.usePattern),
		domainkit.Add(svc, domainkit.Capability{Name: "find_chatflow"}, d.findChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "find_pattern"}, d.findPattern),
		domainkit.Add(svc, domainkit.Capability{Name: "find_write", OutputSchema: appliedOnly()}, d.findWrite),
		domainkit.Add(svc, domainkit.Capability{Name: "find_run", OutputSchema: appliedOnly()}, d.findRun),
	)
}

func (d *domain) registerBuild(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "compile_flow"}, d.compileFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "validate_flow"}, d.validateFlow),
		domainkit.Add(svc, domainkit.Capability{Name: "preview_changes"}, d.previewChanges),
		domainkit.Add(svc, domainkit.Capability{Name: "repair_schema"}, d.repairSchema),
		domainkit.Add(svc, domainkit.Capability{Name: "preflight_flow"}, d.preflightFlow),
	)
}

func (d *domain) registerWrites(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: opCreate, Resolve: d.resolve(opCreate)}, d.createChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opPatch, Resolve: d.resolve(opPatch)}, d.applyPatch),
		domainkit.Add(svc, domainkit.Capability{Name: opRename, Resolve: d.resolve(opRename)}, d.renameChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opDuplicate, Resolve: d.resolve(opDuplicate)}, d.duplicateChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opRollback, Resolve: d.resolve(opRollback)}, d.rollbackChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opRestoreName, Resolve: d.resolve(opRestoreName)}, d.renameChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opRestoreVersion, Resolve: d.resolve(opRestoreVersion)}, d.rollbackChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opDelete, Resolve: d.resolve(opDelete)}, d.deleteChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opPattern, Resolve: d.resolve(opPattern)}, d.savePattern),
		domainkit.Add(svc, domainkit.Capability{Name: "delete_pattern"}, d.deletePattern),
	)
}

func (d *domain) registerTests(svc *domainkit.Service) error {
	return errors.Join(
		domainkit.Add(svc, domainkit.Capability{Name: "predict_chatflow", Schema: questionOrForm()}, d.predictChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: opRun, Schema: questionOrForm(), Resolve: domainkit.LookUp(d.resolveRun)}, d.runChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "preview_run", Schema: questionOrForm()}, d.previewRun),
		domainkit.Add(svc, domainkit.Capability{Name: "generate_tests"}, d.generateTests),
		domainkit.Add(svc, domainkit.Capability{Name: "test_chatflow"}, d.testChatflow),
		domainkit.Add(svc, domainkit.Capability{Name: "evaluate_chatflow"}, d.evaluateChatflow),
	)
}
