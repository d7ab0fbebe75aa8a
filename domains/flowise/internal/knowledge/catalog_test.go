package knowledge_test

import (
	"bytes"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

func TestASnapshotOfCredentialsHoldsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	list := []knowledge.Credential{{ID: "b", Name: "B", Type: "t", Tags: []string{}}, {ID: "a", Name: "A", Type: "t", Tags: []string{}}}
	raw, err := knowledge.EncodeCredentials(list)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := knowledge.EncodeCredentials([]knowledge.Credential{list[1], list[0]})
	if err != nil || !bytes.Equal(raw, turned) {
		t.Errorf("the order of the server counts: %v", err)
	}
	if got, err := knowledge.DecodeCredentials(raw); err != nil || len(got) != 2 || got[0].ID != "a" {
		t.Errorf("%+v %v", got, err)
	}
	for _, tampered := range []string{`[{"credential_id":"a","encryptedData":"secret"}]`, `{"a":1}`, `nonsense`} {
		if err := knowledge.ValidateCredentials([]byte(tampered)); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Errorf("%s: %v", tampered, err)
		}
		if _, err := knowledge.DecodeCredentials([]byte(tampered)); err == nil {
			t.Errorf("%s was loaded", tampered)
		}
	}
}
