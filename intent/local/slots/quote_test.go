package slots_test

import "testing"

func TestAQuotationIsOneValue(t *testing.T) {
	t.Parallel()
	const bell = `{"name":"make_bell","description":"Makes a bell.","schema":{"type":"object","properties":{
	  "name":{"type":"string"},"motto":{"type":"string"},"maker":{"type":"string"},"sound":{"type":"string","enum":["ding","dong"]}},"required":["name"]},
	 "metadata":{"intent_hints":{"examples":["make a bell called \"Ping\""]},"parameter_specs":{"name":{"examples":["Ping","Tower"]}}}}`
	for say, want := range map[string]string{
		`make a bell called "Ping Two"`:     "Ping Two",
		`make a bell called "My Ping Bell"`: "My Ping Bell",
		`make a bell called "Ping"`:         "Ping",
		`"make the bell Tower"`:             "Tower",
		`make the bell Tower`:               "Tower",
		`make a bell called "the ding one"`: "the ding one",
	} {
		if got := fill(t, bell, say).Values["name"]; got != want {
			t.Errorf("%s: name is %v", say, got)
		}
	}
}
