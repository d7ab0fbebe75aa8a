package arch

import (
	"cmp"
	"fmt"
	"slices"
)

// Ratchet is an exception from a size limit, with its reason. The figure may only fall: a commit
// that reduces the size must lower it.
type Ratchet struct {
	// Of is a type as "folder.Name", or a folder.
	Of string
	// Most is the maximum size, which is the current one.
	Most int
	// Why is the reason for the exception.
	Why string
}

// MethodRatchets returns the types with more methods than MaxMethods.
func MethodRatchets() []Ratchet {
	const store = "one file behind all ports of the core; each port is small, and the suites name them"
	return []Ratchet{
		{Of: "client.Client", Most: 55, Why: "one method for each route, none of which calls another"},
		{Of: "domains/flowise/internal/flow.checker", Most: 44, Why: "one method for each rule of a flow"},
		{Of: "domains/flowise/sandbox.Server", Most: 46, Why: "one method for each route of the system that it plays"},
		{Of: "execution/executiontest.Store", Most: 57, Why: store},
		{Of: "orchestrator/orchestratortest.Opened", Most: 56, Why: store},
		{Of: "intent/local/modality.Message", Most: 41, Why: "its steps share the message that is read"},
		{Of: "intent/local/modality.roleReading", Most: 41, Why: "its steps share the message that is read"},
		{Of: "intent/local.sentenceReader", Most: 41, Why: "its steps share the message that is read"},
		{Of: "orchestrator/conversation.classifier", Most: 41, Why: "its steps share the message that is read"},
		{Of: "orchestrator/orchestratortest.Store", Most: 86, Why: store},
	}
}

// RoomRatchets returns the folders with more lines than MaxRoomLines.
func RoomRatchets() []Ratchet {
	const (
		grown = "it grew with what it does; what is new gets a room of its own"
		words = "the words of all rooms, imported by all of them"
	)
	return []Ratchet{
		{Of: "bench", Most: 2580, Why: "one file for each figure"},
		{Of: "cmd/manifold", Most: 3046, Why: "one file for each command"},
		{Of: "contracts", Most: 6856, Why: words},
		{Of: "domainkit", Most: 2620, Why: grown},
		{Of: "domains/workday", Most: 3200, Why: "one file for each thing that it can do, over one tenant and one rule of who may ask"},
		{Of: "domains/workday/sandbox", Most: 2800, Why: "every service of the tenant, over one set of books"},
		{Of: "domains/flowise/internal/flow", Most: 5210, Why: grown},
		{Of: "execution", Most: 5205, Why: "owner, one behaviour for each kind of node, ports; the state of a run, admission and how decisions are read have rooms of their own"},
		{Of: "execution/runstate", Most: 2910, Why: "one value: the state of a run, with all that is a function of it"},
		{Of: "execution/executiontest", Most: 3258, Why: "the suite that every store passes"},
		{Of: "intent/local", Most: 5024, Why: grown},
		{Of: "intent/local/slots", Most: 7942, Why: "one task with one state: schemas, evidence and assignment; its twelve packages of before shared each other's types"},
		{Of: "intent/local/values", Most: 2800, Why: "one reader for each kind of value, over one scanner"},
		{Of: "internal/store/sqlstore", Most: 2810, Why: "every row, scan and statement once, for both databases"},
		{Of: "orchestrator/registry", Most: 2607, Why: "manifests are judged alone, beside what is in use and beside those of the same start, over one set of domains"},
		{Of: "internal/httpapi", Most: 3480, Why: grown},
		{Of: "orchestrator/conversation", Most: 2800, Why: grown},
		{Of: "planner", Most: 3020, Why: grown},
	}
}

// checkRatchets compares sizes with the limit, or with their ratchets. A ratchet may exceed the
// size by slack, so that it need not change with every line.
func checkRatchets(unit string, limit, slack int, sizes map[string]int, ratchets []Ratchet) []Finding {
	var findings []Finding
	add := func(of, format string, args ...any) {
		findings = append(findings, Finding{Path: of, Text: fmt.Sprintf(format, args...)})
	}
	excepted := map[string]bool{}
	for _, r := range ratchets {
		size := sizes[r.Of]
		excepted[r.Of] = true
		switch {
		case r.Why == "":
			add(r.Of, "its ratchet does not say why")
		case size > r.Most:
			add(r.Of, "%d %s, and its ratchet allows %d; a ratchet may only fall", size, unit, r.Most)
		case size <= limit:
			add(r.Of, "%d %s are within the limit of %d; take its ratchet out", size, unit, limit)
		case size < r.Most-slack:
			add(r.Of, "%d %s; lower its ratchet from %d", size, unit, r.Most)
		}
	}
	for of, size := range sizes {
		if size > limit && !excepted[of] {
			add(of, "%d %s, more than %d; split it by what its parts own", size, unit, limit)
		}
	}
	slices.SortFunc(findings, func(a, b Finding) int { return cmp.Compare(a.String(), b.String()) })
	return findings
}
