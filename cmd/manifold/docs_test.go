package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"
)

const repository = "../.."

// TestTheCommandsOfTheDocumentsExist parses every shell command in the documents and checks what it
// refers to: commands and flags of manifold, make targets, Go packages, tests and benchmarks, files,
// and paths of the API.
func TestTheCommandsOfTheDocumentsExist(t *testing.T) {
	t.Parallel()
	check := newCommandCheck(t)
	documents, commands := 0, 0
	for _, file := range documentFiles(t) {
		documents++
		for _, shown := range commandsOf(t, file) {
			commands++
			for _, fault := range check.line(shown) {
				t.Errorf("%s: %s\n\t%s", file, fault, shown)
			}
		}
	}
	if documents < 25 || commands < 250 {
		t.Errorf("%d commands in %d documents: are they still found?", commands, documents)
	}
}

func TestAWrongCommandInADocumentIsFound(t *testing.T) {
	t.Parallel()
	check := newCommandCheck(t)
	for line, want := range map[string]string{
		"manifold asks x":                                "there is no command",
		"manifold run shows":                             "there is no command",
		"manifold ask --dryrun x":                        "no flag --dryrun",
		"X=1 manifold run show [RUN] [--wach]":           "no flag --wach",
		"make tests":                                     "no target",
		"go test ./nowhere":                              "no such file",
		"go test -run TestNobodyWroteThis ./cmd/...":     "TestNobodyWroteThis matches no",
		`go test -run '^$' -bench Nobody ./bench`:        "Nobody matches no",
		"(cd nowhere && python3 examples/nowhere.py) &":  "no such file",
		`curl -d '{}' "$URL/v1/nowhere/$ID?limit=2"`:     "no path",
		"manifold ask 'unclosed":                         "quote",
		"export KEY=$(manifold key creates x) # comment": "there is no command",
	} {
		faults := check.line(line)
		if len(faults) == 0 || !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("%s: %q, want %q", line, faults, want)
		}
	}
}

// documentFiles returns the Markdown files for readers, relative to the repository.
func documentFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(repository), ".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == "testdata" || name == "bin" || name == "adr" || path != "." && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md") && name != "CHANGELOG.md":
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	block      = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```")
	inText     = regexp.MustCompile("`((?:manifold|make|go run|go test|python3|docker compose) [^`]+)`")
	continued  = regexp.MustCompile(`\\\n\s*`)
	transcript = regexp.MustCompile(`(?m)^\$ (.*)$`)
)

// commandsOf returns the command lines of a document: lines of shell blocks, lines after a prompt, and
// inline code that starts with a command.
func commandsOf(t *testing.T, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, file))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range block.FindAllStringSubmatch(string(raw), -1) {
		body := continued.ReplaceAllString(m[2], " ")
		if m[1] == "sh" || m[1] == "bash" {
			lines = append(lines, strings.Split(body, "\n")...)
			continue
		}
		for _, p := range transcript.FindAllStringSubmatch(body, -1) {
			lines = append(lines, p[1])
		}
	}
	for _, m := range inText.FindAllStringSubmatch(block.ReplaceAllString(string(raw), ""), -1) {
		lines = append(lines, strings.ReplaceAll(m[1], "\n", " "))
	}
	return slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
}

// commandCheck holds the names that commands may refer to.
type commandCheck struct {
	targets map[string]bool
	paths   []*regexp.Regexp // of openapi.yaml
}

func newCommandCheck(t *testing.T) commandCheck {
	t.Helper()
	read := func(file string) string {
		raw, err := os.ReadFile(filepath.Join(repository, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	c := commandCheck{targets: map[string]bool{}}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):`).FindAllStringSubmatch(read("Makefile"), -1) {
		c.targets[m[1]] = true
	}
	parameter := regexp.MustCompile(`\\\{[^}]+\\\}`)
	for _, m := range regexp.MustCompile(`(?m)^  (/\S+):`).FindAllStringSubmatch(read("internal/httpapi/openapi.yaml"), -1) {
		c.paths = append(c.paths, regexp.MustCompile("^"+parameter.ReplaceAllString(regexp.QuoteMeta(m[1]), `[^/]+`)+"$"))
	}
	return c
}

// line returns the faults of a command line.
func (c commandCheck) line(line string) []string {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			faults = append(faults, c.call(wordsOf(call.Args))...)
		}
		return true
	})
	return faults
}

// wordsOf returns the words of a call without quotes and without the brackets of a synopsis. Shell
// expansions stay unevaluated.
func wordsOf(args []*syntax.Word) []string {
	var words []string
	for _, a := range args {
		var b strings.Builder
		for _, part := range a.Parts {
			switch p := part.(type) {
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				_ = syntax.NewPrinter().Print(&b, &syntax.Word{Parts: p.Parts})
			default:
				_ = syntax.NewPrinter().Print(&b, &syntax.Word{Parts: []syntax.WordPart{p}})
			}
		}
		words = append(words, strings.Trim(b.String(), "[]"))
	}
	return words
}

func (c commandCheck) call(words []string) []string {
	program, args := words[0], words[1:]
	switch filepath.Base(program) {
	case "manifold":
		return manifoldFaults(args)
	case "make":
		return c.makeFaults(args)
	case "go":
		if len(args) > 1 && args[0] == "run" && strings.HasSuffix(args[1], "cmd/manifold") {
			return manifoldFaults(args[2:])
		}
		return goFaults(args)
	case "python3":
		return fileFaults(args[:min(1, len(args))])
	case "curl", "m":
		return c.pathFaults(args)
	}
	return nil
}

func manifoldFaults(args []string) []string {
	root := (&cli{connection: connection{getenv: func(string) string { return "" }}}).root()
	root.InitDefaultCompletionCmd(args...)
	cmd, rest, err := root.Find(plain(args))
	if err != nil || onlyHoldsOthers(cmd) && len(rest) > 0 && !placeholder.MatchString(rest[0]) {
		return []string{fmt.Sprintf("there is no command %q", strings.Join(args, " "))}
	}
	var faults []string
	for _, a := range args {
		if a == "--" {
			break
		}
		name, isFlag := strings.CutPrefix(a, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && flag(cmd, name) == nil {
			faults = append(faults, fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), name))
		}
	}
	return faults
}

// placeholder matches words that stand for any word.
var placeholder = regexp.MustCompile(`^(…|[A-Z]{2,})$`)

// onlyHoldsOthers distinguishes a group from a command that has subcommands and takes arguments itself.
func onlyHoldsOthers(cmd *cobra.Command) bool {
	return cmd.HasSubCommands() && cmd.Use == cmd.Name()
}

// plain returns the words before the first flag, which include the command.
func plain(args []string) []string {
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); i > 0 {
		return args[:i]
	}
	return slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
}

func flag(cmd *cobra.Command, name string) any {
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup(name); f != nil {
		return f
	}
	if f := cmd.InheritedFlags().Lookup(name); f != nil {
		return f
	}
	return nil
}

func (c commandCheck) makeFaults(args []string) []string {
	var faults []string
	for _, a := range args {
		if !strings.Contains(a, "=") && !strings.HasPrefix(a, "-") && !c.targets[a] {
			faults = append(faults, "make has no target "+a)
		}
	}
	return faults
}

func (c commandCheck) pathFaults(args []string) []string {
	var faults []string
	for _, a := range args {
		_, path, ok := strings.Cut(a, "/v1/")
		if !ok {
			continue
		}
		path, _, _ = strings.Cut("/v1/"+path, "?")
		if !slices.ContainsFunc(c.paths, func(p *regexp.Regexp) bool { return p.MatchString(path) }) {
			faults = append(faults, "the API has no path "+path)
		}
	}
	return faults
}

func fileFaults(files []string) []string {
	var faults []string
	for _, f := range files {
		if !strings.Contains(f, "/") || strings.ContainsAny(f, "$…") || placeholder.MatchString(filepath.Base(f)) {
			continue
		}
		if _, err := os.Stat(filepath.Join(repository, f)); err != nil {
			faults = append(faults, err.Error())
		}
	}
	return faults
}

var declared = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)`)

// goFaults checks the packages of a go command, and that -run and -bench match.
func goFaults(args []string) []string {
	var faults, patterns []string
	var functions strings.Builder
	for i, a := range args {
		if (a == "-run" || a == "-bench") && i+1 < len(args) {
			patterns = append(patterns, args[i+1])
		}
		if dir, deep := strings.CutSuffix(a, "/..."); strings.HasPrefix(a, "./") {
			faults = append(faults, fileFaults([]string{dir})...)
			functions.WriteString(testsIn(filepath.Join(repository, dir), deep))
		}
	}
	if len(args) == 0 || args[0] != "test" || len(faults) > 0 {
		return faults
	}
	for _, p := range patterns {
		faults = append(faults, unmatched(p, functions.String())...)
	}
	return faults
}

// unmatched returns the alternatives of a name pattern that match no function.
func unmatched(pattern, functions string) []string {
	var faults []string
	for alternative := range strings.SplitSeq(pattern, "|") {
		name, _, _ := strings.Cut(strings.TrimSuffix(alternative, "/"), "/")
		if name == "^$" || name == "." || placeholder.MatchString(name) || strings.Contains(name, "$(") {
			continue
		}
		if !regexp.MustCompile("(?m)" + name).MatchString(functions) {
			faults = append(faults, name+" matches no test or benchmark there")
		}
	}
	return faults
}

// testsIn returns the names of tests and benchmarks in a folder, recursively if deep.
func testsIn(dir string, deep bool) string {
	var names strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read has no tests
		}
		if d.IsDir() && path != dir && !deep {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			raw, _ := os.ReadFile(path)
			for _, m := range declared.FindAllSubmatch(raw, -1) {
				names.Write(append(m[1], '\n'))
			}
		}
		return nil
	})
	return names.String()
}
