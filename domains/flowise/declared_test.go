package flowise_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// promised are the capabilities on which workflows and users rely, by purpose.
func promised() map[string][]string {
	return map[string][]string{
		"discovery": {"list_chatflows", "get_chatflow", "list_nodes", "get_node", "list_templates", "list_credentials", "check_credentials", "search_patterns", "list_instances"},
		"target":    {"resolve_target", "load_flow", "summarize_flow", "excerpt_flow"},
		"build":     {"compile_flow", "validate_flow", "preview_changes", "repair_schema", "preflight_flow"},
		"write":     {"create_chatflow", "apply_patch", "rename_chatflow", "rollback_chatflow", "delete_chatflow", "duplicate_chatflow", "run_chatflow"},
		"test":      {"predict_chatflow", "generate_tests", "test_chatflow", "evaluate_chatflow"},
		"versions":  {"list_versions", "diff_versions"},
		"patterns":  {"save_pattern", "use_pattern"},
	}
}

func byCapability(m *contracts.Manifest) map[string]*contracts.Capability {
	out := map[string]*contracts.Capability{}
	for i := range m.Capabilities {
		out[m.Capabilities[i].Name] = &m.Capabilities[i]
	}
	return out
}

func TestEveryPromisedCapabilityIsThere(t *testing.T) {
	t.Parallel()
	have := byCapability(setup(t).manifest())
	for group, names := range promised() {
		for _, name := range names {
			c := have[name]
			switch {
			case c == nil:
				t.Errorf("%s: there is no %s", group, name)
			case (group == "write" || name == "save_pattern") != c.Metadata.SideEffectClass.Writes():
				t.Errorf("%s is %s", name, c.Metadata.SideEffectClass)
			}
		}
	}
}

// TestWritesCanBeLookedForAndUndone: the capabilities that a write refers to exist and are reads,
// or writes that undo it; flows are locked by id.
func TestWritesCanBeLookedForAndUndone(t *testing.T) {
	t.Parallel()
	have := byCapability(setup(t).manifest())
	for name, c := range have {
		md := c.Metadata
		if !md.SideEffectClass.Writes() {
			continue
		}
		if md.Reconcile == nil && md.Idempotency != contracts.IdempotencyNatural {
			t.Errorf("%s: a lost answer cannot be looked for", name)
		}
		if md.Reconcile != nil {
			if look := have[md.Reconcile.Capability]; look == nil || look.Metadata.SideEffectClass != contracts.ClassRead {
				t.Errorf("%s is looked for by %s, which is no read", name, md.Reconcile.Capability)
			}
		}
		if look := have[md.Verify.Capability]; look == nil || look.Metadata.SideEffectClass != contracts.ClassRead || len(md.Verify.Assertions) == 0 {
			t.Errorf("%s is not read back", name)
		}
		if md.Compensation != nil {
			if undo := have[md.Compensation.Capability]; undo == nil || !undo.Metadata.SideEffectClass.Writes() {
				t.Errorf("%s is undone by %s, which is no write", name, md.Compensation.Capability)
			}
		}
		if _, takes := properties(t, c)["chatflow_id"]; takes && name != "save_pattern" && !slices.Contains(md.Locks, "chatflow:{chatflow_id}") {
			t.Errorf("%s locks %v", name, md.Locks)
		}
	}
}

// TestSentencesAreDistinct: no two capabilities share an example message, ignoring case,
// punctuation and quotes. Every capability for users has a routing test, and the domain has
// messages that must match nothing.
func TestSentencesAreDistinct(t *testing.T) {
	t.Parallel()
	m := setup(t).manifest()
	taught, tested := map[string]string{}, map[string]bool{}
	strangers := 0
	for _, test := range m.Tests {
		if test.Expect == nil {
			strangers++
		} else {
			tested[test.Expect.Capability] = true
		}
	}
	if strangers < 5 {
		t.Errorf("%d sentences lead nowhere", strangers)
	}
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		if c.Metadata.IntentHints == nil {
			continue
		}
		if !tested[c.Name] && (c.Metadata.Routable == nil || *c.Metadata.Routable) {
			t.Errorf("%s: no routing test", c.Name)
		}
		for _, sentence := range c.Metadata.IntentHints.Examples {
			plain := strings.Join(strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return strings.ContainsRune(" \"'.,:;?!", r) }), " ")
			if other := taught[plain]; other != "" {
				t.Errorf("%q is taught by %s and %s", sentence, other, c.Name)
			}
			taught[plain] = c.Name
		}
	}
}

// properties are the parameters of a capability.
func properties(t *testing.T, c *contracts.Capability) map[string]any {
	t.Helper()
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(c.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	return schema.Properties
}
