package domainkit_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

type postOrder struct {
	Text string `json:"text" description:"What to say"`
	To   string `json:"to,omitempty" description:"Whom"`
}

type posted struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func (p posted) Summary() string { return "posted " + p.Text }

// board stores posts by key.
type board map[string]posted

func (b board) post(_ context.Context, call domainkit.Call, in postOrder) (posted, error) {
	b[call.IdempotencyKey] = posted{ID: call.IdempotencyKey, Text: in.Text}
	if in.Text == "lost" {
		panic("the answer is lost") //nolint:forbidigo // as a domain that breaks
	}
	return b[call.IdempotencyKey], nil
}

func (b board) find(_ context.Context, call domainkit.Call, in postOrder) (*posted, error) {
	if in.Text == "riddle" {
		return nil, domainkit.ErrOutcomeUnknown
	}
	if p, has := b[call.IdempotencyKey]; has {
		return &p, nil
	}
	return nil, nil //nolint:nilnil // nothing was posted
}

// TestAWriteIsToldByOneFind: one function serves to resolve, reconcile and verify.
func TestAWriteIsToldByOneFind(t *testing.T) {
	t.Parallel()
	svc, err := domainkit.New(domainkit.Config{Domain: "board", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	all := board{}
	err = domainkit.AddWrite(svc, domainkit.Capability{
		Name: "post", Description: "Posts a text.",
		Metadata: contracts.Metadata{
			SideEffectClass: contracts.ClassWriteIrreversible, RiskLevel: contracts.RiskLow,
			Verify: &contracts.VerifyRule{Assertions: []contracts.Condition{{Path: "facts.text", Equals: new(any("${params.text}"))}}},
		},
	}, all.post, all.find)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	write := manifest.Capabilities[0].Metadata
	if write.Reconcile.Capability != "find_post" || write.Verify.Capability != "find_post" || len(write.Verify.Assertions) != 2 || write.Verify.Assertions[0].Path != "facts.applied" {
		t.Errorf("%+v %+v", write.Reconcile, write.Verify)
	}
	c := newCaller(t, svc)
	look := func(text, key string) contracts.ToolResult {
		return c.execute("find_post", `{"write":{"text":"`+text+`"},"key":"`+key+`"}`, "").want(t, http.StatusOK).Result
	}
	if got := look("hello", "k1"); !got.OK || got.Facts["applied"] != false {
		t.Errorf("before: %+v", got)
	}
	c.execute("post", `{"text":"hello"}`, `"idempotency_key":"k1"`).want(t, http.StatusOK)
	if got := look("hello", "k1"); got.Facts["applied"] != true || got.Facts["text"] != "hello" || got.Summary != "posted hello" {
		t.Errorf("after: %+v", got)
	}
	if got := look("riddle", "k1"); !got.OK || got.Facts["applied"] != nil {
		t.Errorf("untold: %+v", got)
	}
	c.execute("post", `{"text":"lost"}`, `"idempotency_key":"k2"`)
	if got := c.execute("post", `{"text":"lost"}`, `"idempotency_key":"k2"`).want(t, http.StatusOK); got.Result.Facts["id"] != "k2" {
		t.Errorf("a repeat of what was cut off: %+v", got.Result)
	}
}

// TestAWriteWithoutAMarkIsFoundByItsParameters: the look-up needs no key.
func TestAWriteWithoutAMarkIsFoundByItsParameters(t *testing.T) {
	t.Parallel()
	svc, err := domainkit.New(domainkit.Config{Domain: "board", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	title := ""
	set := func(_ context.Context, _ domainkit.Call, in postOrder) (posted, error) {
		title = in.Text
		return posted{Text: title}, nil
	}
	find := func(_ context.Context, call domainkit.Call, in postOrder) (*posted, error) {
		if call.IdempotencyKey != "" {
			t.Errorf("it is looked for by the key %s", call.IdempotencyKey)
		}
		if title == in.Text {
			return &posted{Text: title}, nil
		}
		return nil, nil //nolint:nilnil // it has another title
	}
	err = domainkit.AddWrite(svc, domainkit.Capability{
		Name: "set_title", Description: "Sets the title.", Unmarked: true,
		Metadata: contracts.Metadata{SideEffectClass: contracts.ClassWriteIrreversible, RiskLevel: contracts.RiskLow},
	}, set, find)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := svc.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if got := manifest.Capabilities[0].Metadata.Reconcile.ParamMap; len(got) != 1 || got["write"] != "${params}" {
		t.Errorf("reconciled with %v", got)
	}
	c := newCaller(t, svc)
	for _, want := range []bool{false, true} {
		if got := c.execute("find_set_title", `{"write":{"text":"Board"}}`, "").want(t, http.StatusOK).Result; got.Facts["applied"] != want {
			t.Errorf("applied is %v, want %v", got.Facts["applied"], want)
		}
		c.execute("set_title", `{"text":"Board"}`, `"idempotency_key":"k1"`).want(t, http.StatusOK)
	}
}
