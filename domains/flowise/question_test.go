package flowise_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// formOps builds an agent flow that starts with a form and repeats its values.
func formOps() []object {
	fields := []object{
		{"type": "string", "label": "Name", "name": "name"},
		{"type": "number", "label": "Age", "name": "age"},
		{"type": "options", "label": "Size", "name": "size", "addOptions": []object{{"option": "S"}, {"option": "M"}}},
		{"type": "boolean", "label": "Guest", "name": "guest"},
	}
	return []object{
		{"op_type": "AddNode", "node_name": "startAgentflow", "node_id": "start", "params": object{
			"startInputType": "formInput", "formTitle": "Badge", "formDescription": "Fill it in", "formInputTypes": fields,
		}},
		{"op_type": "AddNode", "node_name": "directReplyAgentflow", "node_id": "reply", "params": object{
			"directReplyMessage": "{{ $form.name }} {{ $form.age }} {{ $form.size }} {{ $form.guest }} {{ question }}",
		}},
		{"op_type": "Connect", "source_node_id": "start", "target_node_id": "reply"},
	}
}

func TestAFlowThatBeginsWithAFormTakesItsValues(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, b *bench) {
		t.Helper()
		id := text(b.facts("create_chatflow", object{"name": "Badge", "type": "AGENTFLOW", "ops": formOps()}, in{key: t.Name()})["chatflow_id"])
		form := object{"name": "Ana", "age": 7, "size": "M", "guest": true}
		said := b.facts("predict_chatflow", object{"chatflow_id": id, "form": form}, in{})
		if strings.TrimSpace(text(said["answer"])) != "Ana 7 M true" {
			t.Errorf("it says %q", said["answer"])
		}
		next := b.facts("predict_chatflow", object{"chatflow_id": id, "question": "again", "session_id": said["session_id"]}, in{})
		if next["answer"] != "Ana 7 M true again" {
			t.Errorf("in the same conversation it says %q", next["answer"])
		}
		run := b.looked(object{"chatflow_id": id, "form": form})
		ran := b.facts("run_chatflow", run, in{key: "run" + t.Name()})
		if strings.TrimSpace(text(ran["answer"])) != "Ana 7 M true" {
			t.Errorf("a run says %q", ran["answer"])
		}
		if found := b.facts("find_run", object{"chatflow_id": id, "key": "run" + t.Name()}, in{}); found["applied"] != true || found["message_id"] != ran["message_id"] {
			t.Errorf("of the run it is found %v", found)
		}
	})
}

// TestAFormThatIsNotFilledInRightlyIsNotSent: the server would answer, with "{{ $form.age }}" in
// the text.
func TestAFormThatIsNotFilledInRightlyIsNotSent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := text(b.facts("create_chatflow", object{"name": "Badge", "type": "AGENTFLOW", "ops": formOps()}, in{key: "k"})["chatflow_id"])
	plain := text(b.facts("create_chatflow", object{"name": "Echo"}, in{key: "l"})["chatflow_id"])
	full := func(change object) object {
		form := object{"name": "Ana", "age": 7, "size": "M", "guest": true}
		for name, value := range change {
			if form[name] = value; value == nil {
				delete(form, name)
			}
		}
		return object{"chatflow_id": id, "form": form}
	}
	for name, tt := range map[string]struct {
		wish object
		says []string
	}{
		"only a question":        {object{"chatflow_id": id, "question": "hi"}, []string{"name (string), age (number), size (one of S, M), guest (boolean)", "session_id"}},
		"a value is missing":     {full(object{"age": nil}), []string{"age (number) is missing"}},
		"an option that is none": {full(object{"size": "XXL"}), []string{"size (one of S, M) does not take"}},
		"a number that is none":  {full(object{"age": "old"}), []string{"age (number) does not take"}},
		"a list for a text":      {full(object{"name": []string{"a"}}), []string{"name (string) does not take"}},
		"an unknown field":       {full(object{"nam": "Ana"}), []string{`no field "nam"; did you mean name?`}},
	} {
		for _, capability := range []string{"predict_chatflow", "preview_run", "run_chatflow"} {
			wish := object{"graph_sha256": b.facts("get_chatflow", object{"chatflow_id": id}, in{})["sha256"]}
			maps.Copy(wish, tt.wish)
			if capability != "run_chatflow" {
				delete(wish, "graph_sha256")
			}
			got := b.refused(capability, wish, in{key: name})
			if got.Type != "domain.form_needed" || strings.Count(fmt.Sprint(got.Detail), "type:") != 4 {
				t.Errorf("%s, %s: %v %v", name, capability, got, got.Detail)
			}
			for _, says := range tt.says {
				if !strings.Contains(got.Message, says) {
					t.Errorf("%s: %q does not say %q", name, got.Message, says)
				}
			}
		}
	}
	for name, wish := range map[string]object{
		"a form beside a question":      {"chatflow_id": id, "form": full(nil)["form"], "question": "hi"},
		"a form for a flow without one": {"chatflow_id": plain, "form": full(nil)["form"]},
	} {
		if got := b.refused("predict_chatflow", wish, in{}); got.Type != contracts.ErrInvalidParameters {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := b.refused("test_chatflow", object{"chatflow_id": id}, in{}); got.Type != "domain.form_needed" {
		t.Errorf("its tests: %v", got)
	}
	for _, r := range b.server.Requests() {
		if strings.Contains(fmt.Sprint(r), "/prediction/") {
			t.Errorf("it was asked: %v", r)
		}
	}
	b.facts("predict_chatflow", full(object{"age": "", "size": "", "guest": "false", "name": ""}), in{})
}
