package logistics

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// The manifest is split by role. Each file of manifest/ except domain.json holds families; each of
// sentences/ adds examples in another language.
//
//go:embed manifest/*.json sentences/*.json skills/*.md
var files embed.FS

// family is a group of capabilities for the same roles.
type family struct {
	Family       string           `json:"family"`
	Roles        []string         `json:"roles"`
	Capabilities []map[string]any `json:"capabilities"`
	Workflows    []map[string]any `json:"workflows"`
}

// usual returns the metadata of most capabilities, which are reads.
func usual() map[string]any {
	return map[string]any{
		"side_effect_class": "read", "execution_mode": "parallel_safe", "idempotency": "not_applicable",
		"risk_level": "read", "timeout_ms": 4000, "max_concurrency": 4,
	}
}

// readManifest assembles the manifest.
func readManifest() ([]byte, error) {
	var whole map[string]any
	if err := readJSON("manifest/domain.json", &whole); err != nil {
		return nil, err
	}
	further, err := readSentences()
	if err != nil {
		return nil, err
	}
	families, err := readFamilies()
	if err != nil {
		return nil, err
	}
	var capabilities, workflows []any
	for _, f := range families {
		for _, c := range f.Capabilities {
			f.declare(c, usual(), further)
			capabilities = append(capabilities, c)
		}
		for _, w := range f.Workflows {
			f.declare(w, nil, further)
			workflows = append(workflows, w)
		}
	}
	if len(further) > 0 {
		return nil, fmt.Errorf("sentences for what the manifest does not have: %v", slices.Sorted(maps.Keys(further)))
	}
	whole["capabilities"], whole["workflows"] = capabilities, workflows
	return json.Marshal(whole)
}

// declare adds the common metadata of the family and the examples in other languages.
func (f *family) declare(c, common map[string]any, further map[string][]any) {
	metadata, ok := c["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
	}
	for key, value := range common {
		if _, said := metadata[key]; !said {
			metadata[key] = value
		}
	}
	metadata["allowed_roles"] = f.Roles
	if common != nil {
		metadata["x-family"] = f.Family
	}
	name, _ := c["name"].(string) // a capability without a name is rejected later
	if hints, ok := metadata["intent_hints"].(map[string]any); ok {
		examples, _ := hints["examples"].([]any) // nil if there are none yet
		hints["examples"] = append(examples, further[name]...)
		delete(further, name)
	}
	c["metadata"] = metadata
}

func readFamilies() ([]family, error) {
	names, err := files.ReadDir("manifest")
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	var out []family
	for _, e := range names {
		if e.Name() == "domain.json" {
			continue
		}
		var part struct {
			Families []family `json:"families"`
		}
		if err := readJSON(path.Join("manifest", e.Name()), &part); err != nil {
			return nil, err
		}
		out = append(out, part.Families...)
	}
	return out, nil
}

// readSentences returns the examples in other languages, by capability or workflow.
func readSentences() (map[string][]any, error) {
	names, err := files.ReadDir("sentences")
	if err != nil {
		return nil, fmt.Errorf("read the sentences: %w", err)
	}
	out := map[string][]any{}
	for _, e := range names {
		var said map[string][]any
		if err := readJSON(path.Join("sentences", e.Name()), &said); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(said)) {
			out[name] = append(out[name], said[name]...)
		}
	}
	return out, nil
}

// readSkills returns the texts for reasoning steps, by file name.
func readSkills() (map[string]string, error) {
	names, err := files.ReadDir("skills")
	if err != nil {
		return nil, fmt.Errorf("read the skills: %w", err)
	}
	out := map[string]string{}
	for _, e := range names {
		text, err := files.ReadFile(path.Join("skills", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read skill %s: %w", e.Name(), err)
		}
		out[strings.TrimSuffix(e.Name(), ".md")] = string(text)
	}
	return out, nil
}

func readJSON(name string, into any) error {
	raw, err := files.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}
