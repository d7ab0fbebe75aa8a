package local_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// Words of grammar are a request where a capability is asked for in such words,
// and nothing elsewhere.
func TestWordsOfGrammarAreARequestWhereExamplesAre(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hints := map[string][]string{
		"origin":  {"where are you from", "where is it that you are from", "from where are you", "you are from where", "where were you from", "are you from here", "what are you from", "who are you from", "where do you come from", "where is this from"},
		"weather": {"forecast for tomorrow", "will it rain tomorrow", "weather in the city", "how cold is the wind", "show the forecast", "is it sunny outside", "rain this weekend", "temperature outside", "do storms come", "snow tomorrow"},
		"music":   {"play a song", "play jazz music", "next song please", "play some rock", "stop the music", "louder music", "play the album", "song by the band", "shuffle songs", "pause the song"},
		"cooking": {"recipe for soup", "how to bake bread", "cook rice", "ingredients of a cake", "recipe with beans", "bake a pie", "boil eggs", "fry an onion", "soup recipe", "cake recipe"},
		"travel":  {"train to the coast", "book a train ticket", "train timetable", "ticket price", "cheap tickets", "when does the train leave", "platform of the train", "bus to the station", "bus ticket", "station nearby"},
	}
	var capabilities string
	for _, name := range []string{"origin", "weather", "music", "cooking", "travel"} {
		var examples string
		for _, e := range hints[name] {
			examples += fmt.Sprintf("%q,", e)
		}
		capabilities += fmt.Sprintf(`{"name":%q,"description":"Tells about %s.","metadata":{"action":"query","side_effect_class":"read","intent_hints":{"examples":[%s]}}},`, name, name, examples[:len(examples)-1])
	}
	catalog := catalogOf("light", decoded(t, `{"domain":"small","capabilities":[`+capabilities[:len(capabilities)-1]+`]}`))
	if _, err := b.adapter.Settle(t.Context(), catalog); err != nil {
		t.Fatal(err)
	}
	known := b
	known.catalog = catalog
	const say = "where is it you are from"
	if u := known.say(t, say); len(u.Intents) != 1 || u.Intents[0].Capability != "origin" {
		t.Errorf("%s: %v %s", u.Outcome, lines(u.Intents), u.Question)
	}
	if u := b.say(t, say); u.Outcome != contracts.ReadingDeclined || len(u.Intents) > 0 {
		t.Errorf("in another catalog: %s %v", u.Outcome, lines(u.Intents))
	}
}
