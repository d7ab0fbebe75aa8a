package eval_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

const canteen = `{"schema_version":"1","domain":"canteen","version":"1","capabilities":[
 {"name":"list_soups","description":"Lists the soups of a day.","schema":{"type":"object","properties":{"day":{"type":"string","enum":["monday","tuesday","friday"]}},"required":["day"]},
  "metadata":{"side_effect_class":"read","intent_hints":{"examples":["soups on monday","which soups are there on friday","show me the soups of tuesday","what soup is there on monday","list the soups for friday"]}}},
 {"name":"list_drinks","description":"Lists the drinks of a day.","schema":{"type":"object","properties":{"day":{"type":"string","enum":["monday","tuesday","friday"]}}},
  "metadata":{"side_effect_class":"read","intent_hints":{"examples":["drinks on monday","which drinks are there","show me the drinks of tuesday","what can I drink on monday","list the drinks"]}}},
 {"name":"list_soups_and_drinks","description":"Lists the soups of a day with the drinks that go with them.","schema":{"type":"object","properties":{"day":{"type":"string","enum":["monday","tuesday","friday"]}},"required":["day"]},
  "metadata":{"side_effect_class":"read","intent_hints":{"examples":["soups and drinks on monday","show me the soups and the drinks for friday","which soup and which drink is there on tuesday","a soup on monday and the drinks","list soups and drinks for friday"]}}}]}`

// What a capability of its own gives together is one request, though each half of it
// could be one.
func TestWhatIsGivenTogetherIsOneRequest(t *testing.T) {
	t.Parallel()
	set, err := eval.Parse([]byte(canteen))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		"show me soups on tuesday and drinks please":   "canteen.list_soups_and_drinks",
		"a soup on friday and the drinks":              "canteen.list_soups_and_drinks",
		"the soups of monday and then list the drinks": "canteen.list_soups canteen.list_drinks",
	} {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, in := range u.Intents {
			got = append(got, in.Ref())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is %v, want %s", message, got, want)
		}
	}
}
