package values_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/intent/local/lexicon"
	"github.com/manifold-run/manifold/intent/local/tokenize"
	"github.com/manifold-run/manifold/intent/local/values"
)

// wednesday is what "now" is in the tables: 2026-11-18.
var wednesday = time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC)

// surely is how probable a reading is at least that anything is made of.
const surely = 0.5

// fewestPhrases is how many a language must have for its writes to be done unasked.
const fewestPhrases = 150

// TestTables reads what people write, a file a language.
func TestTables(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no tables", err)
	}
	scanner := values.NewScanner(tokenize.NewLexicon())
	for _, file := range files {
		code := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			phrases := 0
			for say, want := range table(t, file) {
				phrases++
				if got := readIn(scanner, code, say); got != want {
					t.Errorf("%q: %s, want %s", say, got, want)
				}
			}
			if phrases < fewestPhrases {
				t.Errorf("the table has %d phrases, want %d", phrases, fewestPhrases)
			}
		})
	}
}

// table reads the lines "phrase = value" of a file, in their order.
func table(t *testing.T, file string) func(func(say, want string) bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return func(yield func(say, want string) bool) {
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			line := lines.Text()
			if at := strings.LastIndex(line, " = "); at > 0 && !strings.HasPrefix(line, "#") && !yield(line[:at], line[at+3:]) {
				return
			}
		}
	}
}

// readIn reads a phrase of somebody who has set a language.
func readIn(scanner *values.Scanner, code, say string) string {
	doc := values.NewDocIn(say, tokenize.Tokens(say), lexicon.Shipped().Prior(code))
	var out []string
	entities := scanner.Scan(doc, wednesday)
	if p := period(scanner, doc); len(entities) == 0 || p != "-" && entities[0].Kind == values.Number {
		return p
	}
	for _, e := range entities {
		if e.P < surely {
			continue
		}
		s := written(e)
		if e.Edge == values.End && len(out) > 0 {
			out[len(out)-1] += ".." + s
			continue
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, " ; ")
}

// period reads a week, a month or a year.
func period(scanner *values.Scanner, doc *values.Doc) string {
	for i := range doc.Tokens {
		first, last, _, bare, ok := scanner.Period(doc, i, wednesday)
		if ok && (!bare || i > 0 && doc.Tokens[i-1].Has(lexicon.PrepPlaceTime)) {
			return first.Format(time.DateOnly) + ".." + last.Format(time.DateOnly)
		}
	}
	return "-"
}

func written(e values.Entity) string {
	out := ""
	switch e.Kind {
	case values.Number:
		out = fmt.Sprintf("%.12g", e.Number)
		switch {
		case e.Percent:
			out += "%"
		case e.Currency != "":
			out += " " + e.Currency
		case isTime(e.Unit):
			out += " " + e.Unit
		}
	case values.Date:
		out = e.Time.Format(time.DateOnly)
		if e.HasClock {
			out = e.Time.Format("2006-01-02 15:04")
		}
	case values.Clock:
		out = e.Time.Format("15:04")
	case values.Email, values.URL, values.UUID, values.Phone, values.None:
		out = string(e.Kind)
	}
	if e.Doubt {
		out += " ?"
	}
	return out
}

func isTime(unit string) bool {
	switch unit {
	case "second", "minute", "hour", "day", "week", "month", "year":
		return true
	}
	return false
}
