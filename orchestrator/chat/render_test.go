package chat_test

import (
	"testing"

	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for why, c := range map[string]struct{ text, want string }{
		"an underscore within a word stays":      {"set_price_alert a_b_c preço_é", "set_price_alert a_b_c preço_é"},
		"one that could begin markup does not":   {"_so_ (_so_) a__b", `\_so\_ (\_so\_) a\_\_b`},
		"a backslash before it is text":          {`a\_b`, `a\\\_b`},
		"stars, links and code are text":         {"*a* [b](c) `d`", "\\*a\\* [b\\](c) \\`d\\`"},
		"tags and tables are text":               {"<think>a|b", `&lt;think&gt;a\|b`},
		"templates of the frontend are text":     {"{{user}}", "{\u200b{user}}"},
		"lines become one, and formulas nothing": {"a\nb $x$", `a b \$x\$`},
	} {
		if got := chat.Escape(c.text); got != c.want {
			t.Errorf("%s: %q", why, got)
		}
	}
}
