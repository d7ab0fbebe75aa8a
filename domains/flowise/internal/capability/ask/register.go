// Package ask has the capabilities that ask flows: questions, approved runs, and tests.
package ask

import (
	"errors"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domains/flowise/internal/capability/author"
	"github.com/manifold-run/manifold/domains/flowise/internal/policy"
	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Asker has the capabilities that ask flows.
type Asker struct {
	site   *site.Site
	rules  *policy.Rules
	author *author.Author
	tried  *tried
}

// New returns an Asker.
func New(s *site.Site, rules *policy.Rules, a *author.Author) *Asker {
	return &Asker{s, rules, a, &tried{}}
}

// Register adds the capabilities. What the Go types cannot express is in the manifest.
func (k *Asker) Register(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, k.site, domainkit.Capability{Name: "diagnose_chatflow"}, k.diagnose),
		site.Add(svc, k.site, domainkit.Capability{Name: "find_run", OutputSchema: site.AppliedOnly()}, k.findRun),
		site.Add(svc, k.site, domainkit.Capability{Name: "predict_chatflow", Schema: questionOrForm()}, k.predictChatflow),
		site.Add(svc, k.site, domainkit.Capability{Name: site.OpRun, Schema: questionOrForm(), Resolve: domainkit.LookUp(k.resolveRun)}, k.runChatflow),
		site.Add(svc, k.site, domainkit.Capability{Name: "preview_run", Schema: questionOrForm()}, k.previewRun),
		site.Add(svc, k.site, domainkit.Capability{Name: "generate_tests"}, k.generateTests),
		site.Add(svc, k.site, domainkit.Capability{Name: "test_chatflow"}, k.testChatflow),
		site.Add(svc, k.site, domainkit.Capability{Name: "evaluate_chatflow"}, k.evaluateChatflow),
		site.Add(svc, k.site, domainkit.Capability{Name: "evaluate"}, k.evaluate),
		k.registerSuite(svc),
		site.Add(svc, k.site, domainkit.Capability{Name: "list_conversations"}, k.listMessages),
		site.Add(svc, k.site, domainkit.Capability{Name: "count_messages"}, k.countMessages),
		site.Add(svc, k.site, domainkit.Capability{Name: "delete_messages", Metadata: forgetting()}, k.deleteMessages),
	)
}

// registerSuite adds the capabilities for stored tests.
func (k *Asker) registerSuite(svc *domainkit.Service) error {
	return errors.Join(
		site.Add(svc, k.site, domainkit.Capability{Name: "list_tests"}, k.listTests),
		site.Add(svc, k.site, domainkit.Capability{Name: "find_test"}, k.findTest),
		site.Add(svc, k.site, domainkit.Capability{Name: "add_test", Metadata: keeping("remove_test")}, k.addTest),
		site.Add(svc, k.site, domainkit.Capability{Name: "keep_conversations", Metadata: keeping("remove_test")}, k.keepConversations),
		site.Add(svc, k.site, domainkit.Capability{Name: "remove_test", Metadata: removing()}, k.removeTest),
	)
}
