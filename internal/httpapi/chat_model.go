package httpapi

import (
	"cmp"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// generalModel is the model for all domains. "manifold-" and the name of a domain is the model for
// that domain.
const generalModel = "manifold"

// chatModel is one entry of GET /models. Info is specific to Open WebUI.
type chatModel struct {
	ID      string    `json:"id"`
	Object  string    `json:"object"`
	Created int64     `json:"created"`
	OwnedBy string    `json:"owned_by"`
	Name    string    `json:"name"`
	Info    modelInfo `json:"info"`
}

type modelInfo struct {
	Meta modelMeta `json:"meta"`
}

type modelMeta struct {
	Description  string          `json:"description"`
	Suggestions  []starter       `json:"suggestion_prompts"`
	Capabilities map[string]bool `json:"capabilities"`
	BuiltinTools map[string]bool `json:"builtinTools"`
}

// starter is a prompt suggestion that Open WebUI shows in an empty chat.
type starter struct {
	Title   [2]string `json:"title"`
	Content string    `json:"content"`
}

type modelList struct {
	Object string      `json:"object"`
	Data   []chatModel `json:"data"`
}

// maxStarters bounds the prompt suggestions of one model.
const maxStarters = 6

// modelsCreated is a fixed creation time; clients require one.
const modelsCreated = 1767225600

func (s *chatRoutes) listModels(k *call) error {
	if err := k.who.May(access.ActionReadCatalog); err != nil {
		return err
	}
	return k.ok(modelList{Object: "list", Data: models(s.registry.Catalog(), k.who)})
}

func (s *chatRoutes) showModel(k *call) error {
	if err := k.who.May(access.ActionReadCatalog); err != nil {
		return err
	}
	for _, m := range models(s.registry.Catalog(), k.who) {
		if m.ID == k.param("id") {
			return k.ok(m)
		}
	}
	s.problems.write(k.gin, noModel(k.param("id")))
	return nil
}

// models builds the list from the catalog in memory, since frontends request it on every page load.
func models(catalog *contracts.Catalog, who access.Principal) []chatModel {
	general := newModel(generalModel, "Manifold", "Plans what you ask for across all connected systems, asks for approval before it changes anything, and shows what it did.")
	out := []chatModel{general}
	for _, d := range catalog.Domains {
		if who.Covers(d.Name, contracts.ClassRead) != nil {
			continue
		}
		title := cmp.Or(d.Manifest.Title, d.Name)
		m := newModel(generalModel+"-"+d.Name, "Manifold · "+title, cmp.Or(d.Manifest.Description, "What "+title+" can do."))
		m.Info.Meta.Suggestions = starters(d)
		if len(m.Info.Meta.Suggestions) > 0 && len(out[0].Info.Meta.Suggestions) < maxStarters {
			out[0].Info.Meta.Suggestions = append(out[0].Info.Meta.Suggestions, m.Info.Meta.Suggestions[0])
		}
		out = append(out, m)
	}
	return out
}

func newModel(id, name, description string) chatModel {
	return chatModel{
		ID: id, Object: "model", Created: modelsCreated, OwnedBy: "manifold", Name: contracts.CleanSummary(name),
		Info: modelInfo{Meta: modelMeta{
			Description: contracts.CleanSummary(description), Suggestions: []starter{},
			Capabilities: map[string]bool{
				"usage": true, "citations": true, "status_updates": true, "builtin_tools": true,
				"image_generation": false, "code_interpreter": false, "web_search": false, "vision": false, "file_upload": false, "terminal": false,
			},
			// Tools in general stay enabled, because the approval card is one of them.
			BuiltinTools: map[string]bool{
				"time": false, "knowledge": false, "chats": false, "memory": false, "web_search": false, "image_generation": false,
				"code_interpreter": false, "notes": false, "channels": false, "tasks": false, "automations": false, "calendar": false,
			},
		}},
	}
}

// starters returns the first example of each routable capability.
func starters(d *contracts.DomainEntry) []starter {
	out := []starter{}
	for _, e := range d.Capabilities {
		hints := e.Capability.Metadata.IntentHints
		if len(out) == maxStarters || !e.Routable() || hints == nil || len(hints.Examples) == 0 {
			continue
		}
		text := contracts.CleanSummary(hints.Examples[0])
		out = append(out, starter{Title: halves(text), Content: text})
	}
	return out
}

// halves splits a sentence into the two lines of a starter.
func halves(text string) [2]string {
	words := strings.Fields(text)
	n := (len(words) + 1) / 2
	return [2]string{strings.Join(words[:n], " "), strings.Join(words[n:], " ")}
}

// modelDomain returns the domain of a model, "" for all domains.
func modelDomain(catalog *contracts.Catalog, id string) (string, bool) {
	if id == generalModel {
		return "", true
	}
	name, ok := strings.CutPrefix(id, generalModel+"-")
	if !ok {
		return "", false
	}
	for _, d := range catalog.Domains {
		if d.Name == name {
			return name, true
		}
	}
	return "", false
}
