package flowise_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// TestWhatIsBuiltIsOneRequest in any word order: the purpose of a new bot is not a request to an
// existing flow. Versions and periods in the message become parameters.
func TestWhatIsBuiltIsOneRequest(t *testing.T) {
	t.Parallel()
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	catalog := setup(t).catalog()
	tests := map[string][]string{}
	for _, goal := range []string{
		"build me a bot that answers from our FAQ page, remembers, and uses gpt-4o-mini",
		"build me a bot that uses gpt-4o-mini, remembers, and answers from our FAQ page",
		"a bot that remembers, uses gpt-4o-mini and answers from our FAQ page, please build it",
		"create a chatbot which uses claude and remembers what was said",
		"using gpt-4o-mini and Team OpenAI, build a bot that answers questions about our opening hours",
	} {
		tests[goal] = []string{"develop_chatflow map[goal:" + goal + "]"}
	}
	tests["set the model of Support Bot to gpt-4o-mini"] = []string{"set_model map[chatflow_id:Support Bot model:gpt-4o-mini]"}
	tests["delete Greeter, Helper and Old Bot"] = []string{
		"delete_chatflow map[chatflow_id:Greeter]", "delete_chatflow map[chatflow_id:Helper]", "delete_chatflow map[chatflow_id:Old Bot]",
	}
	tests["compare the last two versions of the Support Bot"] = []string{"diff_versions map[chatflow_id:Support Bot]"}
	for say, want := range map[string]string{
		"which chatflows has nobody touched this month?":            "list_chatflows map[type:ALL unchanged_since:2026-11-01 unchanged_until:2026-11-30]",
		"flows that nobody changed this week":                       "list_chatflows map[unchanged_since:2026-11-23 unchanged_until:2026-11-29]",
		"which chatflows did nobody touch since October":            "list_chatflows map[type:ALL unchanged_since:2026-10-01]",
		"Flows, die diesen Monat niemand geändert hat":              "list_chatflows map[unchanged_since:2026-11-01 unchanged_until:2026-11-30]",
		"show the changes of Support Bot since Monday":              "list_changes map[chatflow_id:Support Bot since:2026-11-23]",
		"change the title of the chatflow Legal QA to Contracts QA": "rename_chatflow map[chatflow_id:Legal QA name:Contracts QA]",
		"make Support Bot remember the conversation":                "set_memory map[chatflow_id:Support Bot]",
		"put the Support Bot back to the version before":            "rollback_chatflow map[chatflow_id:Support Bot version:the version before]",
		"make a copy of the Onboarding flow for staging":            "promote_chatflow map[chatflow_id:Onboarding]",
		"do we have an OpenAI credential?":                          "check_credentials map[node_names:[OpenAI]]",
		"run 3 questions against the Greeter":                       "test_chatflow map[chatflow_id:Greeter questions:3]",
	} {
		tests[say] = []string{want}
	}
	for say, want := range tests {
		got, err := adapter.Understand(t.Context(), intent.Request{Message: say, Catalog: catalog, Now: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		var read []string
		for _, in := range got.Intents {
			read = append(read, fmt.Sprint(in.Capability, " ", in.Parameters))
		}
		if got.Outcome != contracts.ReadingAccepted || fmt.Sprint(read) != fmt.Sprint(want) {
			t.Errorf("%s: %s %v %s", say, got.Outcome, read, got.Question)
		}
	}
}
