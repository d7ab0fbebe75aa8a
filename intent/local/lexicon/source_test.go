package lexicon_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/manifold-run/manifold/intent/local/lexicon"
)

// wordsInGo are the literals with words of a language that are still in Go, by
// folder of intent/. They may only become fewer.
func wordsInGo() map[string]int {
	return map[string]int{"local/slots": 20, "eval": 1, "eval/conversation": 7}
}

// fewestTogether is how many words of grammar in one list make a word list of
// English, of which single words are names of things in code too.
const fewestTogether = 3

// No word of a language stands in Go: a list of words is data, and whoever needs
// one adds it to the files.
func TestNoWordOfALanguageIsInGo(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		folder, err := filepath.Rel("../..", filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, line := range foreignIn(t, path) {
			found[filepath.ToSlash(folder)]++
			if wordsInGo()[filepath.ToSlash(folder)] == 0 {
				t.Error(line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range found {
		if allowed := wordsInGo()[folder]; n > allowed {
			t.Errorf("intent/%s: %d literals with words of a language, and its ratchet allows %d; put them into lexica/", folder, n, allowed)
		}
	}
	for folder, allowed := range wordsInGo() {
		if found[folder] < allowed {
			t.Errorf("intent/%s: %d literals with words of a language, the ratchet says %d: lower it", folder, found[folder], allowed)
		}
	}
}

// foreignIn lists the literals of a file that are words of a language: lists with
// one that English does not have, and lists of English words of grammar.
func foreignIn(t *testing.T, path string) []string {
	t.Helper()
	files := token.NewFileSet()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parser.ParseFile(files, path, raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field:
			return false
		case *ast.CompositeLit:
			if grammarOf(n.Elts) >= fewestTogether {
				out = append(out, files.Position(n.Pos()).String()+": a list of English words")
			}
		case *ast.CaseClause:
			if grammarOf(n.List) >= fewestTogether {
				out = append(out, files.Position(n.Pos()).String()+": a list of English words")
			}
		case *ast.BasicLit:
			if word, ok := foreign(literal(n)); ok {
				out = append(out, files.Position(n.Pos()).String()+": "+word)
			}
		}
		return true
	})
	return out
}

func literal(e ast.Expr) string {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return ""
	}
	s, err := strconv.Unquote(b.Value)
	if err != nil {
		return ""
	}
	return s
}

// grammarOf counts the literals of a list that are English words of grammar.
func grammarOf(list []ast.Expr) int {
	count := 0
	for _, e := range list {
		if w := lexicon.Shipped().Folded(literal(e)); w.In(0, lexicon.Function) && len(w.Fold) > 1 {
			count++
		}
	}
	return count
}

// foreign finds a word that files of other languages spell so, and the English one
// does not. Sentences and code are no lists of words.
func foreign(s string) (string, bool) {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLower(r) && r != ' ' && r != '|' && r != '\n' }) {
		return "", false
	}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		word := lexicon.Shipped().Folded(w)
		if len(w) < 3 || !word.Has(lexicon.Function) && !word.Has(lexicon.Negation) && !word.Has(lexicon.Filler) && !word.Has(lexicon.Value) && !word.Has(lexicon.Asks) || word.KnownIn(0) {
			continue
		}
		return w, true
	}
	return "", false
}
