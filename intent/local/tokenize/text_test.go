package tokenize_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/intent/local/tokenize"
)

func folds(src string) []string {
	var out []string
	for _, t := range tokenize.Tokens(src) {
		out = append(out, t.Fold)
	}
	return out
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say  string
		want []string
	}{
		"case and accents do not count":          {"Qual o PREÇO?", []string{"qual", "o", "preco"}},
		"compatibility forms are resolved":       {"ｐｒｉｃｅ ﬁne Ⅳ", []string{"price", "fine", "iv"}},
		"an ending is a token of its own":        {"Ana's what's", []string{"ana", "s", "what", "s"}},
		"an apostrophe inside a word is nothing": {"don't O’Brien", []string{"dont", "obrien"}},
		"a French elision is a word of its own":  {"l'alerte d’Ana, qu'on n'a", []string{"l", "alerte", "d", "ana", "qu", "on", "n", "a"}},
		"a name with an apostrophe is one word":  {"D'Angelo et aujourd'hui", []string{"dangelo", "et", "aujourdhui"}},
		"identifiers fall apart at signs":        {"PETR4.SA al-17 a_b", []string{"petr4", "sa", "al", "17", "a", "b"}},
		"signs of their own are tokens":          {"株価を 2", []string{"株", "価", "を", "2"}},
		"voiced signs stay what they are":        {"が", []string{"が"}},
		"what has no shape is left out":          {"pri\u200bce\u2060", []string{"price"}},
		"broken bytes separate":                  {"a\xffb", []string{"a", "b"}},
		"Arabic and Hebrew are words":            {"رصيد שלום", []string{"رصيد", "שלום"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, folds(c.say)); diff != "" {
				t.Errorf("Tokens(%q) (-want +got):\n%s", c.say, diff)
			}
		})
	}
}

func TestTokensKeepTheirPlace(t *testing.T) {
	t.Parallel()
	const say = "É Zoë's “PETR4.SA”, ok?"
	prev := 0
	for _, tok := range tokenize.Tokens(say) {
		if tok.Start < prev || tok.End <= tok.Start || tokenize.Fold(say[tok.Start:tok.End]) != tok.Fold {
			t.Errorf("the token %q stands at [%d, %d), which says %q", tok.Fold, tok.Start, tok.End, say[tok.Start:tok.End])
		}
		prev = tok.End
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say, word string
		want      tokenize.Form
	}{
		"names in a row are no headline":       {"Rename Weekly Report to Lunch Desk", "lunch", tokenize.FormTitle},
		"a name":                               {"ask Ana now", "ana", tokenize.FormTitle},
		"the first word of a sentence":         {"hm. Ask her", "ask", tokenize.FormTitle | tokenize.FormFirst},
		"capitals":                             {"ask NASA", "nasa", tokenize.FormTitle | tokenize.FormCaps},
		"capitals mean nothing among capitals": {"ASK NASA", "nasa", 0},
		"titles mean nothing in a headline":    {"Show The Price Of Apple", "apple", 0},
		"digits":                               {"ask 17", "17", tokenize.FormDigits},
		"letters and digits":                   {"ask R2", "r2", tokenize.FormMixed},
		"a quotation":                          {`say "hi" now`, "hi", tokenize.FormQuoted},
		"a dot inside begins no sentence":      {"ask petr.Sa", "sa", tokenize.FormTitle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokens := tokenize.Tokens(c.say)
			i := slices.IndexFunc(tokens, func(tok tokenize.Token) bool { return tok.Fold == c.word })
			if i < 0 {
				t.Fatalf("no %q in %q", c.word, c.say)
			}
			if tokens[i].Form != c.want {
				t.Errorf("%q in %q has the form %b, want %b", c.word, c.say, tokens[i].Form, c.want)
			}
		})
	}
}

func TestQuotes(t *testing.T) {
	t.Parallel()
	for say, want := range map[string][]string{
		`say "a b" and “c”`:          {"a b", "c"},
		"„so“ «oder» 「so」 `x`":       {"so", "oder", "so", "x"},
		`it's Ana's and 'b c' don't`: {"b c"},
		`an open "quote`:             nil,
		"a \"line\nbreak\"":          nil,
		`"" empty`:                   nil,
	} {
		var got []string
		for _, q := range tokenize.Quotes(say) {
			got = append(got, say[q.Start:q.End])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Quotes(%q) (-want +got):\n%s", say, diff)
		}
	}
}

func TestFeaturesDependOnMeaning(t *testing.T) {
	t.Parallel()
	features := func(say string) tokenize.Features {
		return tokenize.FeaturesOf(tokenize.Tokens(say), map[string]bool{"ana": true, "bruno": true})
	}
	same := func(a, b string, want bool) {
		t.Helper()
		if got := cmp.Equal(features(a), features(b)); got != want {
			t.Errorf("%q and %q have the same features: %t, want %t", a, b, got, want)
		}
	}
	same("show alert 17", "show alert 99", true)
	same("balance of Ana please", "balance of Bruno please", true)
	same("balance of Ana please", "balance of Rome please", false)
	same("show alerts", "SHOW ALERTS", true)
	same("show alerts", "alerts show", false)
	same(`say "one thing"`, `say "another"`, true)
}

func TestLongInputIsBounded(t *testing.T) {
	t.Parallel()
	if n := len(tokenize.Tokens(strings.Repeat("word ", 20000))); n != tokenize.MaxTokens {
		t.Errorf("%d tokens, want %d", n, tokenize.MaxTokens)
	}
	if fold := tokenize.Fold(strings.Repeat("é", 1000)); len(fold) > 96 || !utf8.ValidString(fold) {
		t.Errorf("a long word folds to %d bytes", len(fold))
	}
}

func TestSplitName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"price_of": "price of", "priceOf": "price of", "GetDNAReport": "get DNA report", "listIDs": "list IDs", "a.b-c": "a b c", "top10": "top 10", "": "", "__x__": "x",
	} {
		if got := tokenize.SplitName(name); got != want {
			t.Errorf("SplitName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestCleanMakesOneLine(t *testing.T) {
	t.Parallel()
	if got := tokenize.Clean(" a\x00b\n\tc\xff\u200b d\u202e "); got != "a b c d" {
		t.Errorf("got %q", got)
	}
}

func TestKinOfVerbs(t *testing.T) {
	t.Parallel()
	lex := tokenize.NewLexicon()
	akin := func(a, b string) bool { return lex.Kin(a)&lex.Kin(b) != 0 }
	for _, pair := range [][2]string{{"remove", "erases"}, {"deleting", "loschen"}, {"apague", "clear"}, {"warn", "notified"}, {"write", "mande"}, {"beantrage", "request"}} {
		if !akin(pair[0], pair[1]) {
			t.Errorf("%s and %s are not of one kind", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"remove", "create"}, {"approve", "reject"}, {"start", "stop"}, {"posture", "send"}, {"settlement", "change"}, {"vacation", "vacation"}} {
		if akin(pair[0], pair[1]) {
			t.Errorf("%s and %s are of one kind", pair[0], pair[1])
		}
	}
}
