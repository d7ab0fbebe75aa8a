// Package authoring helps authors of domains without a server: it generates a small service that
// implements the contract, and checks a manifest as a server does at admission.
package authoring

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

//go:embed templates
var templates embed.FS

// startCommand is how a generated service is started, by language.
var startCommand = map[string]string{"go": "go run .", "python": "python3 service.py", "typescript": "node service.ts    # from Node 22.18 on; before: npx tsx service.ts"}

// Languages returns the languages of the templates.
func Languages() []string { return []string{"go", "python", "typescript"} }

var domainName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

// Scaffold creates the folder with its files, and returns their names. It never changes existing files.
func Scaffold(dir, domain, language string) ([]string, error) {
	if !domainName.MatchString(domain) || domain == "shared" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%q is no name of a domain: small letters, digits and _, a letter first, at most 32", domain)
	}
	if !slices.Contains(Languages(), language) {
		return nil, contracts.Errorf(contracts.CodeInvalid, "%q is no language that there is a beginning in: %s", language, strings.Join(Languages(), ", "))
	}
	if found, err := os.ReadDir(dir); err == nil && len(found) > 0 {
		return nil, contracts.Errorf(contracts.CodeConflict, "%s is not empty; name another folder with --dir", dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a project is for its group, too
		return nil, fmt.Errorf("make %s: %w", dir, err)
	}
	fill := strings.NewReplacer("{{domain}}", domain, "{{title}}", strings.ToUpper(domain[:1])+strings.ReplaceAll(domain[1:], "_", " "), "{{run}}", startCommand[language])
	var out []string
	for _, from := range []string{"templates", "templates/" + language} {
		entries, err := fs.ReadDir(templates, from)
		if err != nil {
			return out, fmt.Errorf("read the templates: %w", err)
		}
		for _, entry := range entries {
			if entry.IsDir() {
				continue
			}
			body, err := templates.ReadFile(from + "/" + entry.Name())
			if err != nil {
				return out, fmt.Errorf("read a template: %w", err)
			}
			name := strings.TrimSuffix(entry.Name(), ".txt")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(fill.Replace(string(body))), 0o644); err != nil { //nolint:gosec // sources
				return out, fmt.Errorf("write %s: %w", name, err)
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}
